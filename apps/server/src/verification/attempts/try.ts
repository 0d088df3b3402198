import type { RequirementName } from "@assay/contract/facts";
import type { FaceCheck, FailureCode } from "@assay/contract/sessions";
import type { Step } from "../sessions/session.ts";
import type { Proof } from "./proof.ts";

/** Whether secure hardware vouches for where the pictures came from. */
export type DeviceTrust = "attested" | "unattested";

type Passed = { failureCode: null };
export type Rejected = {
  failureCode: FailureCode;
  /** They say more than the code, for the audit log. */
  reasons?: readonly string[];
  /** The document is what it says, and cannot meet this requirement of the partner. */
  unmetRequirement?: RequirementName;
};
export type TryVerdict = Passed | Rejected;

/** What everybody is told of a verdict. */
export function toldOf(verdict: TryVerdict): {
  failure_code: FailureCode | null;
  unmet_requirement: RequirementName | null;
} {
  if (verdict.failureCode === null) return { failure_code: null, unmet_requirement: null };
  return { failure_code: verdict.failureCode, unmet_requirement: verdict.unmetRequirement ?? null };
}

/** A try that has its verdict. Tries are numbered from 1 within their step, so that none is counted twice. */
export type JudgedTry = { number: number; riskScore: number } & (
  | { step: Step; verdict: Rejected }
  | { step: "chip"; verdict: Passed }
  /** The face is the last step: passing it ends the session as a success, with claims made from the proof. `signs`: of an attack, for the audit log. */
  | {
      step: "face";
      verdict: Passed;
      proof: Proof;
      device: DeviceTrust;
      faceChecks: readonly FaceCheck[];
      signs?: readonly string[];
    }
);

/** The result of recording a try. */
export type TryRecorded =
  | { kind: "counted"; step: Step; verdict: TryVerdict }
  /** The try decided the session, which has succeeded where it passed. */
  | { kind: "session_ended"; verdict: TryVerdict }
  /** Nothing was written: the session had ended or expired, or the attempt is another device's by now. */
  | { kind: "session_over" }
  /** Nothing was written: another process has counted a try of this attempt, so this run's state is out of date. */
  | { kind: "superseded" };
