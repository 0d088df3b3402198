import { Agent, request } from "undici";
import type { Log } from "./log.ts";
import type { Metrics } from "./metrics.ts";
import { type Resource, resourceOf, writeSpans } from "./otlp.ts";
import type { FinishedSpan } from "./tracer.ts";

/**
 * Spans in the buffer. With half, a short outage of the collector under load loses spans. With twice, it
 * takes some 8 MB more.
 */
const maxWaiting = 8192;
/**
 * Spans per request. With half, there are twice as many requests under load. With twice, encoding blocks the
 * process for 3 ms instead of 1.5.
 */
const maxAtOnce = 512;
/** With half, there are twice as many requests when idle. With twice, traces appear a second later. */
const sendAfterMs = 1_000;
/** Longer than a healthy collector takes. With twice, one that hangs holds a batch twice as long. */
const answerMs = 5_000;
/**
 * For all spans that are left at shutdown. Shorter may cut off a remote collector, longer comes close to the
 * shutdown limit.
 */
const lastAnswerMs = 2_000;
const firstPauseMs = 1_000;
const maxPauseMs = 60_000;

/** The statuses worth a retry; the collector would refuse everything else again. */
const retryable = new Set([429, 502, 503, 504]);

type OtlpOptions = {
  /** The base address; `/v1/traces` is appended. */
  endpoint: string;
  headers: Readonly<Record<string, string>>;
  resource: Readonly<Record<string, string>>;
  log: Log;
  metrics: Metrics;
};

/**
 * Sends spans to a collector (OTLP over HTTP, as JSON). Its buffer is bounded and requests never wait for it:
 * spans that do not fit are dropped and counted.
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
      "Spans that were dropped: the buffer was full, the collector refused them, or their trace had too many.",
    );
    this.#fail = metrics.counter(
      "assay_telemetry_failures_total",
      "Requests that the collector did not accept.",
    );
    metrics.gaugeOf("assay_telemetry_spans_waiting", "Spans in the buffer.", () => this.#waiting.length);
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
      // The message may contain the address, which may contain a password.
      const { code, name } = error as { code?: string; name?: string };
      this.#note(code ?? name ?? "error");
      return "later";
    }
  }

  /** Logged only when a failure starts and ends. */
  #note(problem: string | null): void {
    const { log } = this.#options;
    if (problem !== null) this.#fail();
    if (problem !== null && !this.#isFailing)
      log.warn("the collector does not accept traces; the service continues without them", {
        reason: problem,
      });
    if (problem === null && this.#isFailing) log.info("the collector accepts traces again");
    this.#isFailing = problem !== null;
  }

  /** Sends the remaining spans within the time of one request. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#closed = true;
    this.#closedAt = performance.now();
    await this.#sending;
    if (this.#pauseMs === 0 && this.#waiting.length > 0) await this.#sendSpans();
    await this.#agent.destroy();
  }
}
