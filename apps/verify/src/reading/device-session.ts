import type { FailureCode } from "@assay/contract/sessions";
import type {
  ChipFile,
  DeviceMessage,
  FaceMode,
  FaceMovement,
  ServiceMessage,
  VerifyCloseCode,
  VerifyFaultCode,
  VerifyPhase,
} from "@assay/contract/verify-socket";
import { codeOf, type SessionApi } from "../session/api.ts";
import type { Kept } from "../session/kept.ts";
import type { OpenedChip, ReadStep } from "./read-chip.ts";

/** How a document is opened: found by the caller, which knows whether it is a software chip or a real one. */
export type ChipSource = (onStep: (step: ReadStep) => void) => Promise<OpenedChip>;

/** Why the chip could not be read on this side. It uses up no try. */
export type ReadProblem = "lost" | "key" | "unreadable" | "unsupported";

/** Gives frames as JPEG until the movements are over. */
export type FaceCapture = (
  movements: readonly FaceMovement[],
  deadlineMs: number,
  sendFrame: (jpeg: Uint8Array, atMs: number) => void,
) => Promise<void>;

export type DeviceState = {
  connection: "connecting" | "open" | "lost" | "gone" | "closed";
  phase: VerifyPhase | null;
  step: ReadStep | null;
  busy: boolean;
  reading: boolean;
  problem: ReadProblem | null;
  triesLeft: { chip: number; face: number } | null;
  face: FaceMode;
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
  failure: null,
  fault: null,
  outcome: null,
  refused: null,
};

const backoffMs = [300, 1_000, 2_000, 4_000, 8_000] as const;
const triesBeforeGone = 8;

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
  #capture: FaceCapture | null = null;
  #challenge: { movements: readonly FaceMovement[]; endsAtMs: number } | null = null;
  #protocolErrors = 0;
  #protocol: typeof import("@assay/contract/verify-socket") | null = null;

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

  startFace(capture: FaceCapture | null): void {
    if (this.#state.phase !== "face") return;
    this.#capture = capture;
    this.#set({ failure: null, fault: null });
    const challenge = this.#challenge;
    this.#challenge = null;
    if (challenge === null) this.#send({ type: "face_start" });
    else if (challenge.endsAtMs > Date.now())
      void this.#captureFace(challenge.movements, challenge.endsAtMs - Date.now());
    // Connecting anew after its deadline ends a challenge without a verdict.
    else this.#socket?.close(1000);
  }

  readonly #reconnectNow = () => {
    if (document.visibilityState !== "visible" || this.#state.connection !== "lost") return;
    clearTimeout(this.#timer);
    void this.#connect();
  };

  async #connect(): Promise<void> {
    if (this.#stopped || this.#socket !== null) return;
    try {
      this.#protocol ??= await import("@assay/contract/verify-socket");
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

  #open(token: string, protocol: typeof import("@assay/contract/verify-socket")): void {
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
        return;
      case "face_challenge":
        if (this.#capture === null) {
          // The page was loaded anew in the middle of it; the person has to start the camera first.
          this.#challenge = { movements: message.movements, endsAtMs: Date.now() + message.deadline_ms };
          this.#set({ phase: "face" });
        } else void this.#captureFace(message.movements, message.deadline_ms);
        return;
      case "fault":
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

  async #captureFace(movements: readonly FaceMovement[], deadlineMs: number): Promise<void> {
    this.#set({ phase: "face_capture" });
    const socket = this.#socket;
    const protocol = this.#protocol;
    if (this.#capture === null || protocol === null) return;
    let frames = 0;
    await this.#capture(movements, deadlineMs, (jpeg, atMs) => {
      if (this.#socket !== socket || socket?.readyState !== WebSocket.OPEN) return;
      if (frames >= protocol.verifySocketLimits.faceFrames) return;
      if (jpeg.length > protocol.verifySocketLimits.faceFrameBytes) return;
      frames += 1;
      const artifact = ++this.#artifact;
      this.#send({ type: "face_frame", artifact, size: jpeg.length, at_ms: Math.round(atMs) });
      for (const frame of protocol.artifactFrames(artifact, jpeg)) socket.send(frame);
    });
    if (this.#socket === socket) {
      this.#set({ phase: "face_check" });
      this.#send({ type: "face_done" });
    }
  }

  #send(message: DeviceMessage): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  #set(change: Partial<DeviceState>): void {
    this.#state = { ...this.#state, ...change };
    for (const listener of this.#listeners) listener();
  }
}
