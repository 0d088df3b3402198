import type { ServiceMessage } from "@assay/contract/verify-socket";
import { dropChip, restartChip } from "./device-chip.ts";
import { deviceLimits } from "./device-rules.ts";
import type { DeviceEffect, DeviceState } from "./device-state.ts";
import { also, type Handlers, isCamera, stay } from "./device-step.ts";

/** Handlers for messages of the service. */
export const onMessage: Handlers<ServiceMessage, "type"> = {
  welcome: (state, { phase, tries_left, face }) => {
    const before = state.triesLeft;
    const welcomed: DeviceState = {
      ...state,
      link: "open",
      connection: "open",
      failures: 0,
      refused: null,
      phase,
      busy: false,
      triesLeft: tries_left,
      faceMode: face,
      // The service sends the challenge again, if it still runs.
      challenge: null,
      proofRestarts: state.proofRestarts + (phase === "chip_proof" ? 1 : 0),
      chip: state.chip === null ? null : { ...state.chip, stale: true },
      step: phase === "face" || (phase === "chip" && state.chip === null) ? null : state.step,
      // A lost verdict has used up a try: continuing automatically would use up another.
      faceSource: before !== null && tries_left.face < before.face ? null : state.faceSource,
    };
    return before !== null && tries_left.chip < before.chip ? dropChip(welcomed) : stay(welcomed);
  },
  checking: (state, { phase, busy }) =>
    stay(
      { ...state, phase, busy, step: phase === "chip_check" ? { at: "checking" } : state.step },
      { kind: "report", step: busy ? "waiting" : phase },
    ),
  chip_command: (state, command) => {
    const report: DeviceEffect = { kind: "report", step: command.proof };
    // The page was loaded again since it read the chip, or the chip was lost together with the connection.
    if (state.chip?.read !== true) return also(stay(state, report), (now) => restartChip(now, now.problem));
    return stay({ ...state, busy: false, command }, report);
  },
  step_result: (state, { step, passed, failure_code, unmet_requirement, tries_left, phase }) => {
    const why =
      unmet_requirement === null ? failure_code : `${failure_code}, ${unmet_requirement} is required`;
    const judged: DeviceState = {
      ...state,
      phase,
      triesLeft: tries_left,
      busy: false,
      step: null,
      faceAsked: false,
      failure:
        failure_code === null ? null : { step, code: failure_code, unmetRequirement: unmet_requirement },
    };
    const report: DeviceEffect = {
      kind: "report",
      step: passed ? `${step}_passed` : `${step}_failed (${why}), ${tries_left[step]} left`,
    };
    return also(stay(judged, report), (now) =>
      step === "chip" ? dropChip(now) : stay({ ...now, faceSource: null }),
    );
  },
  face_challenge: (state, { movements, colours, colour_ms, deadline_ms, nonce }, nowMs) =>
    stay(
      {
        ...state,
        faceAsked: false,
        challenge: {
          movements,
          colours,
          colourMs: colour_ms,
          endsAtMs: nowMs + deadline_ms,
          nonce: nonce ?? null,
          fresh: state.faceAsked && isCamera(state.faceSource),
        },
      },
      { kind: "report", step: `face_capture (${movements.join(", ")})` },
    ),
  fault: (state, { code, message, phase }) => {
    // The chip is released too: the person decides whether to read it again.
    const ended = dropChip({
      ...state,
      phase,
      fault: { code, message },
      busy: false,
      step: null,
      faceSource: null,
      faceAsked: false,
    });
    // A person sees the fault and presses the button again. An unattended device waits for its turn.
    const waits =
      state.plan !== null && code === "FACE_CHECK_BUSY" && state.turnsWaited < deviceLimits.turnsAllowed;
    if (!waits) return ended;
    return also(ended, (now) =>
      stay(
        { ...now, fault: null, waitsForTurn: true, turnsWaited: state.turnsWaited + 1 },
        { kind: "set_timer", timer: "turn", ms: deviceLimits.turnMs },
        { kind: "report", step: "waiting" },
      ),
    );
  },
  outcome: (state, { status, failure_code, unmet_requirement }) =>
    stay({
      ...state,
      connection: "closed",
      outcome: { status, failureCode: failure_code, unmetRequirement: unmet_requirement },
    }),
  closing: (state, { code }) => stay({ ...state, announcedClose: code }),
};
