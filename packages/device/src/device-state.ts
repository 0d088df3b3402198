import type { RequirementName } from "@assay/contract/facts";
import type { FailureCode } from "@assay/contract/sessions";
import type {
  FaceColour,
  FaceMode,
  FaceMovement,
  VerifyFaultCode,
  VerifyPhase,
} from "@assay/contract/verify-protocol";
import type { DeviceMessage, ServiceMessage } from "@assay/contract/verify-socket";

/** The state of a device's flow, its inputs and its effects: see `device-flow.ts`. */
export type DeviceState = {
  /** Null where a person says what to do and when. */
  readonly plan: UnattendedPlan | null;
  readonly end: DeviceEnd | null;
  /** Not started yet, or stopped. */
  readonly stopped: boolean;

  readonly link: "none" | "waiting" | "claiming" | "opening" | "greeting" | "open";
  /**
   * What the person sees of the connection. While reconnecting it is `lost`, until the service says welcome.
   */
  readonly connection: "connecting" | "open" | "lost" | "gone" | "closed";
  readonly token: string | null;
  /** Connections that failed since the last welcome. */
  readonly failures: number;
  /** Sockets that were closed because of something this device said. */
  readonly ownMistakes: number;
  readonly announcedClose: string | null;
  readonly lastClose: string | null;

  /** The phase as far as the device knows: the last one from the service, advanced by what was sent since. */
  readonly phase: VerifyPhase | null;
  readonly busy: boolean;
  readonly triesLeft: { readonly chip: number; readonly face: number } | null;
  readonly faceMode: FaceMode;

  readonly chip: ChipInHand | null;
  readonly command: ChipCommand | null;
  /** Restarts of the proof since the files were sent. The service limits them (`proofRestarts`). */
  readonly proofRestarts: number;
  readonly step: ReadStep | null;
  readonly problem: ReadProblem | null;

  /** The face check that the person has started and that no verdict, fault or stop has ended. */
  readonly faceSource: FaceSourceKind | null;
  /** `face_start` was sent on this connection and not answered yet. */
  readonly faceAsked: boolean;
  /** A challenge that was issued and not begun: it came on a new connection, or after the person stopped. */
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
  /** Unattended only: a timer runs until the next request for a face check that was refused as busy. */
  readonly waitsForTurn: boolean;
  readonly turnsWaited: number;
  readonly outcome: {
    readonly status: "succeeded" | "failed";
    readonly failureCode: FailureCode | null;
    readonly unmetRequirement: RequirementName | null;
  } | null;
  /** The code of a refused claim, or of a close after which this device stops. */
  readonly refused: string | null;

  /** The driver's jobs are numbered, so that a result that comes too late is recognised. */
  readonly nextJob: number;
  readonly claimJob: number | null;
};

/** A chip that is being read, or was read and may have to answer commands. */
type ChipInHand = {
  readonly read: boolean;
  /**
   * The device's session with the chip belongs to an earlier exchange:
   * reopen the chip before the next command.
   */
  readonly stale: boolean;
  /** The chip's current work. It does one thing at a time. */
  readonly job: { readonly id: number; readonly doing: "reading" | { readonly exchange: string } } | null;
};

/** Passed to reader apps unchanged; they read `at`. */
export type ReadStep =
  | { readonly at: "connecting" | "opening" | "sending" | "checking" | "proof" }
  | { readonly at: "data" | "portrait"; readonly readBytes: number; readonly totalBytes: number };

/**
 * Why the device could not read the chip; none of these uses up a try. `device`: our reader failed, which
 * says nothing about the document.
 */
export type ReadProblem = "lost" | "key" | "unreadable" | "unsupported" | "device";

/** The service's request for one try. */
export type FaceChallenge = {
  readonly movements: readonly FaceMovement[];
  readonly colours: readonly FaceColour[];
  readonly colourMs: number;
  /** On this device's clock. */
  readonly endsAtMs: number;
  /** The value that an attested key is made for, base64; null from a service of the previous version. */
  readonly nonce: string | null;
};

