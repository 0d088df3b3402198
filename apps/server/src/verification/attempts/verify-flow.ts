import { triesAllowed } from "@assay/contract/facts";
import type { AttemptId, SessionId } from "@assay/contract/ids";
import {
  type ChipFile,
  chipFileLimits,
  type DeviceInputType,
  type FaceMode,
  verifySocketLimits as limits,
  phaseRules,
  requiredChipFiles,
  type VerifyCloseCode,
  type VerifyFaultCode,
  type VerifyPhase,
  verifyFaultCodes,
  verifySubprotocol,
} from "@assay/contract/verify-protocol";
import type { DeviceMessage, ServiceMessage } from "@assay/contract/verify-socket";
import type { ChipProof } from "@assay/emrtd/verify/report";
import type { Challenge } from "@assay/face/challenge";
import type { SentAttestation } from "../device-attestation/attestation-judge.ts";
import type { DocumentStep } from "../evidence/document-chip/document-chip.ts";
import { type TryVerdict, viewVerdict } from "../evidence/verdict.ts";
import type { TryRecorded } from "./try.ts";

/**
 * The protocol of one attempt as a pure state machine: `advance` is `(state, input, now) → (state, effects)`.
 * `AttemptRun` carries out the effects and returns their results before it reads the device's next message.
 * So no message arrives while a check is running.
 */
export type FlowState = {
  readonly attempt: AttemptFacts;
  readonly phase: VerifyPhase;
  readonly triesUsed: { readonly chip: number; readonly face: number };
  /** A chip try of this session has passed and was counted. The bytes may have been overwritten since. */
  readonly chipPassCounted: boolean;
  readonly artifacts: ReadonlyMap<number, Artifact>;
  /** Bytes announced in this try. */
  readonly announcedBytes: number;
  readonly exchange: { readonly id: string; readonly commands: number } | null;
  readonly proof: ChipProof | null;
  readonly proofRestarts: number;
  readonly face: FaceTry | null;
  /** The models found no usable face in the chip's portrait, so further tries cannot pass. */
  readonly portraitUnusable: boolean;
  /** The service has ended the last capture; frames that the device sent before may still arrive. */
  readonly framesMayBeLate: boolean;
};

type AttemptFacts = {
  readonly sessionId: SessionId;
  readonly attemptId: AttemptId;
  readonly sandbox: boolean;
  readonly faceMode: FaceMode;
  readonly expiresAt: string;
};

type Artifact = {
  readonly what: { readonly file: ChipFile } | { readonly frameAtMs: number };
  readonly size: number;
  readonly received: number;
};
export type FaceTry = {
  readonly challenge: Challenge;
  readonly startedAtMs: number;
  /** Base64. */
  readonly nonce: string;
};

type ArtifactPart = { artifact: number; offset: number; total: number; length: number };

/** What comes from the device. */
type DeviceSideInput =
  /** A device has proved that the attempt is its own, on a new socket. */
  | { kind: "attached" }
  | { kind: "message"; message: Exclude<DeviceMessage, { type: "hello" }> }
  | { kind: "part"; part: ArtifactPart };

/** Results of the service's own work. */
type OwnInput =
  | { kind: "chip_checked"; verdict: TryVerdict; proof: ChipProof | null }
  | {
      kind: "proof_commands";
      exchange: string;
      commandKind: "in_session" | "sealed" | "challenge";
      commands: readonly string[];
    }
  | { kind: "proof_judged"; verdict: TryVerdict }
  | { kind: "face_challenge"; challenge: Challenge; nonce: string }
  /** No challenge is given: `maxFreeChallenges` of them were not answered. */
  | { kind: "challenges_spent" }
  | { kind: "face_judged"; verdict: TryVerdict }
  /** The frames so far show that the capture cannot pass. */
  | { kind: "face_failed_early"; verdict: TryVerdict }
  /** The result of `record`. `session_over` also comes without it, if something else ended the session. */
  | TryRecorded<DocumentStep>
  | { kind: "fault"; code: VerifyFaultCode }
  /** The bytes of the chip were overwritten. */
  | { kind: "forgotten" }
  /** A tick of the clock: a capture may have outlived its challenge. */
  | { kind: "time_passed" };

