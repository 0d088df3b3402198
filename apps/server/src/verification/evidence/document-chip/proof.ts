import type { FaceCheck } from "@assay/contract/sessions";
import type { DocumentContent } from "@assay/emrtd/verify/document-content";
import type { Level, RevocationState, WarningCode } from "@assay/emrtd/verify/report";

/** What a verified chip says about its holder. */
export type ChipContent = Pick<DocumentContent, "mrz">;

/** Whether secure hardware vouches for where the pictures came from. */
export type DeviceTrust = "attested" | "unattested";

/** A chip that was verified. */
export type ProvenChip = {
  kind: "document_chip";
  /** `ChipContent` in the form of a structured clone: bytes, so that they can be overwritten. */
  content: Uint8Array;
  level: Extract<Level, "chip_genuine" | "chip_clonable">;
  revocation: RevocationState;
  warnings: readonly WarningCode[];
};

/** The chip, and the face of the person whom it shows. */
export type DocumentChipProof = ProvenChip & { device: DeviceTrust; faceChecks: readonly FaceCheck[] };

export function overwriteProof(proof: ProvenChip): void {
  proof.content.fill(0);
}
