import { randomBytes } from "node:crypto";
import {
  decodeArtifactFrame,
  type VerifyCloseCode,
  verifyCloseCodes,
  verifySocketLimits,
} from "@assay/contract/verify-protocol";
import { type DeviceMessage, deviceMessages, type ServiceMessage } from "@assay/contract/verify-socket";
import { Compile } from "typebox/compile";
import { AttemptRun, closingMessage, type DeviceInput, type DeviceLink } from "../attempts/attempt-run.ts";
import { findSocketOwner } from "../attempts/attempt-socket.store.ts";
import { ChipExaminer, type ExaminerOptions } from "../attempts/chip-examiner.ts";
import type { Core } from "../core.ts";
import type { Listener } from "../db/listener.ts";
import type { FaceJudge } from "../face/face-judge.ts";
import { describeError } from "../lib/log.ts";
import { sessionChannel } from "../sessions/end-session.ts";
import { findSessionOfPerson, stateOf, touchAttempt } from "../sessions/session.store.ts";
import { statusAt } from "../sessions/session.ts";
import { trustFolderPath } from "../trust/trust-folder.ts";

/** What this hub uses of a WebSocket. */
export interface RawSocket {
  send(data: string): void;
  close(code: number, reason: string): void;
  terminate(): void;
  ping(): void;
  pause(): void;
  resume(): void;
  on(event: "message", listener: (data: Buffer, isBinary: boolean) => void): unknown;
  on(event: "pong", listener: () => void): unknown;
  on(event: "close", listener: () => void): unknown;
  on(event: "error", listener: (error: Error) => void): unknown;
}

/** Told `<attempt> <socket>` when a device has opened a socket, so that every process closes an older one. */
const socketChannel = "verify_socket";

const stepBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
/** Reading from a socket pauses while so much waits to be handled. */
const maxQueuedBytes = 2 * 1024 * 1024;
const terminateAfterMs = 1000;
const missedHeartbeats = 3;

export type HubOptions = {
  /** Null where there is none: then nobody can pass with a live document. */
  faceJudge: FaceJudge | null;
  examiner?: ExaminerOptions;
  timing?: Partial<Record<"helloMs" | "idleMs" | "heartbeatMs" | "resumeMs", number>>;
};

const validators = Object.fromEntries(
  Object.entries(deviceMessages).map(([type, schema]) => [type, Compile(schema)]),
);

/** A text frame as a message, or null. Nothing of it is quoted anywhere. */
export function parseDeviceMessage(text: string): DeviceMessage | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  const type = typeof value === "object" && value !== null && "type" in value ? value.type : undefined;
  if (typeof type !== "string" || !Object.hasOwn(validators, type)) return null;
  return validators[type]?.Check(value) ? (value as DeviceMessage) : null;
}

/** A frame of a device that has been welcomed, or why the socket is closed for it. */
function readFrame(data: Buffer, isBinary: boolean): DeviceInput | VerifyCloseCode {
  if (isBinary) {
    const frame = decodeArtifactFrame(data);
    return frame === null ? "MESSAGE_INVALID" : { kind: "part", frame };
  }
  if (data.length > verifySocketLimits.textBytes) return "FRAME_TOO_LARGE";
  const message = parseDeviceMessage(data.toString("utf8"));
  if (message === null) return "MESSAGE_INVALID";
  return message.type === "hello" ? "OUT_OF_ORDER" : { kind: "message", message };
}

/** All sockets and running attempts of this process. */
export class VerifyHub {
  readonly #core: Core;
  readonly #examiner: ChipExaminer;
  readonly #faceJudge: FaceJudge | null;
  readonly #timing: { helloMs: number; idleMs: number; heartbeatMs: number; resumeMs: number };
  readonly #runs = new Map<string, AttemptRun>();
  readonly #sockets = new Set<DeviceSocket>();
  readonly #timed: (step: string, seconds: number) => void;
  readonly #closed: (code: VerifyCloseCode | "BY_DEVICE") => void;
  readonly #heartbeat: NodeJS.Timeout;
  #closing = false;

