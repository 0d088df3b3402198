import type { AuditEvent } from "@assay/contract/audit";
import type { DemandName, Method, RequirementName } from "@assay/contract/facts";
import type { OrganizationId } from "@assay/contract/ids";
import type { Evidence, FailureCode } from "@assay/contract/sessions";
import type { LookedAt, WalletChannel } from "@assay/contract/wallet-facts";
import type { Static } from "typebox";
import type { Passed, Rejected } from "./verdict.ts";

/** The partner's requirements. Only required ones are stored; an absent one is preferred. */
export type Requirements = Readonly<Partial<Record<DemandName, "required">>>;

/** What a session asks for. */
export type Asked = {
  shareFields: Readonly<Record<string, { required: boolean }>>;
  requirements: Requirements;
};

/** What the operator has set up in the environment of a session. */
export type Operator = {
  /** The methods by which a person can be verified there. */
  methods: readonly Method[];
  /** The registration of the identity that asks wallets. Null without an identity. */
  registration: readonly string[] | null;
};

export type ClaimValue = string | boolean | null;

/** What claims are made from, besides the proof. */
export type Chosen = {
  fieldKeys: readonly string[];
  organizationId: OrganizationId;
  /** The organization's secret for `service_document_id`. */
  documentIdKey: Buffer;
  now: Date;
};

/** Something that a person does. Tries are counted within it. */
export type StepRules = {
  name: string;
  maxTries: number;
  /** The stage of the figures that a session reaches by this step, and whether a try is enough for it. */
  stage: { name: string; reachedBy: "try" | "pass" };
  /** A verdict on this step forgives challenges that went unanswered before it. */
  forgivesChallenges: boolean;
};

/**
 * A kind of evidence: a folder that exports this set, and a line in `kinds.ts`. `Proof` is the verified
 * identity of the person, `Doubts` is what remains uncertain.
 */
export type Kind<Proof, Doubts> = {
  /** The methods of the contract that this kind carries out. */
  methods: readonly [Method, ...Method[]];
  /** In their order. The try that passes the last open one carries the proof. */
  steps: readonly [StepRules, ...StepRules[]];
  failureCodes: readonly FailureCode[];
  /** Whether a field of the share contract can be made from such a proof. */
  gives(method: Method, key: string): boolean;
  meets(method: Method, requirement: RequirementName): boolean;
  /** A field that the method cannot do without and that is not among these; null if there is none. */
  needs(method: Method, fieldKeys: readonly string[]): string | null;
  /** What the method needs and the operator has not set up, as the request names it; null if nothing. */
  lacks(method: Method, asked: Asked, operator: Operator): string | null;
  /** How the page reaches a wallet by this method, in the order of preference. */
  channels(method: Method, requirements: Requirements, operator: Operator): readonly WalletChannel[];
  /** What is read for the checks when these fields are agreed to, even if it is not among them. */
  looksAt(method: Method, fieldKeys: readonly string[]): readonly LookedAt[];
  /** Exactly the chosen fields, from what was proved and nothing else. */
  claims(proof: Proof, chosen: Chosen): Record<string, ClaimValue>;
  evidence(proof: Proof, now: Date): Static<typeof Evidence>;
  /** 0 to 1. */
  riskScore(doubts: Doubts): number;
  overwriteProof(proof: Proof): void;
};

/**
 * A judged try. Tries are numbered from 1 within their step, so that none is counted twice. `next`: something
 * else in the same transaction prevents a second count.
 */
export type Judged<Step extends string, Proof> = {
  step: Step;
  number: number | "next";
  riskScore: number;
  /** What the audit log says of it beyond the verdict. */
  audit?: { event: AuditEvent; details: Record<string, unknown> };
} & (
  | { verdict: Rejected; proof?: never }
  /** With a proof where this try completes the steps: then claims are made from it. */
  | { verdict: Passed; proof?: Proof }
);
