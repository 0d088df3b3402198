import type { Evidence, FaceCheck } from "@assay/contract/sessions";
import type { Static } from "typebox";
import type { Proof } from "./proof.ts";
import type { DeviceTrust } from "./try.ts";

/** What a success rests on. The same for everybody with such a document: nothing in it tells who the person is. */
export function evidenceOf(
  proof: Proof,
  { device, faceChecks }: { device: DeviceTrust; faceChecks: readonly FaceCheck[] },
  now: Date,
): Static<typeof Evidence> {
  switch (proof.kind) {
    case "chip":
      return {
        method: "chip_and_face",
        chip: proof.level === "chip_genuine" ? "genuine" : "copy_not_excluded",
        revocation: proof.revocation,
        // Several checks may warn of the same thing. How often says nothing to a partner.
        warnings: [...new Set(proof.warnings)].sort(),
        face: "matched",
        face_checks: [...faceChecks],
        device,
        verified_at: now.toISOString(),
      };
  }
}
