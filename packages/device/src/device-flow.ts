import type { RequirementName } from "@assay/contract/facts";
import type { FailureCode } from "@assay/contract/sessions";
import {
  type DeviceInputType,
  type FaceColour,
  type FaceMode,
  type FaceMovement,
  isForStillHead,
  verifySocketLimits as limits,
  phaseRules,
  type VerifyCloseCode,
  type VerifyFaultCode,
  type VerifyPhase,
  verifyCloseCodes,
} from "@assay/contract/verify-protocol";
import type { DeviceMessage, ServiceMessage } from "@assay/contract/verify-socket";

/**
 * The device's end of the verify protocol as a pure state machine: `advance` is `(state, input, now) → (state, effects)`.
 * It has no socket, no timer, no chip and no camera; the driver carries out the effects and hands their results back. The
 * service's end is its mirror, `verify-flow.ts`; both follow `phaseRules` of the contract.
 *
 * Handlers only write down what happened. What has to be done because of it stands in one list, `standingRules`, which is
 * checked after every input. So it does not matter whether the chip was read before or after the connection came back.
 */
export type DeviceState = {
  /** Null where a person says what to do and when. */
  readonly plan: UnattendedPlan | null;
  readonly end: DeviceEnd | null;
  /** Not started yet, or stopped: nothing is done until somebody starts it. */
  readonly stopped: boolean;

  readonly link: "none" | "waiting" | "claiming" | "opening" | "greeting" | "open";
  /** What the person is told about the connection. While it is made again it is called lost, until the service says welcome. */
  readonly connection: "connecting" | "open" | "lost" | "gone" | "closed";
  readonly token: string | null;
  /** Connections that failed since the last welcome. */
  readonly failures: number;
  /** Sockets that were closed because of something this device said. */
  readonly ownMistakes: number;
  readonly announcedClose: string | null;
  readonly lastClose: string | null;

  /** The phase as far as the device knows: the last one that the service named, moved on by what was sent since. */
  readonly phase: VerifyPhase | null;
  readonly busy: boolean;
  readonly triesLeft: { readonly chip: number; readonly face: number } | null;
  readonly faceMode: FaceMode;

  readonly chip: ChipInHand | null;
  readonly command: ChipCommand | null;
  /** How often the proof was begun anew since the files were sent. The service has a limit, `proofRestarts`. */
  readonly proofRestarts: number;
  readonly step: ReadStep | null;
  readonly problem: ReadProblem | null;

  /** The face check that the person has started and that no verdict, fault or stop has ended. */
  readonly faceSource: FaceSourceKind | null;
  /** `face_start` was sent on this connection and not answered yet. */
  readonly faceAsked: boolean;
  /** A challenge that was given out and not begun: it came on a new connection, or after the person stopped. */
  readonly challenge: PendingChallenge | null;
  /** A timer runs until the previous challenge has run out. */
  readonly faceWaits: boolean;
  readonly capture: { readonly job: number; readonly frames: number; readonly bytes: number } | null;

  readonly failure: {
    readonly step: "chip" | "face";
    readonly code: FailureCode;
    readonly unmetRequirement: RequirementName | null;
  } | null;
  readonly fault: { readonly code: VerifyFaultCode; readonly message: string } | null;
  /** Of an unattended device: a timer runs until it asks again for a face check that was refused because others come first. */
  readonly waitsForTurn: boolean;
  readonly turnsWaited: number;
  readonly outcome: {
    readonly status: "succeeded" | "failed";
    readonly failureCode: FailureCode | null;
    readonly unmetRequirement: RequirementName | null;
  } | null;
  /** The code of a refused claim, or of a close after which this device does not go on. */
  readonly refused: string | null;

  /** The driver's jobs are numbered, so that a result that comes too late is recognised. */
  readonly nextJob: number;
  readonly claimJob: number | null;
};

/** A chip that is being read, or was read and may have to answer commands. */
export type ChipInHand = {
  readonly read: boolean;
  /** The device's session with the chip belongs to an earlier exchange: the chip is opened again before the next command. */
  readonly stale: boolean;
  /** What the chip does now. It can do only one thing at a time. */
  readonly job: { readonly id: number; readonly doing: "reading" | { readonly exchange: string } } | null;
};

export type ReadStep =
  | { readonly at: "connecting" | "opening" | "sending" | "checking" | "proof" }
  | { readonly at: "data" | "portrait"; readonly readBytes: number; readonly totalBytes: number };

