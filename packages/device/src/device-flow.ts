import type { ServiceMessage } from "@assay/contract/verify-socket";
import { dropChip, onChip, passOn, restartChip } from "./device-chip.ts";
import { onCamera, stopFace, takeUpChallenge } from "./device-face.ts";
import { connect, finish, onLink, saidBeforeWelcome, stop } from "./device-link.ts";
import { onMessage } from "./device-messages.ts";
import { phaseAfterHearing, phaseAfterSending } from "./device-rules.ts";
import type { DeviceEnd, DeviceInput, DeviceState, DeviceStep, PersonWish } from "./device-state.ts";
import { also, type Handlers, isCamera, isFacePhase, may, say, stay } from "./device-step.ts";

/**
 * The device's end of the verify protocol as a pure state machine: `advance` is `(state, input, now) →
 * (state, effects)`. It has no socket, timer, chip or camera; the driver executes the effects and returns
 * their results. The service's end is `verify-flow.ts`; both follow `phaseRules` of the contract.
 * Handlers only record what happened. `followUps` lists what must then be done and is checked after every
 * input. So the order of events, such as reading the chip and reconnecting, does not matter.
 */
export function advance(state: DeviceState, input: DeviceInput, nowMs: number): DeviceStep {
  const handler = onInput[input.kind] as (
    state: DeviceState,
    input: DeviceInput,
    nowMs: number,
  ) => DeviceStep;
  const handled = followUps.reduce<DeviceStep>(
    (step, { when, act }) => also(step, (now) => (when(now) ? act(now, nowMs) : stay(now))),
    handler(state, input, nowMs),
  );
  const wish = planned(handled.state);
  if (wish === null) return handled;
  return also(handled, (now) =>
    wish.kind === "read_chip" || wish.kind === "start_face" ? advance(now, wish, nowMs) : finish(now, wish),
  );
}

/** What a person can do now to continue; empty while work is in progress that ends by itself. */
export function openWishes(state: DeviceState): readonly PersonWish["kind"][] {
  if (state.outcome !== null || state.end !== null) return [];
  if (state.stopped) return ["start"];
  if (state.link === "none") return ["retry"];
  if (state.phase === "chip" && state.chip === null) return ["read_chip"];
  const beforeFace = state.phase === "face" || (state.phase === "face_capture" && state.capture === null);
  return beforeFace ? ["start_face"] : [];
}

/** The next action of an unattended device: a wish, its end, or nothing while work is in progress. */
function planned(
  state: DeviceState,
): Extract<PersonWish, { kind: "read_chip" | "start_face" }> | DeviceEnd | null {
  const { plan, outcome, fault } = state;
  if (plan === null || state.end !== null || state.stopped) return null;
  if (outcome !== null)
    return outcome.status === "succeeded"
      ? { kind: "succeeded" }
      : {
          kind: "failed",
          failureCode: outcome.failureCode,
          unmetRequirement: outcome.unmetRequirement,
        };
  if (fault !== null) return { kind: "fault", code: fault.code, message: fault.message };
  if (state.problem !== null) return { kind: "problem", problem: state.problem };
  if (state.refused !== null) return { kind: "closed", code: state.refused };
  // Without a person, the next try would end the same way, so an unattended device stops.
  if (state.connection === "gone" || state.ownMistakes > 0)
    return { kind: "closed", code: state.lastClose ?? "CONNECTION_LOST" };
  if (state.link !== "open") return null;
  if (isFacePhase(state.phase)) {
    if (plan.stopAfterChip) return { kind: "stopped", after: "chip" };
    if (state.faceMode === "camera" && !plan.camera) return { kind: "face_elsewhere" };
  }
  const [wish] = openWishes(state);
  if (wish === "read_chip") return { kind: "read_chip" };
  if (wish === "start_face" && state.faceSource === null && !state.faceAsked && !state.waitsForTurn)
    return { kind: "start_face", source: plan.camera ? "camera" : "test_document" };
  return null;
}

