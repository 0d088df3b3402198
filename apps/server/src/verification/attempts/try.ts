import type { Step } from "../evidence/kinds.ts";
import type { TryVerdict } from "../evidence/verdict.ts";

/** The result of recording a try. */
export type TryRecorded<S extends Step = Step> =
  | { kind: "counted"; step: S; verdict: TryVerdict }
  /** The try decided the session, which has succeeded where it passed. */
  | { kind: "session_ended"; verdict: TryVerdict }
  /** Nothing was written: the session had ended or expired, or the attempt is another device's by now. */
  | { kind: "session_over" }
  /** Nothing was written: another process has counted a try, so the state of this run is outdated. */
  | { kind: "superseded" };