/**
 * Why the chip could not be read on this side; none of them uses up a try. `device`: our own reader failed, which says nothing
 * about the document.
 */
export type ReadProblem = "lost" | "key" | "unreadable" | "unsupported" | "device";

/** What the service asks for in one try. */
export type FaceChallenge = {
  readonly movements: readonly FaceMovement[];
  readonly colours: readonly FaceColour[];
  readonly colourMs: number;
  /** On this device's clock. */
  readonly endsAtMs: number;
  /** What an attested key is made for, base64; null from a service of the version before. */
  readonly nonce: string | null;
};

/** What the phone's secure hardware says of the frames that were sent. */
export type FrameAttestation = NonNullable<Extract<DeviceMessage, { type: "face_done" }>["attestation"]>;
type PendingChallenge = FaceChallenge & {
  /** The challenge has its full time: it was asked for on this connection, and the person still waits for it. */
  readonly fresh: boolean;
};

/** Who decides about the face: the camera's frames, or in the sandbox the test document. */
/** `still_camera`: of a person who cannot turn the head. */
export type FaceSourceKind = "camera" | "still_camera" | "test_document";

function isCamera(source: FaceSourceKind | null): boolean {
  return source === "camera" || source === "still_camera";
}
export type ChipCommand = Extract<ServiceMessage, { type: "chip_command" }>;

/** What a device without a person in front of it does by itself. */
export type UnattendedPlan = { readonly camera: boolean; readonly stopAfterChip: boolean };

/** How an unattended device came to its end. */
export type DeviceEnd =
  | { readonly result: "succeeded" }
  | {
      readonly result: "failed";
      readonly failureCode: FailureCode | null;
      readonly unmetRequirement: RequirementName | null;
    }
  | { readonly result: "stopped"; readonly after: "chip" }
  /** The chip has passed, and the face has to be shown to another device. */
  | { readonly result: "face_elsewhere" }
  | { readonly result: "fault"; readonly code: string; readonly message: string }
  | { readonly result: "closed"; readonly code: string }
  /** The chip could not be read, or the camera gave no picture; the driver has the error. */
  | { readonly result: "problem"; readonly problem: ReadProblem | "camera" };

export type DeviceTimer = "reconnect" | "challenge" | "turn";

export type PersonWish =
  /** With the socket token that was kept when the page was loaded before, if any. */
  | { readonly kind: "start"; readonly token: string | null }
  | { readonly kind: "stop" }
  | { readonly kind: "retry" }
  | { readonly kind: "read_chip" }
  | { readonly kind: "start_face"; readonly source: FaceSourceKind }
  | { readonly kind: "stop_face" }
  /** The person begins anew: verdict, fault and problem of the last try are cleared. */
  | { readonly kind: "forget_setbacks" };

export type DeviceInput =
  | PersonWish
  | { readonly kind: "message"; readonly message: ServiceMessage }
  | { readonly kind: "claimed"; readonly job: number; readonly token: string }
  /** `code` is null when there was no answer at all. */
  | { readonly kind: "claim_failed"; readonly job: number; readonly code: string | null }
  | { readonly kind: "connected" }
  /** `reason` of the close frame; empty when the network failed. */
  | { readonly kind: "closed"; readonly reason: string }
  | { readonly kind: "timer"; readonly timer: DeviceTimer }
  /** The network is back, or the person looks at the page again. */
  | { readonly kind: "awake" }
  | { readonly kind: "chip_step"; readonly job: number; readonly step: ReadStep }
  | { readonly kind: "chip_read"; readonly job: number }
  | { readonly kind: "chip_reopened"; readonly job: number }
  | { readonly kind: "chip_answered"; readonly job: number; readonly answers: readonly string[] }
  | { readonly kind: "chip_lost"; readonly job: number }
  | { readonly kind: "chip_failed"; readonly job: number; readonly problem: ReadProblem }
  | { readonly kind: "frame"; readonly job: number; readonly jpeg: Uint8Array; readonly atMs: number }
  | {
      readonly kind: "capture_over";
      readonly job: number;
      readonly attestation?: FrameAttestation | null;
    }
  | { readonly kind: "capture_failed"; readonly job: number };

/** The messages that the flow sends itself. Files and frames are announced by the driver, which has their bytes. */
export type SpokenMessage = Exclude<DeviceMessage, { type: "chip_file" | "chip_done" | "face_frame" }>;

