import type { FailureCode } from "@assay/contract/sessions";
import type {
  ChipFile,
  FaceColour,
  FaceMode,
  FaceMovement,
  VerifyCloseCode,
  VerifyFaultCode,
  VerifyPhase,
} from "@assay/contract/verify-protocol";
import type { DeviceMessage, ServiceMessage } from "@assay/contract/verify-socket";
import { codeOf, type SessionApi } from "../session/api.ts";
import type { Kept } from "../session/kept.ts";
import type { OpenedChip, ReadStep } from "./read-chip.ts";

/** How a document is opened: found by the caller, which knows whether it is a software chip or a real one. */
export type ChipSource = (onStep: (step: ReadStep) => void) => Promise<OpenedChip>;

/** Why the chip could not be read on this side. It uses up no try. */
export type ReadProblem = "lost" | "key" | "unreadable" | "unsupported";

/** What the service asks for in one try. */
export type FaceChallenge = {
  readonly movements: readonly FaceMovement[];
  readonly colours: readonly FaceColour[];
  readonly colourMs: number;
  /** On this device's clock. */
  readonly endsAtMs: number;
};

/** Gives frames as JPEG until the movements are over, or until the signal says that they lead nowhere any more. */
export type FaceCapture = (
  challenge: FaceChallenge,
  sendFrame: (jpeg: Uint8Array, atMs: number) => void,
  signal: AbortSignal,
) => Promise<void>;

/** Who decides about the face: the camera's frames, or in the sandbox the test document. */
export type FaceSource = FaceCapture | "test_document";

export type DeviceState = {
  connection: "connecting" | "open" | "lost" | "gone" | "closed";
  phase: VerifyPhase | null;
  step: ReadStep | null;
  busy: boolean;
  reading: boolean;
  problem: ReadProblem | null;
  triesLeft: { chip: number; face: number } | null;
  face: FaceMode;
  /** An earlier challenge has to run out before a new one can be had. */
  faceWaits: boolean;
  failure: { step: "chip" | "face"; code: FailureCode } | null;
  fault: VerifyFaultCode | null;
  outcome: { status: "succeeded" | "failed"; failureCode: FailureCode | null } | null;
  /** The code of a claim that was refused, or of a close that ends it here. */
  refused: string | null;
};

const initial: DeviceState = {
  connection: "connecting",
  phase: null,
  step: null,
  busy: false,
  reading: false,
  problem: null,
  triesLeft: null,
  face: "camera",
  faceWaits: false,
  failure: null,
  fault: null,
  outcome: null,
  refused: null,
};

const backoffMs = [300, 1_000, 2_000, 4_000, 8_000] as const;
const triesBeforeGone = 8;
/** A challenge that is taken up again with less time than this would only fail; it is left to run out. */
const leastTimeForFaceMs = 33_000;
/** The clocks of both sides need not agree on when a challenge has run out. */
const runOutMarginMs = 300;

/** The reading device's end of the socket: connects, resumes, reads, passes on, and tells the page what is going on. */
export class DeviceSession {
  readonly #api: SessionApi;
  readonly #kept: Kept;
  readonly #listeners = new Set<() => void>();
  #state: DeviceState = initial;
  #socket: WebSocket | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #failures = 0;
  #stopped = false;
  #artifact = 0;
  #chip: OpenedChip | null = null;
  /** The chip has a session of an earlier exchange, and must be opened anew before it hears the next one. */
  #chipIsStale = false;
  /** What the person has started and no verdict, fault or stop has ended. */
  #faceSource: FaceSource | null = null;
  /** Given out before, on a connection or a page that is gone. */
  #challenge: FaceChallenge | null = null;
  #capturing: AbortController | null = null;
  /** A challenge that comes now is a fresh one, with all its time. */
  #asked = false;
  #waiting: ReturnType<typeof setTimeout> | undefined;
  #protocolErrors = 0;
  #protocol: typeof import("@assay/contract/verify-protocol") | null = null;

