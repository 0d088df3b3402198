import type { FailureCode } from "@assay/contract/sessions";
import type { Step } from "../sessions/session.ts";
import type { Proof } from "./proof.ts";

export type Passed = { failureCode: null };
/** `reasons` say more than the code, for the audit log. */
export type Rejected = { failureCode: FailureCode; reasons?: readonly string[] };
export type Verdict = Passed | Rejected;

/** A try that has its verdict. Tries are numbered from 1 within their step, so that none is counted twice. */
export type JudgedTry = { number: number; riskScore: number } & (
  | { step: Step; verdict: Rejected }
  | { step: "chip"; verdict: Passed }
  /** The face is the last step: passing it ends the session as a success, with claims made from the proof. */
  | { step: "face"; verdict: Passed; proof: Proof }
);

/** The result of recording a try. */
export type TryRecorded =
  | { kind: "counted"; step: Step; verdict: Verdict }
  /** The try decided the session, which has succeeded where the code is null. */
  | { kind: "session_ended"; failureCode: FailureCode | null }
  /** Nothing was written: the session had ended or expired, or the attempt is another device's by now. */
  | { kind: "session_over" }
  /** Nothing was written: another process has counted a try of this attempt, so this run's state is out of date. */
  | { kind: "superseded" };
