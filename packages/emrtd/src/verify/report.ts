import type { SignedDataWarning } from "../cms/verify-signed-data.ts";
import type { SignatureWarning } from "../crypto/check-signature.ts";
import type { PolicySwitch } from "./policy.ts";

/** In the order in which they are made. The first that fails is the last that is made. */
export const checkNames = [
  "structure",
  "sod_signature",
  "signer_certificate",
  "chain",
  "signer_validity_at_signing",
  "revocation",
  "data_group_hashes",
  "undeclared_groups",
  "country_agreement",
  "document_expiry",
  "chip_authentication",
  "active_authentication",
  "chip_authentication_mapping",
] as const;

export type CheckName = (typeof checkNames)[number];

/**
 * `pending`: offered by the chip and still to be requested. `not_offered`: not possible, or only in an
 * unsupported way, which gives a warning. `not_run`: an earlier check failed, or another proof made this one
 * superfluous.
 */
export type Outcome = "passed" | "failed" | "pending" | "not_offered" | "not_run";

/** Never personal data: a report may be stored and shown to operators. */
export type Evidence = Readonly<
  Record<string, string | number | boolean | null | readonly (string | number)[]>
>;

export type Check = {
  readonly name: CheckName;
  readonly outcome: Outcome;
  /** Why it failed, in snake case; null otherwise. */
  readonly reason: string | null;
  readonly evidence: Evidence;
};

export type WarningCode =
  | SignedDataWarning
  | SignatureWarning
  | PolicySwitch
  | "legacy_content_type"
  | "short_rsa_key";

/** A tolerated defect, or information for the operator. */
export type Warning = {
  readonly check: CheckName;
  readonly code: WarningCode;
};

/**
 * `data_authentic`: the state signed the data, and the proof of the chip is still open. `chip_genuine`: that
 * proof was given. `chip_clonable`: the document offers no such proof, so the chip may be a copy. Null: the
 * data is not authentic, or the chip failed its proof.
 */
export type Level = "data_authentic" | "chip_genuine" | "chip_clonable";

const chipProofs = ["chip_authentication", "active_authentication", "chip_authentication_mapping"] as const;
export type ChipProof = (typeof chipProofs)[number];

function isChipProof(name: CheckName): name is ChipProof {
  return chipProofs.some((proof) => proof === name);
}

export type Report = {
  readonly checks: readonly Check[];
  readonly warnings: readonly Warning[];
  readonly level: Level | null;
  /** The proof to request next; null if none is offered or left, or if the data is not authentic. */
  readonly nextProof: ChipProof | null;
};

export function checkOf(report: Report, name: CheckName): Check {
  const check = report.checks.find((candidate) => candidate.name === name);
  if (check === undefined) throw new TypeError(`The report lacks the check ${name}`);
  return check;
}

/** The state of revocation when the document passed that check. */
export type RevocationState = "checked" | "stale" | "no_list";

/** From the evidence and not from the warnings: an operator may accept a missing list without a word. */
export function revocationOf(report: Report): RevocationState {
  const { outcome, evidence } = checkOf(report, "revocation");
  if (outcome !== "passed") return "no_list";
  switch (evidence.revocation_list) {
    case "fresh":
      return "checked";
    case "stale":
      return "stale";
    default:
      return "no_list";
  }
}

export function failedCheckOf(report: Report): Check | null {
  return report.checks.find(({ outcome }) => outcome === "failed") ?? null;
}

/** Level and next proof follow from the checks, so that they are never kept beside them. */
export function makeReport(checks: readonly Check[], warnings: readonly Warning[]): Report {
  let nextProof: ChipProof | null = null;
  let genuine = false;
  for (const { name, outcome } of checks) {
    if (outcome === "failed" || (name === "document_expiry" && outcome === "not_run"))
      return { checks, warnings, level: null, nextProof: null };
    if (!isChipProof(name)) continue;
    if (outcome === "passed") genuine = true;
    if (outcome === "pending") nextProof ??= name;
  }
  if (genuine) return { checks, warnings, level: "chip_genuine", nextProof: null };
  return { checks, warnings, level: nextProof === null ? "chip_clonable" : "data_authentic", nextProof };
}

export type ProofResult = {
  readonly proof: ChipProof;
  readonly passed: boolean;
  /** In snake case, for a proof that failed. */
  readonly reason?: string;
  readonly evidence?: Evidence;
};

/** The report after the proof `report.nextProof`. Any other proof is refused. */
export function withChipProof(report: Report, result: ProofResult): Report {
  if (report.nextProof !== result.proof)
    throw new TypeError(`The proof ${result.proof} is not the one to be asked for`);
  const checks = report.checks.map((check): Check => {
    if (check.name === result.proof) {
      return {
        name: check.name,
        outcome: result.passed ? "passed" : "failed",
        reason: result.passed ? null : (result.reason ?? "proof_failed"),
        evidence: { ...check.evidence, ...result.evidence },
      };
    }
    return check.outcome === "pending" ? { ...check, outcome: "not_run" } : check;
  });
  return makeReport(checks, report.warnings);
}
