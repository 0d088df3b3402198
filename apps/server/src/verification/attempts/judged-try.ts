import type { FaceCheck } from "@assay/contract/sessions";
import type { Proof } from "./proof.ts";
import { type RiskFacts, riskScore } from "./risk-score.ts";
import type { DeviceTrust, JudgedTry, TryVerdict } from "./try.ts";

/** What is known when a try has its verdict. */
export type TryGrounds = {
  /** Of the chip that was read last; null before it was checked. */
  chip: Pick<RiskFacts, "level" | "warnings"> | null;
  /** Null until a chip has passed. */
  proof: Proof | null;
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

/** A verdict with its risk and, where it ends the session as a success, with what that success rests on. */
export function judgedTryOf(
  { step, number, verdict }: { step: JudgedTry["step"]; number: number; verdict: TryVerdict },
  { chip, proof, face, failedTries }: TryGrounds,
): JudgedTry {
  const risk = riskScore({
    level: chip?.level ?? null,
    warnings: chip?.warnings ?? [],
    failedTries,
    face,
  });
  if (verdict.failureCode !== null) return { step, number, verdict, riskScore: risk };
  if (step === "chip") return { step, number, verdict, riskScore: risk };
  if (proof === null) throw new Error("a face has passed without a chip");
  const { device, checks, signs } = face ?? { device: "unattested", checks: [], signs: [] };
  return { step, number, verdict, riskScore: risk, proof, device, faceChecks: checks, signs };
}
