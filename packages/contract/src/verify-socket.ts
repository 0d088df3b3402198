import { type Static, type TSchema, Type } from "typebox";

import { triesAllowed } from "./facts.ts";
import { closed, Nullable, OneOf, open, Timestamp } from "./schema.ts";
import { AttemptId, failureCodes, SessionId, UnmetRequirement } from "./sessions.ts";
import {
  attestationLimits,
  type ChipFile,
  chipFileLimits,
  chipFiles,
  type DeviceMessageType,
  faceColours,
  faceModes,
  faceMovements,
  type VerifyCloseCode,
  type VerifyFaultCode,
  verifyCloseCodes,
  verifyFaultCodes,
  verifyPhases,
  verifySocketLimits,
  verifySubprotocol,
} from "./verify-protocol.ts";

/**
 * The socket between a reading device and the service, typed once for both ends. Text frames are the JSON messages
 * below; binary frames are parts of artifacts (chip files and camera frames). Nothing that a device says about its own
 * checks counts: it sends files and passes on commands, and the service judges.
 */

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
  chip: Type.Integer({ minimum: 0, maximum: triesAllowed }),
  face: Type.Integer({ minimum: 0, maximum: triesAllowed }),
});

// --- device to service -------------------------------------------------------------------------------------

export const Hello = closed("VerifyHello", {
  type: Type.Literal("hello"),
  socket_token: Type.String({ minLength: 16, maxLength: 200, description: "From the claim." }),
});

/** Announces a file of the chip; its bytes follow in binary frames. `size` is exact. */
export const ChipFileMessage = closed("VerifyChipFile", {
  type: Type.Literal("chip_file"),
  artifact: ArtifactNumber,
  file: OneOf(chipFiles as readonly [ChipFile, ...ChipFile[]]),
  size: Type.Integer({ minimum: 1, maximum: chipFileLimits.DG2 }),
});

/** Every file that the chip has was sent whole: judge it. */
export const ChipDone = closed("VerifyChipDone", { type: Type.Literal("chip_done") });

/** The chip's answers to a `chip_command`. Fewer answers than commands mean a refusal. */
export const ChipAnswer = closed("VerifyChipAnswer", {
  type: Type.Literal("chip_answer"),
  exchange: Exchange,
  answers: Type.Array(Base64(verifySocketLimits.answerBytes, "Answer of the chip, with its status word."), {
    maxItems: verifySocketLimits.exchangeCommands,
  }),
});

/** The chip left the field during its proof. When it is open again a new exchange begins; no try is used. */
export const ChipLost = closed("VerifyChipLost", { type: Type.Literal("chip_lost") });

/** Discards the chip data and restarts the chip step; no try is used. Refused once the chip has passed. */
export const ChipRestart = closed("VerifyChipRestart", { type: Type.Literal("chip_restart") });

/** The person is in front of the camera (or, simulated, the test document decides): begin a face try. */
export const FaceStart = closed("VerifyFaceStart", {
  type: Type.Literal("face_start"),
  camera: Type.Optional(
    Type.Boolean({
      description:
        "In the sandbox, `true` has camera frames judged as in a live session; otherwise the test document decides. Ignored in live.",
    }),
  ),
  still_head: Type.Optional(
    Type.Boolean({
      description:
        "`true` for a person who cannot turn the head: the challenge asks for closed eyes, an open mouth or coming closer. It proves less, and the risk score says so.",
    }),
  ),
});

/** Announces one camera frame, a JPEG; its bytes follow in binary frames. */
export const FaceFrame = closed("VerifyFaceFrame", {
  type: Type.Literal("face_frame"),
  artifact: ArtifactNumber,
  size: Type.Integer({ minimum: 1, maximum: verifySocketLimits.faceFrameBytes }),
  at_ms: Type.Integer({
    minimum: 0,
    maximum: 120_000,
    description: "When it was taken, in milliseconds since the device showed the first colour.",
  }),
});

