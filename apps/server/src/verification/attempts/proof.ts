import type { Level, RevocationState, WarningCode } from "@assay/emrtd/verify/report";

/**
 * What showed who the person is, after it was verified. Recording, claims and the risk score take a proof of any kind: another way to
 * prove oneself is another kind here, and a folder of its own that makes it.
 */
export type Proof = {
  kind: "chip";
  /** `ChipContent` in the form of a structured clone: bytes, so that they can be overwritten. */
  content: Uint8Array;
  level: Extract<Level, "chip_genuine" | "chip_clonable">;
  revocation: RevocationState;
  warnings: readonly WarningCode[];
};

export function overwriteProof(proof: Proof): void {
  proof.content.fill(0);
}
