import { type Static, Type } from "typebox";

import { closed, Nullable, named, OneOf, open, Timestamp } from "./schema.ts";
import { AttemptId, failureCodes, SessionId } from "./sessions.ts";

/**
 * The socket between a reading device and the service, typed once for both ends. Text frames are the JSON messages
 * below; binary frames are parts of artifacts (chip files and camera frames). Nothing that a device says about its own
 * checks counts: it sends files and passes on commands, and the service judges.
 */
export const verifySubprotocol = "verify.v1";

/** The socket's path; plain HTTP on it is answered with 426. */
export function verifySocketPath(sessionId: string): string {
  return `/v1/verify/session/${sessionId}`;
}

const kibibyte = 1024;

/** Files of the chip that the service takes, each with the most bytes it may have. */
export const chipFileLimits = {
  COM: 1 * kibibyte,
  SOD: 64 * kibibyte,
  DG1: 256,
  DG2: 1024 * kibibyte,
  DG14: 16 * kibibyte,
  DG15: 8 * kibibyte,
} as const;
export type ChipFile = keyof typeof chipFileLimits;
export const chipFiles = Object.keys(chipFileLimits) as readonly ChipFile[];
/** Without these the chip cannot be judged. */
export const requiredChipFiles: readonly ChipFile[] = ["SOD", "DG1", "DG2"];

export const verifySocketLimits = {
  /** A text frame. */
  textBytes: 64 * kibibyte,
  /** The payload of a binary frame, without its header. */
  frameBytes: 64 * kibibyte,
  /** All chip files of one try together. */
  chipBytes: 1152 * kibibyte,
  /** One camera frame. */
  faceFrameBytes: 256 * kibibyte,
  /** Camera frames of one try. */
  faceFrames: 110,
  /** All camera frames of one try together. */
  faceBytes: 12 * 1024 * kibibyte,
  /** Commands in one exchange with the chip, and bytes of one answer. */
  exchangeCommands: 4,
  answerBytes: 4 * kibibyte,
  /** How often one try may begin its proof anew because the chip left the field. */
  proofRestarts: 8,
  /** From the opened socket to its hello. */
  helloMs: 10_000,
  /** Without any message while it is the device's turn. */
  idleMs: 10 * 60_000,
  /** The service pings this often; a socket that answers none of three is closed. */
  heartbeatMs: 15_000,
  /** How long what was read is kept in memory for a device that has lost its connection. */
  resumeMs: 120_000,
} as const;

/**
 * What is the turn of whom.
 * - `chip`: the device reads the chip and sends its files.
 * - `chip_check`: the service checks the files.
 * - `chip_proof`: the device passes commands of the service on to the chip.
 * - `face`: the device may start the face check.
 * - `face_capture`: the device sends camera frames.
 * - `face_check`: the service judges them.
 * - `ended`: there is an outcome.
 */
export const verifyPhases = [
  "chip",
  "chip_check",
  "chip_proof",
  "face",
  "face_capture",
  "face_check",
  "ended",
] as const;
export type VerifyPhase = (typeof verifyPhases)[number];

/**
 * `simulated`: sandbox only, the test document decides unless the device starts with a camera. `unavailable`: nobody can
 * pass.
 */
export const faceModes = ["camera", "simulated", "unavailable"] as const;
export type FaceMode = (typeof faceModes)[number];

export const faceMovements = ["turn_left", "turn_right", "look_up", "come_closer"] as const;
export type FaceMovement = (typeof faceMovements)[number];

/** What the screen of the device is filled with while the face is filmed. */
export const faceColours = ["red", "green", "blue", "white"] as const;
export type FaceColour = (typeof faceColours)[number];

/** A fault on the service's side. It uses up no try; the step can be taken again. */
export const verifyFaultCodes = {
  TRUST_STORE_EMPTY: "No issuing authority is known to this service yet. The operator has to import some.",
  FACE_CHECK_UNAVAILABLE: "The face check is not available on this service.",
  FACE_CHECK_BUSY:
    "Too many faces are being checked at this moment. Nothing was counted; try again in a moment.",
  PORTRAIT_UNUSABLE:
    "The portrait on this document's chip cannot be compared with a face. Nothing was counted; a new session with another document may work.",
  CHECK_FAILED_TO_RUN: "A check could not be carried out. Nothing was counted.",
  STORE_UNAVAILABLE: "The result could not be written. Nothing was counted.",
} as const;
export type VerifyFaultCode = keyof typeof verifyFaultCodes;