export type FlowInput = DeviceSideInput | OwnInput;

export type FlowEffect =
  | { kind: "send"; message: ServiceMessage }
  /** Closes the socket; effects after this one cannot reach the device. */
  | { kind: "close"; code: VerifyCloseCode }
  | { kind: "expect_artifact"; artifact: number; size: number; what: Artifact["what"] }
  | { kind: "keep_part"; artifact: number; offset: number }
  | { kind: "wipe"; what: "chip" | "face" }
  | { kind: "check_chip" }
  | { kind: "begin_proof"; proof: ChipProof }
  | { kind: "check_answers"; proof: ChipProof; answers: readonly string[] }
  /** Pin the chip that has passed: from now on it is the only source of claims. */
  | { kind: "pin_chip" }
  /** Count the try and, where it decides the session, end the session in the same transaction. */
  | { kind: "record"; step: DocumentStep; number: number; verdict: TryVerdict }
  /** Counts one more unanswered challenge across all processes, unless there are too many. */
  | { kind: "new_face_challenge"; stillHead: boolean }
  /** It was answered, and could not be judged. */
  | { kind: "give_back_challenge"; brokeDown: boolean }
  | { kind: "judge_face"; by: FaceTry | "test_document"; attestation: SentAttestation | null };

type FlowStep = { state: FlowState; effects: readonly FlowEffect[] };

/**
 * A device that requests more without answering is looking for an easy one; each further one costs a try. Too
 * small: dropped connections cost a try. Too large: a forger sees more challenges for free.
 */
export const maxFreeChallenges = 4;

/** After more crashes the input is assumed to cause them: they cost no try, but nothing more is judged. */
export const maxBreakdowns = 4;

export function startFlow(
  attempt: AttemptFacts,
  known: { chip: number; face: number; chipPassed: boolean },
): FlowState {
  return {
    attempt,
    phase: "chip",
    triesUsed: { chip: known.chip, face: known.face },
    chipPassCounted: known.chipPassed,
    artifacts: new Map(),
    announcedBytes: 0,
    exchange: null,
    proof: null,
    proofRestarts: 0,
    face: null,
    portraitUnusable: false,
    framesMayBeLate: false,
  };
}

export function triesLeft({ triesUsed, chipPassCounted }: FlowState): { chip: number; face: number } {
  // A chip that has passed may be read again when its bytes were lost. That uses up no try.
  const chip = Math.max(0, triesAllowed - triesUsed.chip);
  return {
    chip: chipPassCounted ? Math.max(1, chip) : chip,
    face: Math.max(0, triesAllowed - triesUsed.face),
  };
}

export function advance(state: FlowState, input: FlowInput, now: Date): FlowStep {
  switch (input.kind) {
    case "message":
      return receive(state, input.message.type, input.message, now);
    case "part":
      return receive(state, "part", input.part, now);
    case "attached":
      return state.phase === "ended" ? close(state, "SESSION_ENDED") : attach(state, now);
    default:
      return state.phase === "ended" ? stay(state) : handleResult(state, input, now);
  }
}