/** The attestation of the sent frames by the phone's secure hardware. */
export type FrameAttestation = NonNullable<Extract<DeviceMessage, { type: "face_done" }>["attestation"]>;
type PendingChallenge = FaceChallenge & {
  /**
   * The challenge has its full time: it was requested on this connection, and the person still waits for it.
   */
  readonly fresh: boolean;
};

/**
 * What decides about the face: camera frames, or in the sandbox the test document.
 * `still_camera`: the person cannot turn their head.
 */
export type FaceSourceKind = "camera" | "still_camera" | "test_document";

export type ChipCommand = Extract<ServiceMessage, { type: "chip_command" }>;

/** What an unattended device does. */
export type UnattendedPlan = { readonly camera: boolean; readonly stopAfterChip: boolean };

/** How an unattended device ended. */
export type DeviceEnd =
  | { readonly kind: "succeeded" }
  | {
      readonly kind: "failed";
      readonly failureCode: FailureCode | null;
      readonly unmetRequirement: RequirementName | null;
    }
  | { readonly kind: "stopped"; readonly after: "chip" }
  /** The chip has passed, and the face has to be shown to another device. */
  | { readonly kind: "face_elsewhere" }
  | { readonly kind: "fault"; readonly code: string; readonly message: string }
  | { readonly kind: "closed"; readonly code: string }
  /** The chip could not be read, or the camera gave no picture; the driver has the error. */
  | { readonly kind: "problem"; readonly problem: ReadProblem | "camera" };

export type DeviceTimer = "reconnect" | "challenge" | "turn";

export type PersonWish =
  /** With the socket token that was kept when the page was loaded before, if any. */
  | { readonly kind: "start"; readonly token: string | null }
  | { readonly kind: "stop" }
  | { readonly kind: "retry" }
  | { readonly kind: "read_chip" }
  | { readonly kind: "start_face"; readonly source: FaceSourceKind }
  | { readonly kind: "stop_face" }
  /** The person begins again: verdict, fault and problem of the last try are cleared. */
  | { readonly kind: "forget_setbacks" };

export type DeviceInput =
  | PersonWish
  | { readonly kind: "message"; readonly message: ServiceMessage }
  | { readonly kind: "claimed"; readonly job: number; readonly token: string }
  /** `code` is null when there was no answer. */
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

/** The messages that the flow sends. The driver announces files and frames, because it has their bytes. */
export type SpokenMessage = Exclude<DeviceMessage, { type: "chip_file" | "chip_done" | "face_frame" }>;

export type DeviceEffect =
  | { readonly kind: "claim"; readonly job: number }
  | { readonly kind: "keep_token"; readonly token: string | null }
  | { readonly kind: "connect" }
  /** Closes the connection; nothing that still arrives on it becomes an input. */
  | { readonly kind: "disconnect" }
  | { readonly kind: "send"; readonly message: SpokenMessage }
  /** Announces and sends what was read of the chip, then says `chip_done`. */
  | { readonly kind: "send_files" }
  | { readonly kind: "send_frame"; readonly jpeg: Uint8Array; readonly atMs: number }
  | { readonly kind: "read_chip"; readonly job: number }
  | { readonly kind: "reopen_chip"; readonly job: number }
  | {
      readonly kind: "pass_on";
      readonly job: number;
      readonly command: ChipCommand;
      readonly reopenFirst: boolean;
    }
  /** Also aborts what the chip is doing; its result is dropped. */
  | { readonly kind: "release_chip" }
  | { readonly kind: "start_capture"; readonly job: number; readonly challenge: FaceChallenge }
  | { readonly kind: "abort_capture" }
  | { readonly kind: "set_timer"; readonly timer: DeviceTimer; readonly ms: number }
  | { readonly kind: "clear_timer"; readonly timer: DeviceTimer }
  /** Shown by programs that run a device without a screen. */
  | { readonly kind: "report"; readonly step: string };

export type DeviceStep = { readonly state: DeviceState; readonly effects: readonly DeviceEffect[] };

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