  constructor(api: SessionApi, kept: Kept) {
    this.#api = api;
    this.#kept = kept;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly state = (): DeviceState => this.#state;

  start(): void {
    this.#stopped = false;
    window.addEventListener("online", this.#reconnectNow);
    document.addEventListener("visibilitychange", this.#reconnectNow);
    void this.#connect();
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    window.removeEventListener("online", this.#reconnectNow);
    document.removeEventListener("visibilitychange", this.#reconnectNow);
    this.#endCapture();
    this.#socket?.close(1000);
    this.#socket = null;
    this.#dropChip();
  }

  retry(): void {
    this.#failures = 0;
    this.#protocolErrors = 0;
    this.#set({ connection: "connecting", refused: null });
    void this.#connect();
  }

  /** Reads the chip whole and sends it to be judged. */
  async readChip(source: ChipSource): Promise<void> {
    if (this.#state.reading || this.#state.phase !== "chip") return;
    this.#set({ reading: true, problem: null, failure: null, fault: null, step: { at: "connecting" } });
    try {
      this.#dropChip();
      const opened = await source((step) => this.#set({ step }));
      this.#chip = opened;
      this.#chipIsStale = false;
      const files = await opened.readFiles();
      this.#set({ step: { at: "sending" } });
      this.#sendFiles(files);
    } catch (error) {
      const { problemOf } = await import("./read-chip.ts");
      this.#dropChip();
      this.#set({ problem: problemOf(error), reading: false, step: null });
    }
  }

  /** The person begins anew; what went wrong before has been read. */
  forgetSetbacks(): void {
    this.#set({ failure: null, fault: null });
  }

  startFace(source: FaceSource): void {
    if (this.#state.phase !== "face") return;
    this.#faceSource = source;
    this.forgetSetbacks();
    if (this.#challenge === null) this.#askForFace();
    else this.#takeUpChallenge(this.#challenge);
  }

  /** Ends what was started without a verdict, so that no try is used. */
  stopFace(): void {
    const sent = this.#capturing !== null;
    this.#faceSource = null;
    this.#endCapture();
    if (this.#state.phase !== "face_capture") return;
    this.#set({ phase: "face" });
    // The frames of the next try must not be added to those of this one.
    if (sent) this.#connectAnew();
  }

  readonly #reconnectNow = () => {
    if (document.visibilityState !== "visible" || this.#state.connection !== "lost") return;
    clearTimeout(this.#timer);
    void this.#connect();
  };

  async #connect(): Promise<void> {
    if (this.#stopped || this.#socket !== null) return;
    try {
      this.#protocol ??= await import("@assay/contract/verify-protocol");
      const token = this.#kept.reading?.socketToken ?? (await this.#claim());
      if (token === null || this.#stopped || this.#socket !== null) return;
      this.#open(token, this.#protocol);
    } catch (error) {
      const code = codeOf(error);
      if (code === null || code === "INTERNAL_SERVER_ERROR" || code === "SERVICE_UNAVAILABLE") this.#lost();
      else this.#end(code);
    }
  }

  /** Takes the session for this device, or takes it up again. */
  async #claim(): Promise<string | null> {
    const reading = this.#kept.reading;
    const token = reading?.handoffToken ?? (await this.#api.handoff(this.#kept.cancelToken)).handoff_token;
    const claimed = await this.#api.claim(token, this.#kept.deviceId());
    this.#kept.reading = { handoffToken: reading?.handoffToken ?? null, socketToken: claimed.socket_token };
    return claimed.socket_token;
  }

  #open(token: string, protocol: typeof import("@assay/contract/verify-protocol")): void {
    const path = protocol.verifySocketPath(this.#api.sessionId);
    const socket = new WebSocket(
      `${location.origin.replace(/^http/, "ws")}${path}`,
      protocol.verifySubprotocol,
    );
    socket.binaryType = "arraybuffer";
    this.#socket = socket;
    this.#artifact = 0;
    let told: VerifyCloseCode | null = null;
    socket.onopen = () => this.#send({ type: "hello", socket_token: token });
    socket.onmessage = (event) => {
      if (typeof event.data !== "string" || this.#socket !== socket) return;
      const message = JSON.parse(event.data) as ServiceMessage;
      if (message.type === "closing") told = message.code;
      this.#handle(message);
    };
    socket.onclose = (event) => {
      if (this.#socket !== socket) return;
      this.#socket = null;
      this.#endCapture();
      this.#onClose((told ?? event.reason) as VerifyCloseCode | "");
    };
  }

  #onClose(code: VerifyCloseCode | ""): void {
    if (this.#stopped || this.#state.outcome !== null) return;
    switch (code) {
      case "OUTCOME":
        return;
      case "SESSION_ENDED":
      case "REPLACED":
        this.#end(code);
        return;
      case "SOCKET_TOKEN_INVALID": {
        // The token is dead when this device claimed again elsewhere, or another took over: only a new claim can tell.
        const reading = this.#kept.reading;
        if (reading !== null) this.#kept.reading = { ...reading, socketToken: null };
        this.#lost();
        return;
      }
      case "SHUTTING_DOWN":
      case "INTERNAL":
      case "IDLE_TIMEOUT":
      case "HELLO_TIMEOUT":
      case "":
        this.#lost();
        return;
      default:
        // This page said something that the service does not accept. Doing it over and over would not help.
        this.#protocolErrors += 1;
        if (this.#protocolErrors > 2) this.#set({ connection: "gone", reading: false });
        else this.#lost();
    }
  }

  #connectAnew(): void {
    const socket = this.#socket;
    this.#socket = null;
    this.#endCapture();
    socket?.close(1000);
    this.#set({ connection: "connecting" });
    void this.#connect();
  }

  #lost(): void {
    if (this.#stopped) return;
    const wait = backoffMs[Math.min(this.#failures, backoffMs.length - 1)] ?? 8_000;
    this.#failures += 1;
    if (this.#failures > triesBeforeGone) {
      this.#set({ connection: "gone", reading: false });
      return;
    }
    this.#set({ connection: "lost" });
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#connect(), wait);
  }

  #end(code: string): void {
    this.#dropChip();
    this.#set({ connection: "closed", refused: code, reading: false });
  }

  #handle(message: ServiceMessage): void {
    switch (message.type) {
      case "welcome": {
        this.#failures = 0;
        const before = this.#state.triesLeft?.chip;
        // A verdict that got lost on the way has used up a try: sending the same chip again would use up another.
        if (before !== undefined && message.tries_left.chip < before) this.#dropChip();
        this.#challenge = null;
        this.#set({
          connection: "open",
          phase: message.phase,
          triesLeft: message.tries_left,
          face: message.face,
          busy: false,
          refused: null,
        });
        this.#takeUp(message.phase);
        return;
      }
      case "checking":
        this.#set({
          phase: message.phase,
          busy: message.busy,
          ...(message.phase === "chip_check" ? { step: { at: "checking" } } : {}),
        });
        return;
      case "chip_command":
        void this.#passOn(message);
        return;
      case "step_result":
        this.#set({
          phase: message.phase,
          triesLeft: message.tries_left,
          busy: false,
          reading: false,
          step: null,
          failure: message.failure_code === null ? null : { step: message.step, code: message.failure_code },
        });
        if (message.step === "chip") this.#dropChip();
        else this.#faceSource = null;
        return;
      case "face_challenge":
        this.#onChallenge({
          movements: message.movements,
          colours: message.colours,
          colourMs: message.colour_ms,
          endsAtMs: Date.now() + message.deadline_ms,
        });
        return;
      case "fault":
        this.#faceSource = null;
        this.#endCapture();
        this.#set({ phase: message.phase, fault: message.code, busy: false, reading: false, step: null });
        return;
      case "outcome":
        this.#set({
          phase: "ended",
          connection: "closed",
          reading: false,
          outcome: { status: message.status, failureCode: message.failure_code },
        });
        return;
      case "closing":
        return;
      default:
        // A newer service may say more; what this page does not know it can leave.
        message satisfies never;
    }
  }

  /** After a connection was lost: the service forgot files that it had not judged, so they are sent again. */
  #takeUp(phase: VerifyPhase): void {
    const files = this.#chip?.files() ?? null;
    this.#chipIsStale = true;
    if (phase === "chip" && files !== null) {
      this.#set({ step: { at: "sending" } });
      this.#sendFiles(files);
    } else if (phase === "face" || (phase === "chip" && this.#chip === null)) {
      this.#set({ reading: false, step: null });
    }
    if (phase === "face" && this.#faceSource !== null) this.#askForFace();
  }

  #dropChip(): void {
    this.#chip?.release();
    this.#chip = null;
  }

  #sendFiles(files: Readonly<Partial<Record<ChipFile, Uint8Array>>>): void {
    const protocol = this.#protocol;
    if (protocol === null || this.#socket?.readyState !== WebSocket.OPEN) return;
    for (const file of protocol.chipFiles) {
      const bytes = files[file];
      if (bytes === undefined) continue;
      const artifact = ++this.#artifact;
      this.#send({ type: "chip_file", artifact, file, size: bytes.length });
      for (const frame of protocol.artifactFrames(artifact, bytes)) this.#socket.send(frame);
    }
    this.#send({ type: "chip_done" });
  }

  async #passOn(message: Extract<ServiceMessage, { type: "chip_command" }>): Promise<void> {
    const chip = this.#chip;
    if (chip === null) {
      // The page was loaded anew since it read the chip.
      this.#beginChipAnew(null);
      return;
    }
    this.#set({ phase: "chip_proof", step: { at: "proof" }, busy: false, reading: true });
    const socket = this.#socket;
    try {
      if (this.#chipIsStale) await chip.reopen();
      this.#chipIsStale = false;
      const answers = await chip.passOn(message.kind, message.commands);
      if (answers === "lost") {
        // A fresh exchange begins once the chip is open again.
        await chip.reopen();
        if (this.#socket === socket) this.#send({ type: "chip_lost" });
      } else if (this.#socket === socket) {
        this.#send({ type: "chip_answer", exchange: message.exchange, answers });
      }
    } catch {
      this.#dropChip();
      if (this.#socket === socket) this.#beginChipAnew("lost");
    }
  }

  #beginChipAnew(problem: ReadProblem | null): void {
    this.#send({ type: "chip_restart" });
    this.#set({ problem, reading: false, step: null, phase: "chip", busy: false });
  }

  #askForFace(): void {
    // Asked as soon as the service has said welcome.
    if (this.#state.connection !== "open") return;
    this.#asked = true;
    this.#send(
      this.#faceSource === "test_document" ? { type: "face_start" } : { type: "face_start", camera: true },
    );
  }

  #onChallenge(challenge: FaceChallenge): void {
    const fresh = this.#asked;
    this.#asked = false;
    if (this.#faceSource === null) {
      // The page was loaded anew in the middle of it, or the person stopped; it is theirs to start.
      this.#challenge = challenge;
      this.#set({ phase: "face" });
    } else if (fresh && this.#faceSource !== "test_document")
      void this.#captureFace(challenge, this.#faceSource);
    else this.#takeUpChallenge(challenge);
  }

  /** The service gives out no other challenge before this one has run out. */
  #takeUpChallenge(challenge: FaceChallenge): void {
    const leftMs = challenge.endsAtMs - Date.now();
    const source = this.#faceSource;
    if (source !== null && source !== "test_document" && leftMs >= leastTimeForFaceMs) {
      this.#challenge = null;
      void this.#captureFace(challenge, source);
      return;
    }
    this.#challenge = challenge;
    this.#set({ phase: "face", faceWaits: true });
    clearTimeout(this.#waiting);
    this.#waiting = setTimeout(() => this.#connectAnew(), Math.max(0, leftMs) + runOutMarginMs);
  }

  #endCapture(): void {
    clearTimeout(this.#waiting);
    this.#capturing?.abort();
    this.#capturing = null;
    this.#asked = false;
    if (this.#state.faceWaits) this.#set({ faceWaits: false });
  }

  async #captureFace(challenge: FaceChallenge, capture: FaceCapture): Promise<void> {
    const socket = this.#socket;
    const protocol = this.#protocol;
    if (socket === null || protocol === null) return;
    const capturing = new AbortController();
    this.#capturing = capturing;
    this.#set({ phase: "face_capture" });
    let frames = 0;
    const sendFrame = (jpeg: Uint8Array, atMs: number) => {
      if (capturing.signal.aborted || socket.readyState !== WebSocket.OPEN) return;
      if (frames >= protocol.verifySocketLimits.faceFrames) return;
      if (jpeg.length > protocol.verifySocketLimits.faceFrameBytes) return;
      frames += 1;
      const artifact = ++this.#artifact;
      this.#send({ type: "face_frame", artifact, size: jpeg.length, at_ms: Math.round(atMs) });
      for (const frame of protocol.artifactFrames(artifact, jpeg)) socket.send(frame);
    };
    await capture(challenge, sendFrame, capturing.signal);
    if (capturing.signal.aborted) return;
    this.#capturing = null;
    this.#faceSource = null;
    this.#set({ phase: "face_check" });
    this.#send({ type: "face_done" });
  }

  #send(message: DeviceMessage): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  #set(change: Partial<DeviceState>): void {
    this.#state = { ...this.#state, ...change };
    for (const listener of this.#listeners) listener();
  }
}
