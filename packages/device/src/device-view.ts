import type { FaceMode, VerifyFaultCode, VerifyPhase } from "@assay/contract/verify-protocol";
import type { DeviceState, ReadProblem, ReadStep } from "./device-state.ts";

/** What the person sees. */
export type DeviceView = {
  readonly connection: DeviceState["connection"];
  readonly phase: VerifyPhase | null;
  readonly step: ReadStep | null;
  readonly busy: boolean;
  readonly reading: boolean;
  readonly problem: ReadProblem | null;
  readonly triesLeft: DeviceState["triesLeft"];
  readonly face: FaceMode;
  readonly faceWaits: boolean;
  readonly failure: DeviceState["failure"];
  readonly fault: VerifyFaultCode | null;
  readonly outcome: DeviceState["outcome"];
  readonly refused: string | null;
};

export function viewOf(state: DeviceState): DeviceView {
  return {
    connection: state.connection,
    // While nothing is being captured, the person must start, although the service waits for frames.
    phase: state.phase === "face_capture" && state.capture === null ? "face" : state.phase,
    step: state.step,
    busy: state.busy,
    reading: state.chip !== null,
    problem: state.problem,
    triesLeft: state.triesLeft,
    face: state.faceMode,
    faceWaits: state.faceWaits,
    failure: state.failure,
    fault: state.fault?.code ?? null,
    outcome: state.outcome,
    refused: state.refused,
  };
}
