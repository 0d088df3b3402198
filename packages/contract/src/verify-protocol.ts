/**
 * The protocol of the verify socket without its message schemas: limits, phases, codes and the codec of
 * binary frames. This file imports nothing, so that a device can use it without the schema library.
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
  /** Sent only when DG1 leaves the century of birth open. */
  DG11: 16 * kibibyte,
  DG14: 16 * kibibyte,
  DG15: 8 * kibibyte,
  /** Sent only where DG14 announces the chip authentication mapping and no other proof. */
  CardSecurity: 16 * kibibyte,
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
  /**
   * One camera frame. A drawn person at 360 by 480 pixels takes 25 KiB, pure noise 267. Larger values let a
   * stranger make the service hold and decode more.
   */
  faceFrameBytes: 256 * kibibyte,
  /**
   * Camera frames of one try. 110 last 31 seconds at the slowest pace of 300 ms. With fewer, slow people run
   * out of frames before the last movement. A worker needs about 9 seconds for 110.
   */
  faceFrames: 110,
  /**
   * All camera frames of one try, held in memory until it is judged: four times 110 drawn frames. A smaller
   * value refuses noisy cameras; a larger one costs memory for every try in progress.
   */
  faceBytes: 12 * 1024 * kibibyte,
  /** Commands in one exchange with the chip, and bytes of one answer. */
  exchangeCommands: 4,
  answerBytes: 4 * kibibyte,
  /** How often one try may restart its proof because the chip left the field. */
  proofRestarts: 8,
  /** From opening the socket to `hello`. */
  helloMs: 10_000,
  /** The longest silence while it is the device's turn. */
  idleMs: 10 * 60_000,
  /** The service pings this often; a socket that answers none of three is closed. */
  heartbeatMs: 15_000,
  /**
   * Time from the end of a challenge to the forced end of its capture. The service then overwrites the frames
   * and closes the socket with `IDLE_TIMEOUT`; no try is used, and the challenge counts as unanswered. A late
   * `face_done` before that fails the try. Too short: an answer sent in time over a slow network meets a
   * closed socket.
   */
  captureGraceMs: 5_000,
  /** How long the chip's bytes are kept in memory for a device that has lost its connection. */
  resumeMs: 120_000,
} as const;

/**
 * What a device may send to vouch for itself. Chains of real phones have three to six certificates of up to
 * 1.5 kB. At twice these limits `face_done` would no longer fit into a text frame.
 */
export const attestationLimits = {
  certificates: 10,
  certificateBytes: 4 * kibibyte,
  signatureBytes: 128,
} as const;

/**
 * What an attested key signs: these bytes, the nonce of the challenge,
 * and the SHA-256 of each frame in the order of announcement.
 */