export type DeviceEffect =
  | { readonly do: "claim"; readonly job: number }
  | { readonly do: "keep_token"; readonly token: string | null }
  | { readonly do: "connect" }
  /** Closes the connection; nothing that still arrives on it becomes an input. */
  | { readonly do: "disconnect" }
  | { readonly do: "send"; readonly message: SpokenMessage }
  /** Announces and sends what was read of the chip, then says `chip_done`. */
  | { readonly do: "send_files" }
  | { readonly do: "send_frame"; readonly jpeg: Uint8Array; readonly atMs: number }
  | { readonly do: "read_chip"; readonly job: number }
  | { readonly do: "reopen_chip"; readonly job: number }
  | {
      readonly do: "pass_on";
      readonly job: number;
      readonly command: ChipCommand;
      readonly reopenFirst: boolean;
    }
  /** Also aborts what the chip is doing; its result is dropped. */
  | { readonly do: "release_chip" }
  | { readonly do: "start_capture"; readonly job: number; readonly challenge: FaceChallenge }
  | { readonly do: "abort_capture" }
  | { readonly do: "set_timer"; readonly timer: DeviceTimer; readonly ms: number }
  | { readonly do: "clear_timer"; readonly timer: DeviceTimer }
  /** For whoever watches a device without a screen. */
  | { readonly do: "tell"; readonly step: string };

export type DeviceStep = { readonly state: DeviceState; readonly effects: readonly DeviceEffect[] };

// --- the tables ----------------------------------------------------------------------------------------------------

/**
 * What a closed socket means for the device.
 * - `over`: there is nothing more to do; if the outcome was not received, the session's status has it.
 * - `refused`: this device does not go on, and the person is told why.
 * - `claim_again`: the token is no longer valid, because this device has claimed again elsewhere or another device has taken over. Only a
 * new claim shows which.
 * - `connect_again`: wait a little and connect; nothing is lost.
 * - `own_mistake`: this device sent something that the service does not accept. Connecting once more may help, again and again would not.
 */
export const closeRules: Readonly<
  Record<VerifyCloseCode, "over" | "refused" | "claim_again" | "connect_again" | "own_mistake">
> = {
  OUTCOME: "over",
  SESSION_ENDED: "refused",
  REPLACED: "refused",
  SOCKET_TOKEN_INVALID: "claim_again",
  SHUTTING_DOWN: "connect_again",
  BUSY: "connect_again",
  INTERNAL: "connect_again",
  IDLE_TIMEOUT: "connect_again",
  HELLO_TIMEOUT: "connect_again",
  FRAME_TOO_LARGE: "own_mistake",
  MESSAGE_INVALID: "own_mistake",
  OUT_OF_ORDER: "own_mistake",
  ALREADY_PASSED: "own_mistake",
  STALE_EXCHANGE: "own_mistake",
  ARTIFACT_INVALID: "own_mistake",
};

/**
 * The phase that the device assumes after sending this, until the service says otherwise. Messages that are not listed
 * leave it unchanged.
 */
export const phaseAfterSending: Readonly<Partial<Record<DeviceInputType, VerifyPhase>>> = {
  chip_done: "chip_check",
  chip_restart: "chip",
  face_done: "face_check",
};

/** The phase that a message of the service implies. Other messages name the phase, or leave it unchanged. */
export const phaseAfterHearing: Readonly<Partial<Record<ServiceMessage["type"], VerifyPhase>>> = {
  chip_command: "chip_proof",
  face_challenge: "face_capture",
  outcome: "ended",
};

export const deviceLimits = {
  /**
   * Waits before the next connections (backoff); the last one is repeated. Half: thousands of devices knock twice as
   * often at a service that is being restarted. Twice: a person looks at "connection lost" for longer than a lift ride
   * takes.
   */
  backoffMs: [300, 1_000, 2_000, 4_000, 8_000],
  /**
   * Failed connections in a row, about 40 seconds. Fewer: devices give up while the service restarts. More: a person is
   * left before a dead page.
   */
  failuresAllowed: 8,
  /**
   * Sockets that may be closed for a mistake of this device. The service does so only to a device with a fault, which
   * more tries would repeat.
   */
  ownMistakesAllowed: 2,
  /**
   * A challenge with less time left than this is not taken up again after a lost connection: it is left to run out. The
   * page gives a slow person 30.4 seconds for four movements, and the last frames need 1.5 to arrive. Half: the person
   * would be hurried into a failed try. Twice: no challenge of 45 seconds could ever be taken up again.
   */
  leastTimeForFaceMs: 33_000,
  /**
   * Added to the end of a challenge, because the two clocks need not agree on it. Without this margin the service may
   * send the same challenge once more.
   */
  runOutMarginMs: 300,
  /**
   * How long a device without a person waits before it asks again for a face check that was refused with
   * `FACE_CHECK_BUSY`. Half: many that wait ask twice as often for nothing. Twice: a place that became free stays empty
   * for longer.
   */
  turnMs: 5_000,
  /** How often it does so: two minutes. Fewer: a rush makes it fail. More: somebody looks at a command that does not end. */
  turnsAllowed: 24,
} as const;