/** Handles the result of an effect. A result that comes too late for its phase changes nothing. */
function handleResult(state: FlowState, input: OwnInput, now: Date): FlowStep {
  switch (input.kind) {
    case "session_over":
      return leave(state, "SESSION_ENDED");
    case "superseded":
      // The device has connected to another process, which continues the attempt. Send nothing more.
      return leave(state, "REPLACED");
    case "fault":
      return afterFault(state, input.code);
    case "forgotten":
      return {
        state: { ...emptied(state), phase: "chip" },
        effects: [
          { kind: "wipe", what: "chip" },
          { kind: "wipe", what: "face" },
        ],
      };
    case "time_passed":
      return endOverdueCapture(state, now);
    case "chip_checked":
      if (state.phase !== "chip_check") return stay(state);
      if (input.verdict.failureCode === null && input.proof !== null)
        return {
          state: { ...state, phase: "chip_proof", proof: input.proof, proofRestarts: 0 },
          effects: [{ kind: "begin_proof", proof: input.proof }],
        };
      return judgeChip(state, input.verdict);
    case "proof_commands":
      if (state.phase !== "chip_proof" || state.proof === null) return stay(state);
      return {
        state: { ...state, exchange: { id: input.exchange, commands: input.commands.length } },
        effects: [
          {
            kind: "send",
            message: {
              type: "chip_command",
              exchange: input.exchange,
              proof: state.proof,
              kind: input.commandKind,
              commands: [...input.commands],
            },
          },
        ],
      };
    case "proof_judged":
      return state.phase === "chip_proof"
        ? judgeChip({ ...state, exchange: null }, input.verdict)
        : stay(state);
    case "face_challenge": {
      if (state.phase !== "face") return stay(state);
      const { challenge, nonce } = input;
      const face: FaceTry = { challenge, nonce, startedAtMs: now.getTime() };
      return {
        state: { ...state, phase: "face_capture", face },
        effects: [{ kind: "send", message: challengeMessage(face, now) }],
      };
    }
    case "challenges_spent":
      if (state.phase !== "face") return stay(state);
      return judgeFace(
        { ...state, phase: "face_check" },
        { failureCode: "liveness_failed", reasons: ["challenges_not_answered"] },
      );
    case "face_judged":
      return state.phase === "face_check" ? judgeFace(state, input.verdict) : stay(state);
    case "face_failed_early":
      return state.phase === "face_capture" ? endCaptureEarly(state, input.verdict) : stay(state);
    case "counted":
      return afterCount(state, input);
    case "session_ended":
      return end(state, input.verdict);
  }
}

// --- the device --------------------------------------------------------------------------------------------

function attach(state: FlowState, now: Date): FlowStep {
  const welcome = (next: FlowState, resumed: boolean): FlowEffect => ({
    kind: "send",
    message: {
      type: "welcome",
      protocol: verifySubprotocol,
      session_id: next.attempt.sessionId,
      attempt_id: next.attempt.attemptId,
      sandbox: next.attempt.sandbox,
      phase: next.phase,
      resumed,
      tries_left: triesLeft(next),
      face: next.attempt.faceMode,
      expires_at: next.attempt.expiresAt,
    },
  });
  switch (state.phase) {
    case "chip_proof": {
      // The exchange of the old socket is void: the chip is asked again in a fresh one.
      if (state.proof === null || state.proofRestarts >= limits.proofRestarts)
        return restartChip(state, welcome);
      const next = { ...state, exchange: null, proofRestarts: state.proofRestarts + 1 };
      return { state: next, effects: [welcome(next, true), { kind: "begin_proof", proof: state.proof }] };
    }
    case "face":
    case "face_check":
    case "face_capture": {
      // The same challenge until it expires, so that reconnecting yields no easier one.
      const running =
        state.phase === "face_capture" && state.face !== null && deadlineAtMs(state.face) > now.getTime()
          ? state.face
          : null;
      const next: FlowState = {
        ...withoutArtifacts(state),
        phase: running === null ? "face" : "face_capture",
        face: running,
        framesMayBeLate: false,
      };
      const effects: FlowEffect[] = [{ kind: "wipe", what: "face" }, welcome(next, true)];
      if (running !== null) effects.push({ kind: "send", message: challengeMessage(running, now) });
      return { state: next, effects };
    }
    default:
      return restartChip(state, welcome);
  }
}

function restartChip(state: FlowState, welcome: (next: FlowState, resumed: boolean) => FlowEffect): FlowStep {
  const next: FlowState = { ...emptied(state), phase: "chip" };
  return { state: next, effects: [{ kind: "wipe", what: "chip" }, welcome(next, false)] };
}

