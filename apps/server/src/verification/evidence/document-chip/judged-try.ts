import type { FaceCheck } from "@assay/contract/sessions";
import type { Judged } from "../kind.ts";
import type { TryVerdict } from "../verdict.ts";
import type { DeviceTrust, DocumentChipProof, ProvenChip } from "./proof.ts";
import { type RiskFacts, riskScore } from "./risk-score.ts";

/** What is known when a try has its verdict. */
export type TryGrounds = {
  /** Of the chip that was read last; null before it was checked. */
  chip: Pick<RiskFacts, "level" | "warnings"> | null;
  /** Null until a chip has passed. */
  proven: ProvenChip | null;
  /** Null before a face was judged, and where its frames have failed. */
  face: FaceFacts | null;
  failedTries: number;
};

export type FaceFacts = {
  simulated: boolean;
  risk: number;
  device: DeviceTrust;
  checks: readonly FaceCheck[];
  signs: readonly string[];
};

type Try = Judged<"chip" | "face", DocumentChipProof>;

/** A verdict with its risk and, where it ends the session as a success, with what that success rests on. */
export function judgedTryOf(
  { step, number, verdict }: { step: Try["step"]; number: number; verdict: TryVerdict },
  { chip, proven, face, failedTries }: TryGrounds,
): Try {
  const risk = riskScore({
    level: chip?.level ?? null,
    warnings: chip?.warnings ?? [],
    failedTries,
    face,
  });
  const judged = { step, number, riskScore: risk };
  if (verdict.failureCode !== null) {
    if (step === "chip") return { ...judged, verdict };
    const details = { failure_code: verdict.failureCode, reasons: verdict.reasons ?? [] };
    return { ...judged, verdict, audit: { event: "session.face_rejected", details } };
  }
  if (step === "chip") return { ...judged, verdict };
  if (proven === null) throw new Error("a face has passed without a chip");
  const { device, checks, signs } = face ?? { device: "unattested", checks: [], signs: [] };
  const passed = { ...judged, verdict, proof: { ...proven, device, faceChecks: checks } };
  // A sign of an attack refuses no one; the audit log says why the risk is higher.
  return signs.length === 0
    ? passed
    : { ...passed, audit: { event: "session.face_suspected", details: { signs } } };
}