/** Why the service closes a socket. The close frame's reason is the code. */
export const verifyCloseCodes = {
  OUTCOME: { status: 1000, about: "There is an outcome; it was sent before." },
  SHUTTING_DOWN: { status: 1001, about: "This process is being stopped. Connect again at once." },
  FRAME_TOO_LARGE: { status: 1009, about: "A frame is larger than the limit." },
  MESSAGE_INVALID: { status: 4400, about: "A frame is neither a known message nor part of an artifact." },
  SOCKET_TOKEN_INVALID: { status: 4401, about: "The token is not the one of this session's attempt." },
  HELLO_TIMEOUT: { status: 4408, about: "No hello came in time." },
  IDLE_TIMEOUT: { status: 4408, about: "Nothing was heard from the device for too long." },
  REPLACED: { status: 4409, about: "The same device has opened another socket, which goes on." },
  OUT_OF_ORDER: { status: 4409, about: "The message does not belong to this phase." },
  ALREADY_PASSED: { status: 4409, about: "The chip has passed; its files cannot be sent again." },
  STALE_EXCHANGE: { status: 4409, about: "The answer belongs to an earlier exchange with the chip." },
  SESSION_ENDED: { status: 4410, about: "The session has ended or expired, or another device has taken it." },
  ARTIFACT_INVALID: {
    status: 4413,
    about: "An artifact was not announced, is too large, or its parts do not follow each other.",
  },
  INTERNAL: { status: 1011, about: "Something went wrong on our side. Connect again." },
} as const;
export type VerifyCloseCode = keyof typeof verifyCloseCodes;

const Base64 = (maxBytes: number, description: string) =>
  Type.String({
    maxLength: Math.ceil(maxBytes / 3) * 4,
    pattern: "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$",
    description: `${description} Base64.`,
  });
const ArtifactNumber = Type.Integer({
  minimum: 1,
  maximum: 0xffff_ffff,
  description: "Chosen by the device, used once on a socket. Binary frames name it.",
});
const Exchange = Type.String({
  pattern: "^[A-Za-z0-9_-]{22}$",
  description: "Names one exchange with the chip; it is fresh and random.",
});
const TriesLeft = open({
  chip: Type.Integer({ minimum: 0, maximum: 3 }),
  face: Type.Integer({ minimum: 0, maximum: 3 }),
});

// --- device to service ---------------------------------------------------------------------------------------------

export const Hello = named(
  "VerifyHello",
  closed({
    type: Type.Literal("hello"),
    socket_token: Type.String({ minLength: 16, maxLength: 200, description: "From the claim." }),
  }),
);

/** Announces a file of the chip; its bytes follow in binary frames. `size` is exact. */
export const ChipFileMessage = named(
  "VerifyChipFile",
  closed({
    type: Type.Literal("chip_file"),
    artifact: ArtifactNumber,
    file: OneOf(chipFiles as readonly [ChipFile, ...ChipFile[]]),
    size: Type.Integer({ minimum: 1, maximum: chipFileLimits.DG2 }),
  }),
);

/** Every file that the chip has was sent whole: judge it. */
export const ChipDone = named("VerifyChipDone", closed({ type: Type.Literal("chip_done") }));

/** What the chip answered to a `chip_command`. Fewer answers than commands mean that the chip refused one. */
export const ChipAnswer = named(
  "VerifyChipAnswer",
  closed({
    type: Type.Literal("chip_answer"),
    exchange: Exchange,
    answers: Type.Array(Base64(verifySocketLimits.answerBytes, "Answer of the chip, with its status word."), {
      maxItems: verifySocketLimits.exchangeCommands,
    }),
  }),
);