/** Every frame was sent whole: judge them. */
export const FaceDone = closed("VerifyFaceDone", {
  type: Type.Literal("face_done"),
  attestation: Type.Optional({
    ...closed({
      certificates: Type.Array(Base64(attestationLimits.certificateBytes, "A certificate, DER."), {
        minItems: 1,
        maxItems: attestationLimits.certificates,
        description: "From the one of the key to the one of the maker's root.",
      }),
      signature: Base64(attestationLimits.signatureBytes, "ECDSA with SHA-256, DER."),
    }),
    description:
      "Android key attestation by an app: a key that the phone's secure hardware made for the `nonce` of this challenge, and its signature over the nonce and the frames. A try without it does not fail.",
  }),
});

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
} as const satisfies Record<DeviceMessageType, TSchema>;
export type DeviceMessage = {
  [K in keyof typeof deviceMessages]: Static<(typeof deviceMessages)[K]>;
}[keyof typeof deviceMessages];

// --- service to device -------------------------------------------------------------------------------------

export const Welcome = open("VerifyWelcome", {
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
      "`camera`; `simulated` in the sandbox, where the test document decides unless `face_start` asks for the camera; `unavailable`: every face step fails.",
  }),
  expires_at: Timestamp,
});

/** The service works on what was sent. `busy` means that others come first: please wait, nothing is lost. */
export const Checking = open("VerifyChecking", {
  type: Type.Literal("checking"),
  phase: OneOf(verifyPhases),
  busy: Type.Boolean(),
});

/**
 * Commands for the chip.
 * - `in_session`: send them inside the device's own session with the chip, return each answer, and stop at the
 *   first refusal.
 * - `sealed`: pass the one command on unchanged. It ends the device's session with the chip.
 * - `challenge`: have the chip sign the bytes (INTERNAL AUTHENTICATE) and return the signature; no answer if the
 *   chip refused.
 */
export const ChipCommand = open("VerifyChipCommand", {
  type: Type.Literal("chip_command"),
  exchange: Exchange,
  proof: OneOf(["chip_authentication", "active_authentication", "chip_authentication_mapping"]),
  kind: OneOf(["in_session", "sealed", "challenge"]),
  commands: Type.Array(Type.String({ description: "Base64." }), { minItems: 1 }),
});

/** A try was judged and counted. `phase` is what comes next. */
export const StepResult = open("VerifyStepResult", {
  type: Type.Literal("step_result"),
  step: OneOf(["chip", "face"]),
  passed: Type.Boolean(),
  failure_code: Nullable(OneOf(failureCodes)),
  unmet_requirement: UnmetRequirement,
  tries_left: TriesLeft,
  phase: OneOf(verifyPhases),
});

/** Fresh and random for each try. */
export const FaceChallenge = open("VerifyFaceChallenge", {
  type: Type.Literal("face_challenge"),
  movements: Type.Array(OneOf(faceMovements), {
    description:
      "Movements in order, each from looking straight ahead and back again. Left and right are the person's.",
  }),
  colours: Type.Array(OneOf(faceColours), {
    description: "The whole screen shows them in order, repeating, as long as frames are taken.",
  }),
  colour_ms: Type.Integer({ minimum: 334, description: "How long each colour stays." }),
  deadline_ms: Type.Integer({
    minimum: 1,
    description: "From the arrival of this message to that of `face_done`.",
  }),
  nonce: Base64(32, "The value that an app's attested key is made for, new for each challenge."),
});

/** A fault of the service. No try was used; `phase` says where to continue. */
export const Fault = open("VerifyFault", {
  type: Type.Literal("fault"),
  code: OneOf(Object.keys(verifyFaultCodes) as [VerifyFaultCode, ...VerifyFaultCode[]]),
  message: Type.String(),
  phase: OneOf(verifyPhases),
});

/** The session has its outcome. The service closes the socket after it. */
export const OutcomeMessage = open("VerifyOutcome", {
  type: Type.Literal("outcome"),
  status: OneOf(["succeeded", "failed"]),
  failure_code: Nullable(OneOf(failureCodes)),
  unmet_requirement: UnmetRequirement,
});

/** Sent before the service closes the socket for anything but an outcome. */
export const Closing = open("VerifyClosing", {
  type: Type.Literal("closing"),
  code: OneOf(Object.keys(verifyCloseCodes) as [VerifyCloseCode, ...VerifyCloseCode[]]),
  message: Type.String(),
});

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