/** Codes of a failed claim that may work in a moment; so may one that got no answer at all. */
const passingClaimFailures: readonly string[] = ["INTERNAL_SERVER_ERROR", "SERVICE_UNAVAILABLE"];

type Handlers<Union, Key extends keyof Union> = {
  readonly [Name in Union[Key] & string]: (
    state: DeviceState,
    input: Extract<Union, Record<Key, Name>>,
    nowMs: number,
  ) => DeviceStep;
};

/** What each message of the service means. */
const onMessage: Handlers<ServiceMessage, "type"> = {
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
      // A verdict that got lost on the way has used up a try: to go on by itself would use up another.
      faceSource: before !== null && tries_left.face < before.face ? null : state.faceSource,
    };
    return before !== null && tries_left.chip < before.chip ? dropChip(welcomed) : stay(welcomed);
  },
  checking: (state, { phase, busy }) =>
    stay(
      { ...state, phase, busy, step: phase === "chip_check" ? { at: "checking" } : state.step },
      { do: "tell", step: busy ? "waiting" : phase },
    ),
  chip_command: (state, command) => {
    const told: DeviceEffect = { do: "tell", step: command.proof };
    // The page was loaded anew since it read the chip, or the chip was lost together with the connection.
    if (state.chip?.read !== true) return also(stay(state, told), (now) => beginChipAnew(now, now.problem));
    return stay({ ...state, busy: false, command }, told);
  },
  step_result: (state, { step, passed, failure_code, unmet_requirement, tries_left, phase }) => {
    // A service of the version before does not send it.
    const unmetRequirement = unmet_requirement ?? null;
    const why = unmetRequirement === null ? failure_code : `${failure_code}, ${unmetRequirement} is required`;
    const judged: DeviceState = {
      ...state,
      phase,
      triesLeft: tries_left,
      busy: false,
      step: null,
      faceAsked: false,
      failure: failure_code === null ? null : { step, code: failure_code, unmetRequirement },
    };
    const told: DeviceEffect = {
      do: "tell",
      step: passed ? `${step}_passed` : `${step}_failed (${why}), ${tries_left[step]} left`,
    };
    return also(stay(judged, told), (now) =>
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
      { do: "tell", step: `face_capture (${movements.join(", ")})` },
    ),
  fault: (state, { code, message, phase }) => {
    // The chip is let go as well: the person decides whether to read it once more.
    const ended = dropChip({
      ...state,
      phase,
      fault: { code, message },
      busy: false,
      step: null,
      faceSource: null,
      faceAsked: false,
    });
    // A person is told and presses the button again. Where there is none, the device waits for its turn.
    const waits =
      state.plan !== null && code === "FACE_CHECK_BUSY" && state.turnsWaited < deviceLimits.turnsAllowed;
    if (!waits) return ended;
    return also(ended, (now) =>
      stay(
        { ...now, fault: null, waitsForTurn: true, turnsWaited: state.turnsWaited + 1 },
        { do: "set_timer", timer: "turn", ms: deviceLimits.turnMs },
        { do: "tell", step: "waiting" },
      ),
    );
  },
  outcome: (state, { status, failure_code, unmet_requirement }) =>
    stay({
      ...state,
      connection: "closed",
      outcome: { status, failureCode: failure_code, unmetRequirement: unmet_requirement ?? null },
    }),
  closing: (state, { code }) => stay({ ...state, announcedClose: code }),
};