  constructor(core: Core, listener: Listener, options: HubOptions) {
    this.#core = core;
    this.#faceJudge = options.faceJudge;
    this.#examiner = new ChipExaminer(trustFolderPath(core.config.dataDir), options.examiner);
    const { helloMs, idleMs, heartbeatMs, resumeMs } = verifySocketLimits;
    this.#timing = { helloMs, idleMs, heartbeatMs, resumeMs, ...options.timing };

    const { metrics } = core;
    const seconds = metrics.histogram(
      "assay_verify_step_seconds",
      "Time that a step of a verification takes on our side, by step.",
      stepBuckets,
    );
    this.#timed = (step, value) => seconds(value, { step });
    const closes = metrics.counter(
      "assay_verify_socket_closes_total",
      "Closed sockets of reading devices, by reason.",
    );
    this.#closed = (code) => closes({ code });
    metrics.gaugeOf("assay_verify_sockets", "Open sockets of reading devices.", () => this.#sockets.size);
    metrics.gaugeOf(
      "assay_verify_checks_waiting",
      "Checks of chips that wait for a thread.",
      () => this.#examiner.waiting,
    );

    listener.on(socketChannel, (payload) => this.#onSocketOpened(payload));
    listener.on(sessionChannel, (payload) => this.#onSessionChanged(payload));
    this.#heartbeat = setInterval(() => this.#beat(), this.#timing.heartbeatMs);
    this.#heartbeat.unref();
  }

  /** A device has connected; it may do nothing but say hello. */
  accept(raw: RawSocket, sessionId: string): void {
    const socket = new DeviceSocket(raw, sessionId, (code) => this.#closed(code));
    this.#sockets.add(socket);
    const hello = setTimeout(() => socket.close("HELLO_TIMEOUT"), this.#timing.helloMs);
    raw.on("error", () => {});
    raw.on("pong", () => socket.heard());
    raw.on("close", () => {
      clearTimeout(hello);
      socket.gone();
      this.#sockets.delete(socket);
      this.#onDetached(socket);
    });
    raw.on("message", (data, isBinary) => {
      if (socket.isClosed) return;
      socket.heard("message");
      if (socket.run !== null) this.#receive(socket, socket.run, data, isBinary);
      else if (socket.greeted) {
        // Whoever does not wait for the welcome is answered once it is there.
        socket.early.push({ data, isBinary });
        if (socket.early.length > 16) socket.close("OUT_OF_ORDER");
      } else {
        const message = isBinary ? null : parseDeviceMessage(data.toString("utf8"));
        clearTimeout(hello);
        socket.greeted = true;
        if (message?.type === "hello") void this.#greet(socket, message.socket_token);
        else socket.close("MESSAGE_INVALID");
      }
    });
    if (this.#closing) socket.close("SHUTTING_DOWN");
  }

  async #greet(socket: DeviceSocket, token: string): Promise<void> {
    const { db, clock, log } = this.#core;
    try {
      const owner = await findSocketOwner(db, socket.sessionId, token);
      if (owner === null) return socket.close("SOCKET_TOKEN_INVALID");
      const { session, attemptId } = owner;
      const now = clock.now();
      if (statusAt(stateOf(session), now) !== "in_progress") return socket.close("SESSION_ENDED");
      if (!(await touchAttempt(db, attemptId, now))) return socket.close("SESSION_ENDED");
      const { triesUsed } = stateOf(session);
      if (socket.isClosed) return;
      const known = this.#runs.get(attemptId);
      let run = known;
      if (run === undefined || run.ended || !run.agreesWith(triesUsed)) {
        // What another process has counted meanwhile makes what this one knows worthless.
        void known?.dispose();
        known?.link?.close("REPLACED");
        run = new AttemptRun(
          {
            sessionId: session.id,
            attemptId,
            organizationId: session.organization_id,
            sandbox: session.sandbox,
            expiresAt: session.expires_at,
            selectedFieldKeys: owner.selectedFieldKeys,
            triesUsed,
            chipPassed: owner.chipPassed,
          },
          {
            core: this.#core,
            examiner: this.#examiner,
            faceJudge: this.#faceJudge,
            timed: this.#timed,
          },
        );
        this.#runs.set(attemptId, run);
      }
      await db.transaction((tx) => tx.notify(socketChannel, `${attemptId} ${socket.id}`));
      if (socket.isClosed) return;
      socket.run = run;
      socket.cancelForget(run);
      void run.attach(socket);
      for (const { data, isBinary } of socket.early.splice(0)) this.#receive(socket, run, data, isBinary);
    } catch (error) {
      log.error("a device could not be welcomed", describeError(error));
      socket.close("INTERNAL");
    }
  }

  #receive(socket: DeviceSocket, run: AttemptRun, data: Buffer, isBinary: boolean): void {
    const input = readFrame(data, isBinary);
    if (typeof input === "string") {
      socket.close(input);
      return;
    }
    const handled = run.receive(socket, input);
    socket.queued(data.length);
    void handled.then(() => {
      // What has been copied out of a frame is not left in it.
      if (isBinary) data.fill(0);
      socket.queued(-data.length);
    });
  }

  #onDetached(socket: DeviceSocket): void {
    const { run } = socket;
    if (run === null) return;
    run.detach(socket);
    if (run.link !== null) return;
    if (run.ended) {
      this.#drop(run);
      return;
    }
    forgetTimers.set(
      run,
      setTimeout(() => {
        if (run.link === null) void run.forget();
      }, this.#timing.resumeMs).unref(),
    );
  }

  #drop(run: AttemptRun): void {
    clearTimeout(forgetTimers.get(run));
    if (this.#runs.get(run.owner.attemptId) === run) this.#runs.delete(run.owner.attemptId);
    void run.dispose();
  }

  /** Every process sees these in the same order: whoever finds a later one than its own has been replaced. */
  #onSocketOpened(payload: string): void {
    const [attemptId = "", socketId = ""] = payload.split(" ");
    for (const socket of this.#sockets) {
      if (socket.id === socketId) socket.announced = true;
      else if (socket.announced && socket.run?.owner.attemptId === attemptId) {
        const { run } = socket;
        const elsewhere = ![...this.#sockets].some((other) => other.id === socketId);
        socket.close("REPLACED");
        // The attempt goes on in another process, which knows better from now on.
        if (elsewhere) this.#drop(run);
      }
    }
  }

  #onSessionChanged(sessionId: string): void {
    for (const run of this.#runs.values())
      if (sessionId === "" || run.owner.sessionId === sessionId) void this.#confirm(run);
  }

  /** Whether the attempt still goes on, and that its device was heard from. */
  async #confirm(run: AttemptRun): Promise<void> {
    if (run.ended) return;
    const { db, clock, log } = this.#core;
    const { sessionId, attemptId } = run.owner;
    try {
      // A device that is not connected was not heard from, so only its session is looked at.
      const goesOn =
        run.link === null
          ? (await findSessionOfPerson(db, sessionId))?.status === "in_progress"
          : await touchAttempt(db, attemptId, clock.now());
      if (goesOn) return;
      await run.sessionOver();
      if (run.link === null) this.#drop(run);
    } catch (error) {
      log.warn("an attempt could not be confirmed, will try again", describeError(error));
    }
  }

  #beat(): void {
    const { heartbeatMs, idleMs } = this.#timing;
    for (const socket of this.#sockets) {
      if (socket.silentMs() > missedHeartbeats * heartbeatMs) {
        socket.terminate();
        continue;
      }
      if (socket.run !== null && socket.idleMs() > idleMs) socket.close("IDLE_TIMEOUT");
      else socket.ping();
      if (socket.run !== null && socket.silentMs() <= heartbeatMs * 1.5) void this.#confirm(socket.run);
    }
    const now = this.#core.clock.now();
    for (const run of this.#runs.values())
      if (run.link === null && (run.ended || run.owner.expiresAt <= now)) this.#drop(run);
  }

  /** Tells every device to connect elsewhere, lets what is being written come to rest, and overwrites the rest. */
  async close(): Promise<void> {
    if (this.#closing) return;
    this.#closing = true;
    clearInterval(this.#heartbeat);
    for (const socket of this.#sockets) socket.close("SHUTTING_DOWN");
    await Promise.all([this.#examiner.close(), this.#faceJudge?.close()]);
    await Promise.all([...this.#runs.values()].map((run) => run.dispose()));
    for (const run of this.#runs.values()) clearTimeout(forgetTimers.get(run));
    this.#runs.clear();
  }
}

const forgetTimers = new WeakMap<AttemptRun, NodeJS.Timeout>();

class DeviceSocket implements DeviceLink {
  readonly id = randomBytes(12).toString("base64url");
  readonly sessionId: string;
  readonly early: { data: Buffer; isBinary: boolean }[] = [];
  readonly #raw: RawSocket;
  readonly #onClosed: (code: VerifyCloseCode | "BY_DEVICE") => void;
  greeted = false;
  announced = false;
  run: AttemptRun | null = null;
  #closed = false;
  #lastHeard = performance.now();
  #lastMessage = performance.now();
  #queuedBytes = 0;
  #paused = false;
  #terminator: NodeJS.Timeout | undefined;

  constructor(raw: RawSocket, sessionId: string, onClosed: (code: VerifyCloseCode | "BY_DEVICE") => void) {
    this.#raw = raw;
    this.sessionId = sessionId;
    this.#onClosed = onClosed;
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  heard(what?: "message"): void {
    this.#lastHeard = performance.now();
    if (what === "message") this.#lastMessage = this.#lastHeard;
  }

  silentMs(): number {
    // While we do not read, silence is our own doing.
    return this.#paused ? 0 : performance.now() - this.#lastHeard;
  }

  idleMs(): number {
    return this.#queuedBytes > 0 ? 0 : performance.now() - this.#lastMessage;
  }

  queued(bytes: number): void {
    this.#queuedBytes += bytes;
    if (this.#closed) return;
    const full = this.#queuedBytes > maxQueuedBytes;
    if (full && !this.#paused) this.#raw.pause();
    if (!full && this.#paused) {
      this.heard();
      this.#raw.resume();
    }
    this.#paused = full;
  }

  send(message: ServiceMessage): void {
    if (!this.#closed) this.#raw.send(JSON.stringify(message));
  }

  ping(): void {
    if (!this.#closed) this.#raw.ping();
  }

  close(code: VerifyCloseCode): void {
    if (this.#closed) return;
    if (code !== "OUTCOME") this.send(closingMessage(code));
    this.#closed = true;
    this.#onClosed(code);
    // A paused socket would never see the answer to its close.
    if (this.#paused) this.#raw.resume();
    this.#raw.close(verifyCloseCodes[code].status, code);
    this.#terminator = setTimeout(() => this.#raw.terminate(), terminateAfterMs).unref();
  }

  /** The connection is over, by whomever. */
  gone(): void {
    clearTimeout(this.#terminator);
    if (!this.#closed) this.#onClosed("BY_DEVICE");
    this.#closed = true;
  }

  terminate(): void {
    this.#raw.terminate();
  }

  cancelForget(run: AttemptRun): void {
    clearTimeout(forgetTimers.get(run));
  }
}