/** The chip left the field during its proof. Once it is open again a fresh exchange begins; no try is used. */
export const ChipLost = named("VerifyChipLost", closed({ type: Type.Literal("chip_lost") }));

/** Forget what was sent of the chip and begin the chip step anew; no try is used. Not after it has passed. */
export const ChipRestart = named("VerifyChipRestart", closed({ type: Type.Literal("chip_restart") }));

/** The person is in front of the camera (or, simulated, the test document decides): begin a face try. */
export const FaceStart = named(
  "VerifyFaceStart",
  closed({
    type: Type.Literal("face_start"),
    camera: Type.Optional(
      Type.Boolean({
        description:
          "In the sandbox, `true` has camera frames judged as in a live session; otherwise the test document decides. Without meaning elsewhere.",
      }),
    ),
  }),
);

/** Announces one camera frame, a JPEG; its bytes follow in binary frames. */
export const FaceFrame = named(
  "VerifyFaceFrame",
  closed({
    type: Type.Literal("face_frame"),
    artifact: ArtifactNumber,
    size: Type.Integer({ minimum: 1, maximum: verifySocketLimits.faceFrameBytes }),
    at_ms: Type.Integer({
      minimum: 0,
      maximum: 120_000,
      description: "When it was taken, in milliseconds since the device showed the first colour.",
    }),
  }),
);

export const FaceDone = named("VerifyFaceDone", closed({ type: Type.Literal("face_done") }));

export const deviceMessages = {
  hello: Hello,
  chip_file: ChipFileMessage,
  chip_done: ChipDone,
  chip_answer: ChipAnswer,
  chip_lost: ChipLost,
  chip_restart: ChipRestart,
  face_start: FaceStart,
  face_frame: FaceFrame,
  face_done: FaceDone,
} as const;
export type DeviceMessage = {
  [K in keyof typeof deviceMessages]: Static<(typeof deviceMessages)[K]>;
}[keyof typeof deviceMessages];

// --- service to device ---------------------------------------------------------------------------------------------

export const Welcome = named(
  "VerifyWelcome",
  open({
    type: Type.Literal("welcome"),
    protocol: Type.Literal(verifySubprotocol),
    session_id: SessionId,
    attempt_id: AttemptId,
    sandbox: Type.Boolean(),
    phase: OneOf(verifyPhases),
    resumed: Type.Boolean({ description: "Whether what was sent before on another socket still counts." }),
    tries_left: TriesLeft,
    face: OneOf(faceModes, {
      description:
        "`camera`; `simulated` in the sandbox, where the test document decides unless `face_start` asks for the camera; `unavailable`: nobody can pass.",
    }),
    expires_at: Timestamp,
  }),
);

/** The service works on what was sent. `busy` means that others come first: please wait, nothing is lost. */
export const Checking = named(
  "VerifyChecking",
  open({
    type: Type.Literal("checking"),
    phase: OneOf(verifyPhases),
    busy: Type.Boolean(),
  }),
);

/**
 * Commands for the chip.
 * - `in_session`: send them inside the device's own session with the chip, return each answer, stop at the first refusal.
 * - `sealed`: pass the one command on exactly as it is. The device's session with the chip is over with it.
 * - `challenge`: have the chip sign the bytes (INTERNAL AUTHENTICATE), return the signature; no answer when it refused.
 */
export const ChipCommand = named(
  "VerifyChipCommand",
  open({
    type: Type.Literal("chip_command"),
    exchange: Exchange,
    proof: OneOf(["chip_authentication", "active_authentication"]),
    kind: OneOf(["in_session", "sealed", "challenge"]),
    commands: Type.Array(Type.String({ description: "Base64." }), { minItems: 1 }),
  }),
);

/** A try was judged and counted. `phase` is what comes next. */
export const StepResult = named(
  "VerifyStepResult",
  open({
    type: Type.Literal("step_result"),
    step: OneOf(["chip", "face"]),
    passed: Type.Boolean(),
    failure_code: Nullable(OneOf(failureCodes)),
    tries_left: TriesLeft,
    phase: OneOf(verifyPhases),
  }),
);