type MessageType = Exclude<DeviceInputType, "part">;
/** What a device sends, by its type. */
type DeviceInputs = { [T in MessageType]: Extract<DeviceMessage, { type: T }> } & { part: ArtifactPart };

function receive<T extends DeviceInputType>(
  state: FlowState,
  type: T,
  input: DeviceInputs[T],
  now: Date,
): FlowStep {
  if (state.framesMayBeLate && state.phase === "face" && isOfCapture(type)) return stay(state);
  const rule = phaseRules[type][state.phase];
  return rule === "taken" ? handlers[type](state, input, now) : close(state, rule);
}

function isOfCapture(type: DeviceInputType): boolean {
  return type === "face_frame" || type === "face_done" || type === "part";
}

/** Handlers for the messages that the protocol's table lists as `taken` in the phase. */
const handlers: {
  readonly [T in DeviceInputType]: (state: FlowState, input: DeviceInputs[T], now: Date) => FlowStep;
} = {
  chip_file: (state, message) => {
    const sent = [...state.artifacts.values()].some(
      ({ what }) => "file" in what && what.file === message.file,
    );
    if (sent || message.size > chipFileLimits[message.file]) return close(state, "ARTIFACT_INVALID");
    return announce(state, message, { file: message.file }, limits.chipBytes);
  },

  chip_done: (state) => {
    const sent = new Set<ChipFile>();
    for (const { what, size, received } of state.artifacts.values()) {
      if (received !== size) return close(state, "OUT_OF_ORDER");
      if ("file" in what) sent.add(what.file);
    }
    if (requiredChipFiles.some((file) => !sent.has(file))) return close(state, "OUT_OF_ORDER");
    const next: FlowState = { ...state, phase: "chip_check" };
    return { state: next, effects: [checking(next), { kind: "check_chip" }] };
  },

  chip_answer: (state, message) => {
    if (state.exchange === null || state.proof === null || message.exchange !== state.exchange.id)
      return close(state, "STALE_EXCHANGE");
    if (message.answers.length > state.exchange.commands) return close(state, "MESSAGE_INVALID");
    return {
      state: { ...state, exchange: null },
      effects: [{ kind: "check_answers", proof: state.proof, answers: message.answers }],
    };
  },

  chip_lost: (state) => {
    if (state.proof === null || state.proofRestarts >= limits.proofRestarts)
      return close(state, "OUT_OF_ORDER");
    return {
      state: { ...state, exchange: null, proofRestarts: state.proofRestarts + 1 },
      effects: [{ kind: "begin_proof", proof: state.proof }],
    };
  },

  chip_restart: (state) => ({
    state: { ...emptied(state), phase: "chip" },
    effects: [{ kind: "wipe", what: "chip" }],
  }),

  face_start: (state, message) => {
    if (state.attempt.faceMode === "unavailable") return afterFault(state, "FACE_CHECK_UNAVAILABLE");
    if (state.portraitUnusable) return afterFault(state, "PORTRAIT_UNUSABLE");
    if (state.attempt.faceMode === "simulated" && message.camera !== true) {
      const next: FlowState = { ...state, phase: "face_check", framesMayBeLate: false };
      return {
        state: next,
        effects: [checking(next), { kind: "judge_face", by: "test_document", attestation: null }],
      };
    }
    return stay(
      { ...state, framesMayBeLate: false },
      { kind: "new_face_challenge", stillHead: message.still_head === true },
    );
  },

  face_frame: (state, message) =>
    state.artifacts.size >= limits.faceFrames
      ? close(state, "ARTIFACT_INVALID")
      : announce(state, message, { frameAtMs: message.at_ms }, limits.faceBytes),

  face_done: (state, message, now) => {
    const incomplete = [...state.artifacts.values()].some(({ size, received }) => received !== size);
    if (incomplete || state.face === null) return close(state, "OUT_OF_ORDER");
    const next: FlowState = { ...state, phase: "face_check" };
    // A late answer fails the try: the deadline leaves no time to prepare one.
    if (deadlineAtMs(state.face) < now.getTime())
      return judgeFace(next, { failureCode: "liveness_failed", reasons: ["deadline_passed"] });
    return {
      state: next,
      effects: [
        checking(next),
        { kind: "judge_face", by: state.face, attestation: message.attestation ?? null },
      ],
    };
  },

  part: (state, part) => {
    const found = state.artifacts.get(part.artifact);
    if (found === undefined || part.total !== found.size || part.offset !== found.received || part.length < 1)
      return close(state, "ARTIFACT_INVALID");
    const received = found.received + part.length;
    if (received > found.size) return close(state, "ARTIFACT_INVALID");
    return {
      state: { ...state, artifacts: new Map(state.artifacts).set(part.artifact, { ...found, received }) },
      effects: [{ kind: "keep_part", artifact: part.artifact, offset: part.offset }],
    };
  },
};

