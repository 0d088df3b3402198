export type Notification = { channel: string; payload: string };

// Hints that follow the last message sooner than this go into the next one. With half of it, a busy process
// sends twice as many messages, each about as expensive as reading a row. With twice, other processes wake
// later.
const betweenMs = 25;
// More than a handler would process one by one. It gets an empty hint instead, which means that it may have
// missed something, as after a lost connection.
const maxOfChannel = 1000;

/**
 * Sends hints to listeners after the commit, those of many transactions in one message. PostgreSQL lets only
 * one notifying transaction commit at a time, so NOTIFY inside of writes would serialize them. If a process
 * dies before it has sent a hint, listeners find the work by polling.
 */
export class Hints {
  readonly #send: (hints: readonly Notification[]) => Promise<void>;
  #waiting = new Map<string, Set<string>>();
  #round = newRound();
  #sending: Promise<void> | null = null;
  #isClosed = false;
  #timer: NodeJS.Timeout | undefined;
  #notBefore = 0;

  constructor(send: (hints: readonly Notification[]) => Promise<void>) {
    this.#send = send;
  }

  /** Resolves when these hints have been sent. Those that cannot be sent are dropped: polling finds the work. */
  add(hints: readonly Notification[]): Promise<void> {
    if (hints.length === 0) return Promise.resolve();
    this.#keep(hints);
    const { promise } = this.#round;
    this.#sendWhenTime();
    return promise;
  }

  #keep(hints: readonly Notification[]): void {
    for (const { channel, payload } of hints) {
      const payloads = this.#waiting.get(channel) ?? new Set();
      this.#waiting.set(channel, payloads);
      if (payloads.has("")) continue;
      if (payloads.size >= maxOfChannel) {
        payloads.clear();
        payloads.add("");
      } else payloads.add(payload);
    }
  }

  #sendWhenTime(): void {
    if (this.#sending !== null || this.#timer !== undefined || this.#waiting.size === 0 || this.#isClosed)
      return;
    const waitMs = this.#notBefore - performance.now();
    if (waitMs <= 0) this.#sendWaiting();
    else {
      this.#timer = setTimeout(() => {
        this.#timer = undefined;
        this.#sendWaiting();
      }, waitMs);
      this.#timer.unref();
    }
  }

  #sendWaiting(): void {
    const { resolve, reject } = this.#round;
    const hints = [...this.#waiting].flatMap(([channel, payloads]) =>
      [...payloads].map((payload) => ({ channel, payload })),
    );
    this.#round = newRound();
    this.#waiting = new Map();
    this.#notBefore = performance.now() + betweenMs;
    this.#sending = this.#send(hints)
      .then(resolve, reject)
      .finally(() => {
        this.#sending = null;
        this.#sendWhenTime();
      });
  }

  /** Sends what is queued once, and nothing afterwards. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#sending;
    if (this.#waiting.size > 0) this.#sendWaiting();
    await this.#sending;
  }
}

/** Most callers do not await it. */
function newRound(): PromiseWithResolvers<void> {
  const round = Promise.withResolvers<void>();
  round.promise.catch(() => {});
  return round;
}