/** Fresh and random for each try. */
export const FaceChallenge = named(
  "VerifyFaceChallenge",
  open({
    type: Type.Literal("face_challenge"),
    movements: Type.Array(OneOf(faceMovements), {
      description:
        "Asked for one after another, each from looking straight ahead and back again. Left and right are the person's own.",
    }),
    colours: Type.Array(OneOf(faceColours), {
      description:
        "The whole screen shows them one after another, and again from the first, as long as frames are taken.",
    }),
    colour_ms: Type.Integer({ minimum: 334, description: "How long each colour stays." }),
    deadline_ms: Type.Integer({
      minimum: 1,
      description: "From the arrival of this message to that of `face_done`.",
    }),
  }),
);

/** Something failed on the service's side. No try was used; `phase` tells where to go on. */
export const Fault = named(
  "VerifyFault",
  open({
    type: Type.Literal("fault"),
    code: OneOf(Object.keys(verifyFaultCodes) as [VerifyFaultCode, ...VerifyFaultCode[]]),
    message: Type.String(),
    phase: OneOf(verifyPhases),
  }),
);

/** The session has its outcome. The service closes the socket after it. */
export const OutcomeMessage = named(
  "VerifyOutcome",
  open({
    type: Type.Literal("outcome"),
    status: OneOf(["succeeded", "failed"]),
    failure_code: Nullable(OneOf(failureCodes)),
  }),
);

/** Sent before the service closes the socket for anything but an outcome. */
export const Closing = named(
  "VerifyClosing",
  open({
    type: Type.Literal("closing"),
    code: OneOf(Object.keys(verifyCloseCodes) as [VerifyCloseCode, ...VerifyCloseCode[]]),
    message: Type.String(),
  }),
);

export const serviceMessages = {
  welcome: Welcome,
  checking: Checking,
  chip_command: ChipCommand,
  step_result: StepResult,
  face_challenge: FaceChallenge,
  fault: Fault,
  outcome: OutcomeMessage,
  closing: Closing,
} as const;
export type ServiceMessage = {
  [K in keyof typeof serviceMessages]: Static<(typeof serviceMessages)[K]>;
}[keyof typeof serviceMessages];

// --- binary frames -------------------------------------------------------------------------------------------------

/** Layout, big endian: 1 byte version (1), 4 bytes artifact, 4 bytes offset, 4 bytes total size, then the bytes. */
export const artifactHeaderBytes = 13;
const artifactFrameVersion = 1;

export type ArtifactFrame = { artifact: number; offset: number; total: number; bytes: Uint8Array };

export function encodeArtifactFrame({
  artifact,
  offset,
  total,
  bytes,
}: ArtifactFrame): Uint8Array<ArrayBuffer> {
  const frame = new Uint8Array(artifactHeaderBytes + bytes.length);
  const view = new DataView(frame.buffer);
  view.setUint8(0, artifactFrameVersion);
  view.setUint32(1, artifact);
  view.setUint32(5, offset);
  view.setUint32(9, total);
  frame.set(bytes, artifactHeaderBytes);
  return frame;
}

/** Null for anything that is not such a frame. `bytes` is a window on `frame`. */
export function decodeArtifactFrame(frame: Uint8Array): ArtifactFrame | null {
  if (frame.length <= artifactHeaderBytes) return null;
  if (frame.length > artifactHeaderBytes + verifySocketLimits.frameBytes) return null;
  const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength);
  if (view.getUint8(0) !== artifactFrameVersion) return null;
  return {
    artifact: view.getUint32(1),
    offset: view.getUint32(5),
    total: view.getUint32(9),
    bytes: frame.subarray(artifactHeaderBytes),
  };
}

/** The frames that carry `bytes`, in the order in which they are to be sent. */
export function* artifactFrames(artifact: number, bytes: Uint8Array): Generator<Uint8Array<ArrayBuffer>> {
  for (let offset = 0; offset < bytes.length; offset += verifySocketLimits.frameBytes) {
    const part = bytes.subarray(offset, offset + verifySocketLimits.frameBytes);
    yield encodeArtifactFrame({ artifact, offset, total: bytes.length, bytes: part });
  }
}