function announce(
  state: FlowState,
  { artifact, size }: { artifact: number; size: number },
  what: Artifact["what"],
  maxBytes: number,
): FlowStep {
  const announcedBytes = state.announcedBytes + size;
  if (state.artifacts.has(artifact) || announcedBytes > maxBytes) return close(state, "ARTIFACT_INVALID");
  return {
    state: {
      ...state,
      announcedBytes,
      artifacts: new Map(state.artifacts).set(artifact, { what, size, received: 0 }),
    },
    effects: [{ kind: "expect_artifact", artifact, size, what }],
  };
}

// --- verdicts ----------------------------------------------------------------------------------------------

function judgeChip(state: FlowState, verdict: TryVerdict): FlowStep {
  if (verdict.failureCode !== null || !state.chipPassCounted) {
    return {
      state: { ...state, phase: "chip_check" },
      effects: [{ kind: "record", step: "chip", number: state.triesUsed.chip + 1, verdict }],
    };
  }
  return passChip(state);
}

function passChip(state: FlowState): FlowStep {
  const next: FlowState = {
    ...withoutArtifacts(state),
    phase: "face",
    proof: null,
    exchange: null,
    chipPassCounted: true,
  };
  return { state: next, effects: [{ kind: "pin_chip" }, result(next, "chip", { failureCode: null })] };
}

function judgeFace(state: FlowState, verdict: TryVerdict): FlowStep {
  return stay(state, { kind: "record", step: "face", number: state.triesUsed.face + 1, verdict });
}

/** Counts the try as if the capture were complete. The device sees the check and stops filming. */
function endCaptureEarly(state: FlowState, verdict: TryVerdict): FlowStep {
  const next: FlowState = { ...withoutArtifacts(state), phase: "face_check", framesMayBeLate: true };
  const { effects } = judgeFace(next, verdict);
  return { state: next, effects: [checking(next), ...effects] };
}

function afterCount(state: FlowState, input: Extract<FlowInput, { kind: "counted" }>): FlowStep {
  const { step, verdict } = input;
  if (state.phase !== (step === "chip" ? "chip_check" : "face_check")) return stay(state);
  const counted: FlowState = {
    ...state,
    triesUsed: { ...state.triesUsed, [step]: state.triesUsed[step] + 1 },
  };
  if (step === "chip" && verdict.failureCode === null) return passChip(counted);
  if (step === "chip") {
    const next: FlowState = { ...emptied(counted), phase: "chip" };
    return {
      state: next,
      effects: [{ kind: "wipe", what: "chip" }, result(next, "chip", verdict)],
    };
  }
  const next: FlowState = { ...withoutArtifacts(counted), phase: "face", face: null };
  return { state: next, effects: [{ kind: "wipe", what: "face" }, result(next, "face", verdict)] };
}

