import { setTimeout as wait } from "node:timers/promises";

const lanes = 4;
const pauseMs = 20;

/**
 * A partner that creates sessions continuously,
 * and repeats each request with the same key until it is acknowledged.
 */
export class Writer {
  /** When each session was acknowledged. */
  readonly acknowledged = new Map<string, number>();
  readonly #url: string;
  readonly #key: string;
  #number = 0;
  #going = false;
  #running: Promise<unknown> = Promise.resolve();

  constructor(url: string, key: string) {
    this.#url = url;
    this.#key = key;
  }

  start(): void {
    this.#going = true;
    this.#running = Promise.all(Array.from({ length: lanes }, () => this.#lane()));
  }

  async stop(): Promise<void> {
    this.#going = false;
    await this.#running;
  }

  /** Waits until something is acknowledged that was not yet. */
  async nextAt(withinMs = 300_000): Promise<number> {
    const [before, deadline] = [this.acknowledged.size, Date.now() + withinMs];
    while (this.acknowledged.size === before) {
      if (Date.now() > deadline) throw new Error("writes are no longer acknowledged");
      await wait(10);
    }
    return [...this.acknowledged.values()].at(before) ?? Date.now();
  }

  async #lane(): Promise<void> {
    while (this.#going) {
      const key = `session-${this.#number++}`;
      while (this.#going && !(await this.#send(key))) await wait(pauseMs);
      await wait(pauseMs);
    }
  }

  async #send(key: string): Promise<boolean> {
    try {
      const response = await fetch(`${this.#url}/v1/sessions`, {
        method: "POST",
        signal: AbortSignal.timeout(10_000),
        headers: {
          authorization: `Bearer ${this.#key}`,
          "content-type": "application/json",
          "idempotency-key": key,
        },
        body: "{}",
      });
      if (response.status !== 201) return false;
      const { data } = (await response.json()) as { data: { id: string } };
      this.acknowledged.set(data.id, Date.now());
      return true;
    } catch {
      return false;
    }
  }
}