export function framesToSign(
  nonce: Uint8Array,
  frameDigests: readonly Uint8Array[],
): Uint8Array<ArrayBuffer> {
  const parts = [new TextEncoder().encode("assay frames 1\n"), nonce, ...frameDigests];
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/**
 * Whose turn it is in each phase.
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
 * `simulated`: sandbox only; the test document decides unless the device starts with a camera.
 * `unavailable`: every face step fails.
 */
export const faceModes = ["camera", "simulated", "unavailable"] as const;
export type FaceMode = (typeof faceModes)[number];

/** Movements of an ordinary challenge. */
export const turningMovements = ["turn_left", "turn_right", "look_up", "come_closer"] as const;
/**
 * Movements of a challenge for people who cannot turn their head. No sequence of these is also one of the
 * others, because `come_closer` does not follow itself.
 */
export const stillHeadMovements = ["close_eyes", "open_mouth", "come_closer"] as const;
export const faceMovements = [...turningMovements, "close_eyes", "open_mouth"] as const;
export type FaceMovement = (typeof faceMovements)[number];

/** Whether a challenge asks for no turn of the head. */
export function isForStillHead(movements: readonly FaceMovement[]): boolean {
  return movements.some((movement) => movement === "close_eyes" || movement === "open_mouth");
}

/** Colours of the device's screen while the face is filmed. */
export const faceColours = ["red", "green", "blue", "white"] as const;
export type FaceColour = (typeof faceColours)[number];

/** A fault on the service's side. It uses up no try; the step can be taken again. */
export const verifyFaultCodes = {
  TRUST_STORE_EMPTY: "This service trusts no issuing authority yet. The operator must import some.",
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
  IDLE_TIMEOUT: { status: 4408, about: "The device was silent for too long." },
  REPLACED: { status: 4409, about: "The same device has opened another socket, which continues." },
  OUT_OF_ORDER: { status: 4409, about: "The message does not belong to this phase." },
  ALREADY_PASSED: { status: 4409, about: "The chip has passed; its files cannot be sent again." },
  STALE_EXCHANGE: { status: 4409, about: "The answer belongs to an earlier exchange with the chip." },
  SESSION_ENDED: {
    status: 4410,
    about: "The session has ended or expired, or another device has claimed it.",
  },
  ARTIFACT_INVALID: {
    status: 4413,
    about: "An artifact was not announced, is too large, or its parts do not follow each other.",
  },
  BUSY: {
    status: 1013,
    about:
      "The service has no memory left for what this device would send. Nothing was counted; connect again in a moment.",
  },
  INTERNAL: { status: 1011, about: "Something went wrong on our side. Connect again." },
} as const;
export type VerifyCloseCode = keyof typeof verifyCloseCodes;

// --- who may say what, when --------------------------------------------------------------------------------

export const deviceMessageTypes = [
  "hello",
  "chip_file",
  "chip_done",
  "chip_answer",
  "chip_lost",
  "chip_restart",
  "face_start",
  "face_frame",
  "face_done",
] as const;
export type DeviceMessageType = (typeof deviceMessageTypes)[number];
/** Inputs of a device after hello: messages, and the binary parts of announced artifacts. */
export type DeviceInputType = Exclude<DeviceMessageType, "hello"> | "part";

/** `taken`: the message belongs here. Otherwise the socket is closed with the code. */
export type PhaseRule =
  | "taken"
  | Extract<VerifyCloseCode, "OUT_OF_ORDER" | "ALREADY_PASSED" | "SESSION_ENDED">;

/** A row of the table below, in the order of `verifyPhases`. */
function inPhases(...rules: readonly PhaseRule[]): Readonly<Record<VerifyPhase, PhaseRule>> {
  if (rules.length !== verifyPhases.length) throw new Error("a row of the protocol's table is not complete");
  return Object.fromEntries(verifyPhases.map((phase, index) => [phase, rules[index]])) as Record<
    VerifyPhase,
    PhaseRule
  >;
}

const taken = "taken";
const early = "OUT_OF_ORDER";
/** The chip step is over: nothing about the chip is heard again. */
const passed = "ALREADY_PASSED";
const ended = "SESSION_ENDED";

/**
 * What the service does with each message in each phase (the protocol's transition table). The service
 * refuses by it, a device sends only what it allows, and the documentation prints it.
 */
export const phaseRules: Readonly<Record<DeviceInputType, Readonly<Record<VerifyPhase, PhaseRule>>>> = {
  //                     chip   chip_check chip_proof face    face_capture face_check ended
  chip_file: inPhases(taken, early, early, passed, passed, passed, ended),
  chip_done: inPhases(taken, early, early, passed, passed, passed, ended),
  chip_answer: inPhases(early, early, taken, passed, passed, passed, ended),
  chip_lost: inPhases(early, early, taken, passed, passed, passed, ended),
  chip_restart: inPhases(taken, early, taken, passed, passed, passed, ended),
  face_start: inPhases(early, early, early, taken, early, early, ended),
  face_frame: inPhases(early, early, early, early, taken, early, ended),
  face_done: inPhases(early, early, early, early, taken, early, ended),
  part: inPhases(taken, early, early, passed, taken, passed, ended),
};

// --- binary frames -----------------------------------------------------------------------------------------

/**
 * Layout, big endian: 1 byte version (1), 4 bytes artifact,
 * 4 bytes offset, 4 bytes total size, then the bytes.
 */
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

/** The frames that carry `bytes`, in sending order. */
export function* artifactFrames(artifact: number, bytes: Uint8Array): Generator<Uint8Array<ArrayBuffer>> {
  for (let offset = 0; offset < bytes.length; offset += verifySocketLimits.frameBytes) {
    const part = bytes.subarray(offset, offset + verifySocketLimits.frameBytes);
    yield encodeArtifactFrame({ artifact, offset, total: bytes.length, bytes: part });
  }
}
