import { Agent, request } from "undici";
import type { Log } from "./log.ts";
import type { Metrics } from "./metrics.ts";
import { type Resource, resourceOf, writeSpans } from "./otlp.ts";
import type { FinishedSpan } from "./tracer.ts";

/** Half: a collector that is away for a moment under load costs spans. Twice: it costs twice the memory, some 8 MB. */
const maxWaiting = 8192;
/** Half: twice as many requests under load. Twice: writing them as JSON holds up the process for 3 ms instead of 1.5. */
const maxAtOnce = 512;
/** Half: twice as many requests when idle. Twice: traces are seen a second later. */
const sendAfterMs = 1_000;
/** Longer than a collector takes that works. Twice: one that hangs holds a batch for twice as long. */
const answerMs = 5_000;
/** For all that is left at the end together: shorter may cut off a collector far away, longer comes near to the time that a stop may take. */
const lastAnswerMs = 2_000;
const firstPauseMs = 1_000;
const maxPauseMs = 60_000;

/** What a collector may take later; everything else it will refuse again. */
const retryable = new Set([429, 502, 503, 504]);

type OtlpOptions = {
  /** The base address; `/v1/traces` is added to it. */
  endpoint: string;
  headers: Readonly<Record<string, string>>;
  resource: Readonly<Record<string, string>>;
  log: Log;
  metrics: Metrics;
};

/**
 * Sends spans to a collector (OTLP over HTTP, as JSON). It holds a bounded number and never makes a request wait: what finds no
 * room is dropped and counted.
 */
export class OtlpExporter {
  readonly #options: OtlpOptions;
  readonly #resource: Resource;
  readonly #agent = new Agent({ connections: 2, connect: { timeout: answerMs } });
  readonly #drop: (labels: { reason: string }, by: number) => void;
  readonly #fail: () => void;
  #isFailing = false;
  #waiting: FinishedSpan[] = [];
  #sending: Promise<void> | null = null;
  #pauseMs = 0;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;
  #closedAt = 0;

  constructor(options: OtlpOptions) {
    this.#options = options;
    this.#resource = resourceOf(options.resource);
    const { metrics } = options;
    this.#drop = metrics.counter(
      "assay_telemetry_spans_dropped_total",
      "Spans that were not sent: no room, refused by the collector, or too many of one trace.",
    );
    this.#fail = metrics.counter(
      "assay_telemetry_failures_total",
      "Requests to the collector that it did not take.",
    );
    metrics.gaugeOf(
      "assay_telemetry_spans_waiting",
      "Spans that wait to be sent.",
      () => this.#waiting.length,
    );
  }

  add(spans: readonly FinishedSpan[]): void {
    const room = this.#closed ? 0 : maxWaiting - this.#waiting.length;
    if (spans.length > room) {
      this.drop("no_room", spans.length);
      return;
    }
    this.#waiting.push(...spans);
    if (this.#waiting.length >= maxAtOnce && this.#pauseMs === 0) this.#sendNow();
    else this.#timer ??= setTimeout(() => this.#sendNow(), Math.max(sendAfterMs, this.#pauseMs)).unref();
  }

  drop(reason: "no_room" | "refused" | "long_trace", count: number): void {
    this.#drop({ reason }, count);
  }

  #sendNow(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#sending ??= this.#sendSpans().finally(() => {
      this.#sending = null;
      if (this.#waiting.length > 0 && !this.#closed)
        this.#timer ??= setTimeout(() => this.#sendNow(), Math.max(sendAfterMs, this.#pauseMs)).unref();
    });
  }

  async #sendSpans(): Promise<void> {
    for (;;) {
      const batch = this.#waiting.splice(0, maxAtOnce);
      if (batch.length === 0) return;
      const outcome = await this.#post(writeSpans(this.#resource, batch));
      if (outcome === "later") {
        this.#pauseMs = Math.min(Math.max(firstPauseMs, this.#pauseMs * 2), maxPauseMs);
        const fitting = batch.slice(0, maxWaiting - this.#waiting.length);
        this.#waiting.unshift(...fitting);
        if (fitting.length < batch.length) this.drop("no_room", batch.length - fitting.length);
        return;
      }
      this.#pauseMs = 0;
      if (outcome === "never") this.drop("refused", batch.length);
      if (this.#closed ? performance.now() - this.#closedAt > lastAnswerMs : this.#waiting.length < maxAtOnce)
        return;
    }
  }

  async #post(body: string): Promise<"taken" | "later" | "never"> {
    const { endpoint, headers } = this.#options;
    try {
      const answer = await request(`${endpoint}/v1/traces`, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body,
        dispatcher: this.#agent,
        signal: AbortSignal.timeout(this.#closed ? lastAnswerMs : answerMs),
      });
      await answer.body.dump({ limit: 64 * 1024 });
      const { statusCode } = answer;
      const taken = statusCode >= 200 && statusCode < 300;
      this.#note(taken ? null : `status ${statusCode}`);
      return taken ? "taken" : retryable.has(statusCode) ? "later" : "never";
    } catch (error) {
      // Its message may hold the address, which may hold a password.
      const { code, name } = error as { code?: string; name?: string };
      this.#note(code ?? name ?? "error");
      return "later";
    }
  }

  /** Logged when it begins and when it is over, not each time. */
  #note(problem: string | null): void {
    const { log } = this.#options;
    if (problem !== null) this.#fail();
    if (problem !== null && !this.#isFailing)
      log.warn("the collector does not take traces; the service goes on without", { reason: problem });
    if (problem === null && this.#isFailing) log.info("the collector takes traces again");
    this.#isFailing = problem !== null;
  }

  /** Sends what is there, for as long as one request may take. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#closed = true;
    this.#closedAt = performance.now();
    await this.#sending;
    if (this.#pauseMs === 0 && this.#waiting.length > 0) await this.#sendSpans();
    await this.#agent.destroy();
  }
}
