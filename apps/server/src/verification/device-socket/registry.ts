import { setTimeout as wait } from "node:timers/promises";
import type { AttemptId, SessionId } from "@assay/contract/ids";
import { type VerifyCloseCode, verifySocketLimits } from "@assay/contract/verify-protocol";
import type { Core } from "../../platform/core.ts";
import type { Listener } from "../../platform/db/listener.ts";
import { ApiError } from "../../platform/kernel/api-error.ts";
import { addressBlock } from "../../platform/lib/address-block.ts";
import { KeyedSlots } from "../../platform/lib/keyed-slots.ts";
import { describeError } from "../../platform/lib/log.ts";
import { AttemptRun } from "../attempts/attempt-run.ts";
import { findSocketOwner } from "../attempts/attempt-socket.store.ts";
import { ByteBudget, byteLimits } from "../attempts/byte-budget.ts";
import { ChipExaminer, type ExaminerOptions } from "../attempts/chip-examiner.ts";
import { AttestationJudge } from "../device-attestation/attestation-judge.ts";
import type { FaceJudge } from "../face/face-judge.ts";
import { sessionChannel } from "../sessions/end-session.ts";
import { findSessionOfPerson, stateOf, touchAttempt } from "../sessions/session.store.ts";
import { statusAt } from "../sessions/session.ts";
import type { CurrentTrust } from "../trust/current-trust.ts";
import { parseDeviceMessage, readFrame } from "./read-frame.ts";
import { DeviceSocket, type RawSocket } from "./socket.ts";

/** NOTIFY channel: a device opened a socket, so older ones are closed. Payload: `<attempt> <socket>`. */
const socketChannel = "verify_socket";

const stepBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
/** Too few: a phone that changes networks is disconnected. Too many: its session stays blocked longer. */
const maxMissedHeartbeats = 3;
/** What a device may send before it is welcomed. It can only announce files then, so more is a flood. */
const maxEarlyFrames = 16;
const maxEarlyBytes = 64 * 1024;
/** How often captures that may have outlived their challenge are checked. */
const deadlineCheckMs = 1000;
/** How often it checks whether the remaining attempts have finished. */
const leaveLookMs = 100;
const mebibyte = 1024 * 1024;

/**
 * Sockets that were opened and not welcomed yet. An honest device is welcomed within milliseconds, a silent
 * one closed after `helloMs`.
 */
export const unwelcomedLimits = {
  /**
   * Too small: many people behind one address reconnect more slowly after a restart. Too large: a stranger's
   * silent sockets cost more.
   */
  perAddress: 256,
  /** A session has one device, whose old socket may be open. Too small: reconnecting is refused. */
  perSession: 8,
} as const;

export type RegistryOptions = {
  /** Null without a face judge: then no live document can pass. */
  faceJudge: FaceJudge | null;
  examiner?: ExaminerOptions;
  timing?: Partial<Timing>;
  /** Allocates memory for announced files; tests inspect it afterwards. */
  allocate?: (bytes: number) => Buffer;
};

type Timing = Record<"helloMs" | "idleMs" | "heartbeatMs" | "resumeMs" | "deadlineCheckMs", number>;