/** What everything else that can happen means. */
const onInput: Handlers<DeviceInput, "kind"> = {
  message: (state, { message }, nowMs) => {
    // A newer service may send types of messages that this device does not know: they are ignored (forward
    // compatibility).
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

  // --- what the person wants
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
      { do: "read_chip", job },
    );
  },
  start_face: (state, { source }) =>
    openWishes(state).includes("start_face")
      ? stay({ ...state, faceSource: source, failure: null, fault: null })
      : stay(state),
  stop_face: (state) => stopFace(state),
  forget_setbacks: (state) => stay({ ...state, failure: null, fault: null }),

  // --- the connection
  claimed: (state, { job, token }) =>
    state.claimJob === job
      ? also(stay({ ...state, claimJob: null, link: "none", token }, { do: "keep_token", token }), connect)
      : stay(state),
  claim_failed: (state, { job, code }) => {
    if (state.claimJob !== job) return stay(state);
    const unclaimed: DeviceState = { ...state, claimJob: null, link: "none" };
    if (code === null || passingClaimFailures.includes(code)) return connectLater(unclaimed);
    return refuse(unclaimed, code);
  },
  connected: (state) =>
    state.link === "opening" && state.token !== null
      ? stay(
          { ...state, link: "greeting" },
          { do: "send", message: { type: "hello", socket_token: state.token } },
        )
      : stay(state),
  closed: (state, { reason }) => (isConnected(state) ? afterClose(state, reason) : stay(state)),
  timer: (state, { timer }) => {
    if (timer === "reconnect") return state.link === "waiting" ? connect(state) : stay(state);
    if (timer === "turn") return stay({ ...state, waitsForTurn: false });
    return state.faceWaits ? connectAnew({ ...state, faceWaits: false }) : stay(state);
  },
  awake: (state) =>
    state.link === "waiting"
      ? also(stay(state, { do: "clear_timer", timer: "reconnect" }), connect)
      : stay(state),

  // --- the chip
  chip_step: (state, { job, step }) => (jobOf(state, job) === null ? stay(state) : stay({ ...state, step })),
  chip_read: (state, { job }) =>
    jobOf(state, job) === null
      ? stay(state)
      : stay({ ...state, chip: { read: true, stale: false, job: null }, step: { at: "sending" } }),
  chip_answered: (state, { job, answers }) => {
    const asked = jobOf(state, job);
    if (asked === null || state.chip === null) return stay(state);
    const { command } = state;
    // The service has begun another exchange since; this answer belongs to none.
    if (command === null || !isFor(asked, command)) return stay(withIdleChip(state, { stale: true }));
    return say(
      { ...withIdleChip(state, { stale: false }), command: null },
      {
        type: "chip_answer",
        exchange: command.exchange,
        answers: [...answers],
      },
    );
  },
  chip_lost: (state, { job }) => {
    const asked = jobOf(state, job);
    if (asked === null || state.chip === null) return stay(state);
    if (state.command === null || !isFor(asked, state.command))
      return stay(withIdleChip(state, { stale: true }));
    // A fresh exchange begins once the chip is open again.
    const next = state.nextJob;
    return stay(
      { ...state, nextJob: next + 1, chip: { ...state.chip, job: { id: next, doing: asked } } },
      { do: "reopen_chip", job: next },
    );
  },
  chip_reopened: (state, { job }) => {
    const asked = jobOf(state, job);
    if (asked === null) return stay(state);
    const idle = withIdleChip(state, { stale: false });
    if (state.command === null || !isFor(asked, state.command)) return stay(idle);
    const done: DeviceState = { ...idle, command: null };
    if (state.proofRestarts >= limits.proofRestarts)
      return also(dropChip(done), (now) => beginChipAnew(now, "lost"));
    return say({ ...done, proofRestarts: state.proofRestarts + 1 }, { type: "chip_lost" });
  },
  chip_failed: (state, { job, problem }) => {
    if (jobOf(state, job) === null) return stay(state);
    // Never told to the service as an answer of the chip: that would count as a refusal and cost the person a try.
    const dropped = dropChip({ ...state, problem, step: null });
    return state.phase === "chip_proof" ? also(dropped, (now) => beginChipAnew(now, problem)) : dropped;
  },

  // --- the camera
  frame: (state, { job, jpeg, atMs }) => {
    const { capture } = state;
    if (capture?.job !== job || !may(state, "face_frame")) return stay(state);
    const bytes = capture.bytes + jpeg.length;
    const fits =
      jpeg.length > 0 &&
      jpeg.length <= limits.faceFrameBytes &&
      capture.frames < limits.faceFrames &&
      bytes <= limits.faceBytes;
    if (!fits) return stay(state);
    return stay(
      { ...state, capture: { job, frames: capture.frames + 1, bytes } },
      { do: "send_frame", jpeg, atMs },
    );
  },
  capture_over: (state, { job, attestation }) =>
    state.capture?.job === job
      ? say(
          { ...state, capture: null, faceSource: null },
          { type: "face_done", ...(attestation == null ? {} : { attestation }) },
        )
      : stay(state),
  capture_failed: (state, { job }) => {
    if (state.capture?.job !== job) return stay(state);
    return state.plan === null ? stopFace(state) : finish(state, { result: "problem", problem: "camera" });
  },
};

