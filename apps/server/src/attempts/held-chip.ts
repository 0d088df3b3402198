import type { AttemptId } from "@assay/contract/ids";
import type { Challenge } from "@assay/face/challenge";
import { type Static, Type } from "typebox";
import { Check } from "typebox/value";
import { knownId } from "../kernel/ids.ts";
import { CallClient, type CountCalls } from "../lib/call-client.ts";
import type { CallHandler } from "../lib/call-server.ts";
import { lookUpLocally } from "../lib/dns.ts";
import type { KeyRing } from "../lib/key-ring.ts";
import { overwriteProof, type Proof } from "./proof.ts";

const Tries = Type.Object({ chip: Type.Integer(), face: Type.Integer() });

/**
 * A chip that has passed, on its way from the process that has it to the one that its device has come to. It is moved: whoever hands it over keeps nothing. What it consists of is checked, since
 * the other process may be of another release.
 */
const HeldChip = Type.Object({
  proof: Type.Unsafe<Proof>(
    Type.Object({
      kind: Type.Literal("chip"),
      content: Type.Unsafe<Uint8Array>({}),
      level: Type.Enum(["chip_genuine", "chip_clonable"]),
      revocation: Type.String(),
      warnings: Type.Array(Type.String()),
    }),
  ),
  dg2: Type.Unsafe<Uint8Array>({}),
  sod: Type.Unsafe<Uint8Array>({}),
  triesUsed: Tries,
  /** The challenge that is being answered: the device goes on with the same one. */
  face: Type.Unsafe<{ challenge: Challenge; startedAtMs: number; nonce: string } | null>({
    anyOf: [
      { type: "null" },
      Type.Object({
        challenge: Type.Object({ deadlineMs: Type.Number() }),
        startedAtMs: Type.Number(),
        nonce: Type.String(),
      }),
    ],
  }),
  portraitUnusable: Type.Boolean(),
});
export type HeldChip = Static<typeof HeldChip>;

export function overwriteHeldChip({ proof, dg2, sod }: HeldChip): void {
  overwriteProof(proof);
  dg2.fill(0);
  sod.fill(0);
}

function isHeldChip(answer: unknown): answer is HeldChip {
  return (
    Check(HeldChip, answer) &&
    [answer.proof.content, answer.dg2, answer.sod].every((bytes) => bytes instanceof Uint8Array)
  );
}

/** Another form of what is handed over gets another name here; who does not know it reads the document again. */
const takeChipCall = "take-chip";

/** Until the other process takes the call. Half: a machine under load is passed over, and the document read again. Twice: a device waits longer for a machine that has vanished. */
const takeMs = 2_000;

/** Fetches chips from other processes, by the address that they left in the database. Null where there is none any more. */
export type FetchChip = (heldAt: string, attemptId: AttemptId) => Promise<HeldChip | null>;

export function chipFetcher(deps: { ring: KeyRing; count: CountCalls }): FetchChip {
  return async (heldAt, attemptId) => {
    // Rare, and at another process each time, so that no connection is kept.
    const client = new CallClient({
      ...deps,
      role: "api",
      hosts: [heldAt],
      log: null,
      resolveAddresses: lookUpLocally,
      timing: { takeMs },
    });
    try {
      const { answer } = await client.call(takeChipCall, attemptId);
      return isHeldChip(answer) ? answer : null;
    } catch {
      // Gone, or about to end: the document is read again, which costs no try.
      return null;
    } finally {
      client.close();
    }
  };
}

/** The other end. */
export function chipKeeper(
  handOver: (attemptId: AttemptId) => Promise<HeldChip | null>,
): Record<string, CallHandler> {
  return {
    [takeChipCall]: {
      answer: async (question) => (typeof question === "string" ? handOver(knownId(question)) : null),
      wipe: (answer) => {
        if (answer !== null) overwriteHeldChip(answer as HeldChip);
      },
    },
  };
}
