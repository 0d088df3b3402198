import type { ChipAndFaceEvidence } from "@assay/contract/sessions";
import type { Static } from "typebox";
import type { DocumentChipProof } from "./proof.ts";

/** What a success rests on. The same for every holder of such a document, so it identifies no one. */
export function evidenceOf(proof: DocumentChipProof, now: Date): Static<typeof ChipAndFaceEvidence> {
  return {
    method: "chip_and_face",
    chip: proof.level === "chip_genuine" ? "genuine" : "copy_not_excluded",
    revocation: proof.revocation,
    // Several checks may warn of the same thing. How often says nothing to a partner.
    warnings: [...new Set(proof.warnings)].sort(),
    face: "matched",
    face_checks: [...proof.faceChecks],
    device: proof.device,
    verified_at: now.toISOString(),
  };
}