type StandingRule = {
  readonly when: (state: DeviceState) => boolean;
  readonly act: (state: DeviceState, nowMs: number) => DeviceStep;
};

/** What has to be done as soon as its condition holds; checked after every input, in this order. */
const standingRules: readonly StandingRule[] = [
  {
    // The service waits for no more frames, or not on this connection.
    when: (state) => state.capture !== null && !may(state, "face_frame"),
    act: (state) => stay({ ...state, capture: null }, { do: "abort_capture" }),
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
    // The files are sent as soon as the service takes them: at once, or when the connection is back. The service
    // forgets files that it has not judged when a connection is lost.
    when: (state) => state.chip?.read === true && may(state, "chip_file"),
    act: (state) =>
      stay(
        {
          ...state,
          phase: phaseAfterSending.chip_done ?? state.phase,
          step: { at: "sending" },
          proofRestarts: 0,
        },
        { do: "send_files" },
      ),
  },
  {
    // The chip was let go after the command came, so nobody can answer it.
    when: (state) => state.command !== null && state.chip === null,
    act: (state) => beginChipAnew(state, state.problem),
  },
  {
    when: (state) => state.command !== null && state.chip !== null && state.chip.job === null,
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
    act: (state) => stay({ ...state, faceWaits: false }, { do: "clear_timer", timer: "challenge" }),
  },
];

// --- the machine ---------------------------------------------------------------------------------------------------

export function startDevice(plan: UnattendedPlan | null = null): DeviceState {
  return {
    plan,
    end: null,
    stopped: true,
    link: "none",
    connection: "connecting",
    token: null,
    failures: 0,
    ownMistakes: 0,
    announcedClose: null,
    lastClose: null,
    phase: null,
    busy: false,
    triesLeft: null,
    faceMode: "camera",
    chip: null,
    command: null,
    proofRestarts: 0,
    step: null,
    problem: null,
    faceSource: null,
    faceAsked: false,
    challenge: null,
    faceWaits: false,
    capture: null,
    failure: null,
    fault: null,
    waitsForTurn: false,
    turnsWaited: 0,
    outcome: null,
    refused: null,
    nextJob: 1,
    claimJob: null,
  };
}

export function advance(state: DeviceState, input: DeviceInput, nowMs: number): DeviceStep {
  const handler = onInput[input.kind] as (
    state: DeviceState,
    input: DeviceInput,
    nowMs: number,
  ) => DeviceStep;
  const handled = standingRules.reduce<DeviceStep>(
    (step, { when, act }) => also(step, (now) => (when(now) ? act(now, nowMs) : stay(now))),
    handler(state, input, nowMs),
  );
  const wish = planned(handled.state);
  if (wish === null) return handled;
  return also(handled, (now) => ("result" in wish ? finish(now, wish) : advance(now, wish, nowMs)));
}

/** What a person can do now to go on; empty while something is under way that ends by itself. */
export function openWishes(state: DeviceState): readonly PersonWish["kind"][] {
  if (state.outcome !== null || state.end !== null) return [];
  if (state.stopped) return ["start"];
  if (state.link === "none") return ["retry"];
  if (state.phase === "chip" && state.chip === null) return ["read_chip"];
  const beforeFace = state.phase === "face" || (state.phase === "face_capture" && state.capture === null);
  return beforeFace ? ["start_face"] : [];
}

/** What an unattended device does next by itself: a wish, its end, or nothing while something is under way. */
function planned(state: DeviceState): PersonWish | DeviceEnd | null {
  const { plan, outcome, fault } = state;
  if (plan === null || state.end !== null || state.stopped) return null;
  if (outcome !== null)
    return outcome.status === "succeeded"
      ? { result: "succeeded" }
      : {
          result: "failed",
          failureCode: outcome.failureCode,
          unmetRequirement: outcome.unmetRequirement,
        };
  if (fault !== null) return { result: "fault", code: fault.code, message: fault.message };
  if (state.problem !== null) return { result: "problem", problem: state.problem };
  if (state.refused !== null) return { result: "closed", code: state.refused };
  // An unattended device has nobody who would do it differently the next time, so it ends.
  if (state.connection === "gone" || state.ownMistakes > 0)
    return { result: "closed", code: state.lastClose ?? "CONNECTION_LOST" };
  if (state.link !== "open") return null;
  if (isFacePhase(state.phase)) {
    if (plan.stopAfterChip) return { result: "stopped", after: "chip" };
    if (state.faceMode === "camera" && !plan.camera) return { result: "face_elsewhere" };
  }
  const [wish] = openWishes(state);
  if (wish === "read_chip") return { kind: "read_chip" };
  if (wish === "start_face" && state.faceSource === null && !state.faceAsked && !state.waitsForTurn)
    return { kind: "start_face", source: plan.camera ? "camera" : "test_document" };
  return null;
}