/** All sockets and running attempts of this process. */
export class DeviceRegistry {
  readonly #core: Core;
  readonly #examiner: ChipExaminer;
  readonly #trust: CurrentTrust;
  readonly #faceJudge: FaceJudge | null;
  readonly #attestation: AttestationJudge;
  readonly #timing: Timing;
  readonly #budget: ByteBudget;
  readonly #allocate: (bytes: number) => Buffer;
  readonly #unwelcomed = {
    byAddress: new KeyedSlots<string>(unwelcomedLimits.perAddress),
    bySession: new KeyedSlots<SessionId>(unwelcomedLimits.perSession),
  };
  readonly #runs = new Map<AttemptId, AttemptRun>();
  readonly #sockets = new Set<DeviceSocket>();
  /** Runs whose device is disconnected, each with the timer that overwrites its bytes. */
  readonly #forgetting = new Map<AttemptRun, NodeJS.Timeout>();
  readonly #timed: (step: string, seconds: number) => void;
  readonly #closed: (code: VerifyCloseCode | "BY_DEVICE") => void;
  readonly #judged: (verdict: string, trustVersion: string) => void;
  readonly #timers: readonly NodeJS.Timeout[];
  #leaving = false;
  #closing = false;

  constructor(core: Core, trust: CurrentTrust, listener: Listener, options: RegistryOptions) {
    this.#core = core;
    this.#faceJudge = options.faceJudge;
    this.#attestation = new AttestationJudge(core);
    this.#examiner = new ChipExaminer({ policy: core.config.trustPolicy, ...options.examiner });
    this.#trust = trust;
    const { helloMs, idleMs, heartbeatMs, resumeMs } = verifySocketLimits;
    this.#timing = { helloMs, idleMs, heartbeatMs, resumeMs, deadlineCheckMs, ...options.timing };
    this.#allocate = options.allocate ?? ((bytes) => Buffer.alloc(bytes));

    const { metrics } = core;
    const seconds = metrics.histogram(
      "assay_verify_step_seconds",
      "Time that the service takes for a step of a verification, by step.",
      stepBuckets,
    );
    this.#timed = (step, value) => seconds(value, { step });
    const closes = metrics.counter(
      "assay_verify_socket_closes_total",
      "Closed sockets of reading devices, by reason.",
    );
    this.#closed = (code) => closes({ code });
    const verdicts = metrics.counter(
      "assay_document_verdicts_total",
      "Documents that were judged, by verdict and version of the trust store.",
    );
    this.#judged = (verdict, trustVersion) => verdicts({ verdict, trust_version: trustVersion });
    metrics.gaugeOf("assay_verify_sockets", "Open sockets of reading devices.", () => this.#sockets.size);
    metrics.gaugeOf(
      "assay_verify_checks_waiting",
      "Checks of chips that wait for a thread.",
      () => this.#examiner.waiting,
    );
    this.#budget = countedBudget(core);

    listener.on(socketChannel, (payload) => this.#onSocketOpened(payload));
    listener.on(sessionChannel, (payload) => this.#onSessionChanged(payload));
    this.#timers = [
      setInterval(() => this.#heartbeat(), this.#timing.heartbeatMs).unref(),
      setInterval(() => this.#checkDeadline(), this.#timing.deadlineCheckMs).unref(),
    ];
  }

  /** Refuses the upgrade if the address or the session has too many sockets that were not welcomed. */
  admit(sessionId: SessionId, address: string): void {
    const { byAddress, bySession } = this.#unwelcomed;
    if (!byAddress.isFull(addressBlock(address)) && !bySession.isFull(sessionId)) return;
    throw new ApiError("RATE_LIMITED", {
      message: "Too many sockets of this address or session are open and have not said hello.",
      headers: { "retry-after": "1" },
    });
  }

  /** A device has connected; it may do nothing but say hello. */
  accept(raw: RawSocket, sessionId: SessionId, address: string): void {
    const socket = new DeviceSocket(raw, sessionId, (code) => this.#closed(code));
    this.#sockets.add(socket);
    const slots = [
      this.#unwelcomed.byAddress.take(addressBlock(address)),
      this.#unwelcomed.bySession.take(sessionId),
    ];
    socket.releaseSlots = () => {
      for (const giveBack of slots) giveBack?.();
    };
    const hello = setTimeout(() => socket.close("HELLO_TIMEOUT"), this.#timing.helloMs);
    raw.on("error", () => {});
    raw.on("pong", () => socket.heard());
    raw.on("close", () => {
      clearTimeout(hello);
      socket.gone();
      socket.releaseSlots();
      this.#sockets.delete(socket);
      this.#onDetached(socket);
    });
    raw.on("message", (data, isBinary) => {
      if (socket.isClosed) return;
      socket.heard("message");
      if (socket.run !== null) this.#receive(socket, socket.run, data, isBinary);
      else if (socket.greeted) {
        // The device has not waited for the welcome: its frames are handled after it.
        socket.early.push({ data, isBinary });
        socket.earlyBytes += data.length;
        if (socket.early.length > maxEarlyFrames || socket.earlyBytes > maxEarlyBytes)
          socket.close("OUT_OF_ORDER");
      } else {
        const message = isBinary ? null : parseDeviceMessage(data.toString("utf8"));
        clearTimeout(hello);
        socket.greeted = true;
        if (message?.type === "hello") void this.#greet(socket, message.socket_token);
        else socket.close("MESSAGE_INVALID");
      }
    });
    if (this.#leaving) socket.close("SHUTTING_DOWN");
    // Those that came at the same moment as the last one admitted.
    else if (slots.includes(null)) socket.close("BUSY");
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
      const { chip, face } = session.steps;
      const triesUsed = { chip: chip?.tries ?? 0, face: face?.tries ?? 0 };
      if (socket.isClosed) return;
      const known = this.#runs.get(attemptId);
      let run = known;
      if (run === undefined || run.ended || !run.agreesWith(triesUsed)) {
        // Another process has counted a try meanwhile, so this run's state is out of date.
        void known?.dispose();
        known?.link?.close("REPLACED");
        run = new AttemptRun(
          {
            sessionId: session.id,
            attemptId,
            organizationId: session.organizationId,
            sandbox: session.sandbox,
            expiresAt: session.expiresAt,
            selectedFieldKeys: owner.selectedFieldKeys,
            requirements: session.requirements,
            triesUsed,
            chipPassed: chip?.passed_at !== undefined,
          },
          {
            core: this.#core,
            examiner: this.#examiner,
            trust: this.#trust,
            judged: this.#judged,
            faceJudge: this.#faceJudge,
            attestation: this.#attestation,
            budget: this.#budget,
            allocate: this.#allocate,
            timed: this.#timed,
          },
        );
        this.#runs.set(attemptId, run);
      }
      await db.notifyNow(socketChannel, `${attemptId} ${socket.id}`);
      if (socket.isClosed) return;
      socket.run = run;
      socket.releaseSlots();
      this.#keep(run);
      void run.attach(socket);
      for (const { data, isBinary } of socket.early.splice(0)) this.#receive(socket, run, data, isBinary);
    } catch (error) {
      log.error("could not welcome a device", describeError(error));
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
      // The bytes were copied out of the frame, so the frame itself is overwritten.
      if (isBinary) data.fill(0);
      socket.queued(-data.length);
    });
  }

  #onDetached(socket: DeviceSocket): void {
    const { run } = socket;
    if (run === null) return;
    run.detach(socket);
    if (run.link !== null) return;
    if (run.ended) this.#drop(run);
    else this.#forgetLater(run);
  }

  /** The device may reconnect for a while. */
  #forgetLater(run: AttemptRun): void {
    if (run.link !== null) return;
    this.#keep(run);
    this.#forgetting.set(
      run,
      setTimeout(() => {
        this.#forgetting.delete(run);
        if (run.link === null) void run.forget();
      }, this.#timing.resumeMs).unref(),
    );
  }

  /** The device is back in time, or the run is over: the timer is no longer needed. */
  #keep(run: AttemptRun): void {
    clearTimeout(this.#forgetting.get(run));
    this.#forgetting.delete(run);
  }

  #drop(run: AttemptRun): void {
    this.#keep(run);
    if (this.#runs.get(run.owner.attemptId) === run) this.#runs.delete(run.owner.attemptId);
    void run.dispose();
  }

  /**
   * PostgreSQL delivers notifications in the same order to every process. So a socket that sees a later
   * socket of its attempt has been replaced.
   */
  #onSocketOpened(payload: string): void {
    const [attemptId = "", socketId = ""] = payload.split(" ");
    for (const socket of this.#sockets) {
      if (socket.id === socketId) socket.announced = true;
      else if (socket.announced && socket.run?.owner.attemptId === attemptId) {
        const { run } = socket;
        const elsewhere = ![...this.#sockets].some((other) => other.id === socketId);
        socket.close("REPLACED");
        // The attempt goes on in another process.
        if (elsewhere) this.#drop(run);
      }
    }
  }

  #onSessionChanged(payload: string): void {
    for (const run of this.#runs.values())
      if (payload === "" || run.owner.sessionId === payload) void this.#confirm(run);
  }

  /** Records that the device was heard from, and ends the run when its attempt is over. */
  async #confirm(run: AttemptRun): Promise<void> {
    if (run.ended) return;
    const { db, clock, log } = this.#core;
    const { sessionId, attemptId } = run.owner;
    try {
      // A disconnected device has not answered, so only its session is checked.
      const goesOn =
        run.link === null
          ? (await findSessionOfPerson(db, sessionId))?.status === "in_progress"
          : await touchAttempt(db, attemptId, clock.now());
      if (goesOn) return;
      await run.sessionOver();
      if (run.link === null) this.#drop(run);
    } catch (error) {
      log.warn("could not confirm an attempt, will try again", describeError(error));
    }
  }

  #heartbeat(): void {
    const { heartbeatMs, idleMs } = this.#timing;
    for (const socket of this.#sockets) {
      if (socket.silentMs() > maxMissedHeartbeats * heartbeatMs) {
        socket.terminate();
        continue;
      }
      if (socket.run !== null && socket.idleMs() > idleMs) socket.close("IDLE_TIMEOUT");
      else socket.ping();
      // Silence of less than one and a half beats means an answered ping. With one, slow answers are missed.
      if (socket.run !== null && socket.silentMs() <= heartbeatMs * 1.5) void this.#confirm(socket.run);
    }
    const now = this.#core.clock.now();
    for (const run of this.#runs.values())
      if (run.link === null && (run.ended || run.owner.expiresAt <= now)) this.#drop(run);
  }

  #checkDeadline(): void {
    for (const run of this.#runs.values()) void run.checkDeadline();
  }

  /**
   * Takes no new devices and closes sockets, so that devices connect elsewhere. Before a chip was judged this
   * costs nothing: devices send their files again. Others may finish here within `patienceMs`, because
   * elsewhere they would read the chip again.
   */
  async leave(patienceMs: number): Promise<void> {
    this.#leaving = true;
    const until = performance.now() + patienceMs;
    for (;;) {
      const stay = performance.now() < until;
      for (const socket of this.#sockets)
        if (!stay || socket.run?.isUnderWay !== true) socket.close("SHUTTING_DOWN");
      if (![...this.#sockets].some((socket) => !socket.isClosed)) break;
      await wait(leaveLookMs);
    }
  }

  /** Closes every socket, waits for results that are being written, and overwrites all bytes. */
  async close(): Promise<void> {
    if (this.#closing) return;
    this.#closing = true;
    this.#leaving = true;
    for (const timer of this.#timers) clearInterval(timer);
    for (const socket of this.#sockets) socket.close("SHUTTING_DOWN");
    await Promise.all([this.#examiner.close(), this.#faceJudge?.close()]);
    await Promise.all([...this.#runs.values()].map((run) => run.dispose()));
    for (const timer of this.#forgetting.values()) clearTimeout(timer);
    this.#runs.clear();
  }
}

/** The budget from the settings, with metrics that do not show whose bytes they are. */
function countedBudget({ config, metrics }: Core): ByteBudget {
  const limits = byteLimits({
    processBytes: config.attemptMemoryMb * mebibyte,
    sandboxPercent: config.attemptMemorySandboxPercent,
    organizationPercent: config.attemptMemoryOrganizationPercent,
  });
  const refused = metrics.counter(
    "assay_attempt_bytes_refused_total",
    "Devices that were asked to wait because the memory for attempts was in use, by limit.",
  );
  const budget = new ByteBudget(limits, (limit) => refused({ limit }));
  metrics.gaugeOf(
    "assay_attempt_bytes",
    "Bytes reserved for chip files and camera frames of running attempts.",
    () => budget.reserved,
  );
  metrics.gaugeOf(
    "assay_attempt_bytes_sandbox",
    "Bytes reserved for running attempts of the sandbox.",
    () => budget.reservedBySandbox,
  );
  metrics.gaugeOf(
    "assay_attempt_bytes_limit",
    "Limit of the bytes reserved for running attempts.",
    () => limits.process,
  );
  return budget;
}