/** Handlers for all other inputs. */
const onInput: Handlers<DeviceInput, "kind"> = {
  message: (state, { message }, nowMs) => {
    // A newer service may send types of messages that this device does not know:
    // they are ignored (forward compatibility).
    if (!Object.hasOwn(onMessage, message.type)) return stay(state);
    // Before its welcome the service says only why it closes the socket.
    if (state.link === "open" ? message.type === "welcome" : !saidBeforeWelcome(state, message.type))
      return stay(state);
    const handler = onMessage[message.type] as (
      state: DeviceState,
      message: ServiceMessage,
      nowMs: number,
    ) => DeviceStep;
    return handler({ ...state, phase: phaseAfterHearing[message.type] ?? state.phase }, message, nowMs);
  },

  start: (state, { token }) =>
    state.link === "none" && state.outcome === null && state.end === null
      ? connect({ ...state, stopped: false, token, connection: "connecting", refused: null })
      : stay(state),
  stop: (state) => stop(state),
  retry: (state) =>
    state.stopped || state.link !== "none" || state.outcome !== null
      ? stay(state)
      : connect({ ...state, failures: 0, ownMistakes: 0, connection: "connecting", refused: null }),
  read_chip: (state) => {
    if (!openWishes(state).includes("read_chip")) return stay(state);
    const job = state.nextJob;
    return stay(
      {
        ...state,
        nextJob: job + 1,
        chip: { read: false, stale: false, job: { id: job, doing: "reading" } },
        step: { at: "connecting" },
        problem: null,
        failure: null,
        fault: null,
      },
      { kind: "read_chip", job },
    );
  },
  start_face: (state, { source }) =>
    openWishes(state).includes("start_face")
      ? stay({ ...state, faceSource: source, failure: null, fault: null })
      : stay(state),
  stop_face: (state) => stopFace(state),
  forget_setbacks: (state) => stay({ ...state, failure: null, fault: null }),

  ...onLink,
  ...onChip,
  ...onCamera,
};

type FollowUp = {
  readonly when: (state: DeviceState) => boolean;
  readonly act: (state: DeviceState, nowMs: number) => DeviceStep;
};

/** Actions that are due as soon as their condition holds; checked after every input, in this order. */
const followUps: readonly FollowUp[] = [
  {
    // The service waits for no more frames, or not on this connection.
    when: (state) => state.capture !== null && !may(state, "face_frame"),
    act: (state) => stay({ ...state, capture: null }, { kind: "abort_capture" }),
  },
  {
    // The chip has passed, or the session has ended.
    when: (state) => state.chip !== null && (isFacePhase(state.phase) || state.phase === "ended"),
    act: (state) => dropChip({ ...state, step: null }),
  },
  {
    when: (state) => state.command !== null && !may(state, "chip_answer"),
    act: (state) => stay({ ...state, command: null }),
  },
  {
    // The files are sent as soon as the service accepts them: at once, or after reconnecting. When a
    // connection is lost, the service forgets files that it has not judged.
    when: (state) => state.chip?.read === true && may(state, "chip_file"),
    act: (state) =>
      stay(
        {
          ...state,
          phase: phaseAfterSending.chip_done ?? state.phase,
          step: { at: "sending" },
          proofRestarts: 0,
        },
        { kind: "send_files" },
      ),
  },
  {
    // The chip was released after the command came, so it cannot be answered.
    when: (state) => state.command !== null && state.chip === null,
    act: (state) => restartChip(state, state.problem),
  },
  {
    when: (state) => state.chip?.job === null,
    act: passOn,
  },
  {
    when: (state) => state.faceSource !== null && !state.faceAsked && may(state, "face_start"),
    act: (state) =>
      say(
        { ...state, faceAsked: true },
        !isCamera(state.faceSource)
          ? { type: "face_start" }
          : state.faceSource === "still_camera"
            ? { type: "face_start", camera: true, still_head: true }
            : { type: "face_start", camera: true },
      ),
  },
  {
    // The service gives out no other challenge before this one has run out.
    when: (state) =>
      state.challenge !== null &&
      state.faceSource !== null &&
      state.capture === null &&
      !state.faceWaits &&
      may(state, "face_frame"),
    act: takeUpChallenge,
  },
  {
    when: (state) => state.faceWaits && (state.challenge === null || state.faceSource === null),
    act: (state) => stay({ ...state, faceWaits: false }, { kind: "clear_timer", timer: "challenge" }),
  },
];