/** What the person is shown. */
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
    // While nothing is being captured it is the person's turn to start, although the service waits for frames.
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

// --- connecting ----------------------------------------------------------------------------------------------------

function connect(state: DeviceState): DeviceStep {
  if (state.token !== null) return stay({ ...state, link: "opening" }, { do: "connect" });
  const job = state.nextJob;
  return stay({ ...state, link: "claiming", claimJob: job, nextJob: job + 1 }, { do: "claim", job });
}

function connectLater(state: DeviceState): DeviceStep {
  const { backoffMs, failuresAllowed } = deviceLimits;
  const ms = backoffMs[Math.min(state.failures, backoffMs.length - 1)] ?? 0;
  const failures = state.failures + 1;
  if (failures > failuresAllowed) return stay({ ...state, failures, connection: "gone" });
  return stay(
    { ...state, failures, link: "waiting", connection: "lost" },
    { do: "set_timer", timer: "reconnect", ms },
  );
}

/** Leaves a connection that works, so that the service discards what was sent on it. */
function connectAnew(state: DeviceState): DeviceStep {
  if (!isConnected(state)) return stay(state);
  return also(stay({ ...disconnected(state), connection: "connecting" }, { do: "disconnect" }), connect);
}

function afterClose(state: DeviceState, reason: string): DeviceStep {
  const code = state.announcedClose ?? reason;
  const closed: DeviceState = { ...disconnected(state), lastClose: code === "" ? null : code };
  if (state.outcome !== null) return stay(closed);
  switch (ruleOfClose(code)) {
    case "over":
      return refuse(closed, "SESSION_ENDED");
    case "refused":
      return refuse(closed, code);
    case "claim_again":
      return also(stay({ ...closed, token: null }, { do: "keep_token", token: null }), connectLater);
    case "connect_again":
      return connectLater(closed);
    case "own_mistake": {
      const ownMistakes = state.ownMistakes + 1;
      if (ownMistakes <= deviceLimits.ownMistakesAllowed) return connectLater({ ...closed, ownMistakes });
      // The bytes that were read may be what the service refuses, so another try begins with a fresh reading.
      return dropChip({ ...closed, ownMistakes, connection: "gone", faceSource: null, step: null });
    }
  }
}

function ruleOfClose(code: string): (typeof closeRules)[VerifyCloseCode] {
  if (Object.hasOwn(verifyCloseCodes, code)) return closeRules[code as VerifyCloseCode];
  // Without a reason it was the network. A reason that is not known yet is taken for a fault of this device.
  return code === "" ? "connect_again" : "own_mistake";
}

/** This device is refused and does not go on. */
function refuse(state: DeviceState, code: string): DeviceStep {
  return dropChip({ ...state, connection: "closed", refused: code, faceSource: null, step: null });
}

/** The state that is void once the connection has ended. */
function disconnected(state: DeviceState): DeviceState {
  return { ...state, link: "none", announcedClose: null, command: null, faceAsked: false, challenge: null };
}

function stop(state: DeviceState): DeviceStep {
  const left: DeviceState = {
    ...disconnected(state),
    stopped: true,
    claimJob: null,
    faceSource: null,
    capture: null,
    faceWaits: false,
    waitsForTurn: false,
    step: null,
  };
  const effects: DeviceEffect[] = [];
  if (state.waitsForTurn) effects.push({ do: "clear_timer", timer: "turn" });
  if (state.link === "waiting") effects.push({ do: "clear_timer", timer: "reconnect" });
  if (state.faceWaits) effects.push({ do: "clear_timer", timer: "challenge" });
  if (state.capture !== null) effects.push({ do: "abort_capture" });
  if (isConnected(state)) effects.push({ do: "disconnect" });
  return also(stay(left, ...effects), dropChip);
}

function finish(state: DeviceState, end: DeviceEnd): DeviceStep {
  return stop({ ...state, end });
}