/** Ends the flow: all bytes are overwritten, and the socket is closed. */
function leave(state: FlowState, code: VerifyCloseCode, ...before: FlowEffect[]): FlowStep {
  return {
    state: { ...emptied(state), phase: "ended" },
    effects: [
      { kind: "wipe", what: "chip" },
      { kind: "wipe", what: "face" },
      ...before,
      { kind: "close", code },
    ],
  };
}

function end(state: FlowState, verdict: TryVerdict): FlowStep {
  const status = verdict.failureCode === null ? "succeeded" : "failed";
  return leave(state, "OUTCOME", {
    kind: "send",
    message: { type: "outcome", status, ...viewVerdict(verdict) },
  });
}

/**
 * The frames of a device that stops answering must not stay in memory. As after a lost connection, no try is
 * used and the challenge stays counted as unanswered.
 */
function endOverdueCapture(state: FlowState, now: Date): FlowStep {
  if (state.phase !== "face_capture" || state.face === null) return stay(state);
  if (now.getTime() <= deadlineAtMs(state.face) + limits.captureGraceMs) return stay(state);
  return {
    state: { ...withoutArtifacts(state), phase: "face", face: null },
    effects: [
      { kind: "wipe", what: "face" },
      { kind: "close", code: "IDLE_TIMEOUT" },
    ],
  };
}

/** Returns to the phase that repeats the step. A passed chip stays passed, and no try is counted. */
function afterFault(state: FlowState, code: VerifyFaultCode): FlowStep {
  const inFace = state.phase === "face" || state.phase === "face_capture" || state.phase === "face_check";
  const next: FlowState = inFace ? afterFaceFault(state, code) : { ...emptied(state), phase: "chip" };
  // The device did answer, and the fault was ours, so the challenge no longer counts as unanswered.
  const answered = state.phase === "face_check" && state.face !== null;
  return {
    state: next,
    effects: [
      { kind: "wipe", what: inFace ? "face" : "chip" },
      ...(answered
        ? [{ kind: "give_back_challenge", brokeDown: code === "CHECK_FAILED_TO_RUN" } as const]
        : []),
      { kind: "send", message: { type: "fault", code, message: verifyFaultCodes[code], phase: next.phase } },
    ],
  };
}

function afterFaceFault(state: FlowState, code: VerifyFaultCode): FlowState {
  return {
    ...withoutArtifacts(state),
    phase: "face",
    face: null,
    portraitUnusable: state.portraitUnusable || code === "PORTRAIT_UNUSABLE",
  };
}

// --- parts -------------------------------------------------------------------------------------------------

function withoutArtifacts(state: FlowState): FlowState {
  return { ...state, artifacts: new Map(), announcedBytes: 0 };
}

function emptied(state: FlowState): FlowState {
  return { ...withoutArtifacts(state), exchange: null, proof: null, proofRestarts: 0, face: null };
}

function stay(state: FlowState, ...effects: FlowEffect[]): FlowStep {
  return { state, effects };
}

function close(state: FlowState, code: VerifyCloseCode): FlowStep {
  return stay(state, { kind: "close", code });
}

function checking(state: FlowState): FlowEffect {
  return { kind: "send", message: { type: "checking", phase: state.phase, busy: false } };
}

function result(state: FlowState, step: DocumentStep, verdict: TryVerdict): FlowEffect {
  return {
    kind: "send",
    message: {
      type: "step_result",
      step,
      passed: verdict.failureCode === null,
      ...viewVerdict(verdict),
      tries_left: triesLeft(state),
      phase: state.phase,
    },
  };
}

function deadlineAtMs({ challenge, startedAtMs }: FaceTry): number {
  return startedAtMs + challenge.deadlineMs;
}

function challengeMessage(face: FaceTry, now: Date): ServiceMessage {
  const { movements, colours, colourMs } = face.challenge;
  return {
    type: "face_challenge",
    movements: [...movements],
    colours: [...colours],
    colour_ms: colourMs,
    deadline_ms: Math.max(1, deadlineAtMs(face) - now.getTime()),
    nonce: face.nonce,
  };
}
