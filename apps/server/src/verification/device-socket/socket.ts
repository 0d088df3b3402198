import { randomBytes } from "node:crypto";
import type { SessionId } from "@assay/contract/ids";
import { type VerifyCloseCode, verifyCloseCodes } from "@assay/contract/verify-protocol";
import type { ServiceMessage } from "@assay/contract/verify-socket";
import type { AttemptRun, DeviceLink } from "../attempts/attempt-run.ts";

/** The part of a WebSocket that is used. */
export type RawSocket = {
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
};

/**
 * Reading from a socket pauses while more than this waits to be handled (backpressure). No budget counts this
 * memory. Too large: each waiting socket costs more of it.
 */
const maxQueuedBytes = 256 * 1024;
/** A device that does not answer our close in this time is disconnected. */
const terminateAfterMs = 1000;

/** One connection of a device. It may do nothing but say hello until it has a run. */
export class DeviceSocket implements DeviceLink {
  readonly id = randomBytes(12).toString("base64url");
  readonly sessionId: SessionId;
  /** Frames that came before the welcome was sent. */
  readonly early: { data: Buffer; isBinary: boolean }[] = [];
  earlyBytes = 0;
  /** Releases the slots of a socket that was not welcomed yet. */
  releaseSlots: () => void = () => {};
  readonly #raw: RawSocket;
  readonly #onClosed: (code: VerifyCloseCode | "BY_DEVICE") => void;
  /** The device has said hello. */
  greeted = false;
  /** Every process has been notified of this socket, so that an older one of the attempt is closed. */
  announced = false;
  run: AttemptRun | null = null;
  #closed = false;
  #lastHeard = performance.now();
  #lastMessage = performance.now();
  #queuedBytes = 0;
  #paused = false;
  #terminator: NodeJS.Timeout | undefined;

  constructor(raw: RawSocket, sessionId: SessionId, onClosed: (code: VerifyCloseCode | "BY_DEVICE") => void) {
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
    // While reading is paused (backpressure), messages wait unseen: the device is not silent.
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

  /** The connection is over, whichever side closed it. */
  gone(): void {
    clearTimeout(this.#terminator);
    if (!this.#closed) this.#onClosed("BY_DEVICE");
    this.#closed = true;
  }

  terminate(): void {
    this.#raw.terminate();
  }
}

function closingMessage(code: VerifyCloseCode): ServiceMessage {
  return { type: "closing", code, message: verifyCloseCodes[code].about };
}