function isConnected({ link }: DeviceState): boolean {
  return link === "opening" || link === "greeting" || link === "open";
}

function saidBeforeWelcome({ link }: DeviceState, type: ServiceMessage["type"]): boolean {
  return link === "greeting" && (type === "welcome" || type === "closing" || type === "outcome");
}

// --- the chip ------------------------------------------------------------------------------------------------------

function dropChip(state: DeviceState): DeviceStep {
  return state.chip === null ? stay(state) : stay({ ...state, chip: null }, { do: "release_chip" });
}

/** The chip's part begins again, and no try is used. A reading that is under way goes on. */
function beginChipAnew(state: DeviceState, problem: ReadProblem | null): DeviceStep {
  const anew: DeviceState = {
    ...state,
    problem,
    command: null,
    busy: false,
    step: state.chip === null ? null : state.step,
  };
  return say(anew, { type: "chip_restart" });
}

function passOn(state: DeviceState): DeviceStep {
  const { chip, command } = state;
  if (chip === null || command === null) return stay(state);
  const job = state.nextJob;
  return stay(
    {
      ...state,
      nextJob: job + 1,
      chip: { ...chip, stale: false, job: { id: job, doing: { exchange: command.exchange } } },
      step: { at: "proof" },
    },
    { do: "pass_on", job, command, reopenFirst: chip.stale },
  );
}

type Doing = "reading" | { readonly exchange: string };

/** What the chip was asked to do with this job; null when nobody waits for it any more. */
function jobOf({ chip }: DeviceState, job: number): Doing | null {
  return chip?.job?.id === job ? chip.job.doing : null;
}

function isFor(doing: Doing, command: ChipCommand): boolean {
  return doing !== "reading" && doing.exchange === command.exchange;
}

function withIdleChip(state: DeviceState, { stale }: { stale: boolean }): DeviceState {
  return state.chip === null ? state : { ...state, chip: { ...state.chip, stale, job: null } };
}

// --- the face ------------------------------------------------------------------------------------------------------

function takeUpChallenge(state: DeviceState, nowMs: number): DeviceStep {
  const { challenge } = state;
  if (challenge === null) return stay(state);
  const leftMs = challenge.endsAtMs - nowMs;
  // Somebody who said meanwhile that they cannot turn the head, or that they can, waits for a challenge of the other kind.
  const fits = isForStillHead(challenge.movements) === (state.faceSource === "still_camera");
  if (isCamera(state.faceSource) && fits && (challenge.fresh || leftMs >= deviceLimits.leastTimeForFaceMs)) {
    const { fresh: _, ...asked } = challenge;
    const job = state.nextJob;
    return stay(
      { ...state, nextJob: job + 1, challenge: null, capture: { job, frames: 0, bytes: 0 } },
      { do: "start_capture", job, challenge: asked },
    );
  }
  return stay(
    { ...state, faceWaits: true },
    { do: "set_timer", timer: "challenge", ms: Math.max(0, leftMs) + deviceLimits.runOutMarginMs },
  );
}

/** Ends what was started without a verdict, so that no try is used. */
function stopFace(state: DeviceState): DeviceStep {
  const left: DeviceState = { ...state, faceSource: null };
  if (state.capture === null) return stay(left);
  // The frames of the next try must not be added to those of this one.
  return also(stay({ ...left, capture: null }, { do: "abort_capture" }), connectAnew);
}

function isFacePhase(phase: VerifyPhase | null): boolean {
  return phase === "face" || phase === "face_capture" || phase === "face_check";
}

// --- parts ---------------------------------------------------------------------------------------------------------

/** Whether the service takes this now, by the contract's table. */
function may({ link, phase }: DeviceState, type: DeviceInputType): boolean {
  return link === "open" && phase !== null && phaseRules[type][phase] === "taken";
}

/** Sends a message where the service takes it, and does nothing otherwise. */
function say(state: DeviceState, message: Exclude<SpokenMessage, { type: "hello" }>): DeviceStep {
  if (!may(state, message.type)) return stay(state);
  return stay({ ...state, phase: phaseAfterSending[message.type] ?? state.phase }, { do: "send", message });
}

function stay(state: DeviceState, ...effects: DeviceEffect[]): DeviceStep {
  return { state, effects };
}

function also(step: DeviceStep, next: (state: DeviceState) => DeviceStep): DeviceStep {
  const { state, effects } = next(step.state);
  return { state, effects: [...step.effects, ...effects] };
}
