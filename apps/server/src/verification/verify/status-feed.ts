import type { SessionId } from "@assay/contract/ids";
import type { EventFeed, EventStream } from "@assay/contract/route";
import { maxStreamsPerSession, streamHeartbeatSeconds, type VerifyStatusData } from "@assay/contract/verify";
import type { Core } from "../../platform/core.ts";
import type { Listener } from "../../platform/db/listener.ts";
import { ApiError } from "../../platform/kernel/api-error.ts";
import { secondMs } from "../../platform/kernel/clock.ts";
import { knownId } from "../../platform/kernel/ids.ts";
import { addressBlock } from "../../platform/lib/address-block.ts";
import { KeyedSlots } from "../../platform/lib/keyed-slots.ts";
import { describeError } from "../../platform/lib/log.ts";
import { progressSession, verifyProgressChannel } from "../attempts/report-progress.ts";
import { sessionChannel } from "../sessions/end-session.ts";
import { isOpen } from "../sessions/session.ts";
import { readStatus } from "./read-status.ts";

/** Streams of all sessions together. Beyond it pages read the status instead. */
const maxStreams = 10_000;
/**
 * Streams of one address. Too small: people of a large company behind one address get none. Too large: a few
 * strangers take all streams of a process.
 */
const maxStreamsPerAddress = 1_000;
/**
 * Pages of a process that stops reconnect spread over this time. Too small: all of them read their status at
 * once. Too large: the page stands still for longer.
 */
const reconnectWithinMs = 1_000;
const pollMs = streamHeartbeatSeconds * secondMs;

type Watcher = { stream: EventStream<VerifyStatusData> | null; sent: string; giveBack: () => void };
type Watched = {
  watchers: Set<Watcher>;
  reading: boolean;
  readAgain: boolean;
  timer: NodeJS.Timeout | undefined;
};

/**
 * Sends the status of sessions to the open pages of this process. Notifications report changes of any
 * process. It also polls, and reads at the moment of expiry, so that a lost notification costs only seconds.
 * A change is read once for all pages of a session; no page holds a database connection.
 */
export class StatusFeed {
  readonly #core: Core;
  readonly #watched = new Map<SessionId, Watched>();
  readonly #slots = new KeyedSlots<string>(maxStreamsPerAddress);
  #streams = 0;
  #stopped = false;

  constructor(core: Core) {
    this.#core = core;
    core.metrics.gaugeOf("assay_verify_streams", "Open event streams of verify pages.", () => this.#streams);
  }

  listen(listener: Listener): void {
    listener.on(sessionChannel, (id) => this.#changed(id === "" ? null : knownId(id)));
    listener.on(verifyProgressChannel, (payload) => this.#changed(progressSession(payload)));
  }

  /** A slot for one more page of the session; refused if session or address has too many. */
  open(sessionId: SessionId, address: string): EventFeed<VerifyStatusData> {
    if (this.#stopped || this.#streams >= maxStreams) {
      throw new ApiError("SERVICE_UNAVAILABLE", { headers: { "retry-after": "5" } });
    }
    const watched = this.#watched.get(sessionId) ?? newWatched();
    if (watched.watchers.size >= maxStreamsPerSession) {
      throw new ApiError("RATE_LIMITED", {
        message: `There are ${maxStreamsPerSession} streams for this session already.`,
        hint: "Close one, or read the status instead.",
        headers: { "retry-after": String(streamHeartbeatSeconds) },
      });
    }
    const giveBack = this.#slots.take(addressBlock(address));
    if (giveBack === null) {
      throw new ApiError("RATE_LIMITED", {
        message: "There are too many streams from this address already.",
        hint: "Read the status instead.",
        headers: { "retry-after": String(streamHeartbeatSeconds) },
      });
    }
    const watcher: Watcher = { stream: null, sent: "", giveBack };
    watched.watchers.add(watcher);
    this.#watched.set(sessionId, watched);
    this.#streams += 1;
    return (stream) => {
      watcher.stream = stream;
      if (this.#stopped) stream.close();
      else this.#read(sessionId);
      return () => this.#leave(sessionId, watched, watcher);
    };
  }

  stop(): void {
    this.#stopped = true;
    for (const [sessionId, watched] of [...this.#watched])
      this.#closeAll(sessionId, watched, () => Math.round(Math.random() * reconnectWithinMs));
  }

  #changed(sessionId: SessionId | null): void {
    if (sessionId !== null) this.#read(sessionId);
    else for (const each of this.#watched.keys()) this.#read(each);
  }

  /** Reads the session for all its pages. A change during the reading is read afterwards, once. */
  #read(sessionId: SessionId): void {
    const watched = this.#watched.get(sessionId);
    if (watched === undefined) return;
    if (watched.reading) {
      watched.readAgain = true;
      return;
    }
    watched.reading = true;
    readStatus(this.#core, sessionId)
      .then((status) => this.#broadcast(sessionId, watched, status))
      .catch((error) => {
        this.#core.log.warn("could not read the status of a session", describeError(error));
        this.#lookAgain(sessionId, watched, pollMs);
      })
      .finally(() => {
        watched.reading = false;
        if (!watched.readAgain) return;
        watched.readAgain = false;
        this.#read(sessionId);
      });
  }

  #broadcast(sessionId: SessionId, watched: Watched, status: VerifyStatusData | null): void {
    if (status === null) {
      this.#closeAll(sessionId, watched);
      return;
    }
    // `server_time` differs at every reading, so it is left out of the comparison.
    const text = JSON.stringify({ ...status, server_time: null });
    for (const watcher of watched.watchers) {
      if (watcher.stream === null || watcher.sent === text) continue;
      watcher.sent = text;
      watcher.stream.send("status", status);
    }
    if (!isOpen(status.status)) {
      this.#closeAll(sessionId, watched);
      return;
    }
    const leftMs = Date.parse(status.expires_at) - Date.parse(status.server_time);
    this.#lookAgain(sessionId, watched, Math.min(pollMs, Math.max(1, leftMs)));
  }

  #lookAgain(sessionId: SessionId, watched: Watched, afterMs: number): void {
    clearTimeout(watched.timer);
    if (watched.watchers.size === 0) return;
    watched.timer = setTimeout(() => this.#read(sessionId), afterMs);
    watched.timer.unref();
  }

  /** A watcher whose stream is about to be attached stays: it reads the status itself. */
  #closeAll(sessionId: SessionId, watched: Watched, comeBackMs?: () => number): void {
    for (const watcher of [...watched.watchers]) {
      if (watcher.stream === null) continue;
      watcher.stream.close(comeBackMs?.());
      this.#leave(sessionId, watched, watcher);
    }
  }

  #leave(sessionId: SessionId, watched: Watched, watcher: Watcher): void {
    if (!watched.watchers.delete(watcher)) return;
    this.#streams -= 1;
    watcher.giveBack();
    if (watched.watchers.size > 0) return;
    clearTimeout(watched.timer);
    this.#watched.delete(sessionId);
  }
}

function newWatched(): Watched {
  return { watchers: new Set(), reading: false, readAgain: false, timer: undefined };
}
