import { documentChip } from "./document-chip/document-chip.ts";
import type { Judged, Kind } from "./kind.ts";
import { wallet } from "./wallet/wallet.ts";

/** Every kind of evidence that a session can be decided by. */
export const kinds = { document_chip: documentChip, wallet } as const;

type KindName = keyof typeof kinds;
export type Step = (typeof kinds)[KindName]["steps"][number]["name"];
export type Proof = Parameters<(typeof kinds)[KindName]["claims"]>[0];
export type JudgedTry = Judged<Step, Proof>;

export function kindOfProof(proof: Proof): Pick<Kind<Proof, never>, "claims" | "evidence"> {
  return kinds[proof.kind];
}
