import { setTimeout as wait } from "node:timers/promises";

const answerWithinMs = 15_000;
/** The service sends a sign of life every 15 seconds; without three of them the stream is dead, whatever the socket says. */
export const silenceMs = 45_000;

/** The service answered, and refused. */
export class RefusedError extends Error {
  readonly status: number;
  readonly code: string;
  readonly hint: string;
  readonly retryAfterMs: number | null;

  constructor(
    status: number,
    error: { code: string; message: string; hint: string },
    retryAfter: string | null,
  ) {
    super(error.message);
    this.status = status;
    this.code = error.code;
    this.hint = error.hint;
    this.retryAfterMs = /^\d+$/.test(retryAfter ?? "") ? Number(retryAfter) * 1000 : null;
  }
}

/** Whoever answered is not the service. */
export class NotTheServiceError extends Error {}

/** Nobody answered. */
export class UnreachableError extends Error {}

type Call = { method: string; path: string; body?: unknown; idempotencyKey?: string };

/** The API as the listener needs it. */
export class ServiceClient {
  readonly url: string;
  readonly #key: string;

  constructor(url: string, key: string) {
    this.url = url;
    this.#key = key;
  }

  /** The data of the answer, or null where there is none. */
  async call<T>({ method, path, body, idempotencyKey }: Call): Promise<T> {
    const response = await this.#fetch(path, {
      method,
      headers: {
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(answerWithinMs),
    });
    if (response.status === 204) return null as T;
    return (await readEnvelope(response)).data as T;
  }

  /**
   * The messages of a stream, until it ends. Comments, which are signs of life, keep it alive; a stream that is silent for too long is given up.
   */
  async *stream<T>(path: string, signal: AbortSignal): AsyncGenerator<T> {
    const silence = new AbortController();
    const giveUp = () => silence.abort();
    let timer = setTimeout(giveUp, silenceMs);
    try {
      const response = await this.#fetch(path, {
        method: "GET",
        headers: { accept: "text/event-stream" },
        signal: eitherOf(signal, silence.signal),
      });
      if (!response.headers.get("content-type")?.startsWith("text/event-stream")) {
        await readEnvelope(response);
        throw new NotTheServiceError("no stream came");
      }
      const decoder = new TextDecoder();
      let text = "";
      for await (const chunk of response.body ?? []) {
        clearTimeout(timer);
        timer = setTimeout(giveUp, silenceMs);
        text += decoder.decode(chunk as Uint8Array, { stream: true });
        for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
          const data = /^data: (.*)$/m.exec(text.slice(0, end))?.[1];
          text = text.slice(end + 2);
          if (data !== undefined) yield JSON.parse(data) as T;
        }
      }
    } catch (error) {
      if (silence.signal.aborted) throw new UnreachableError("nothing was heard for 45 seconds");
      throw error instanceof TypeError ? new UnreachableError("it was cut off") : error;
    } finally {
      clearTimeout(timer);
    }
  }

  async #fetch(path: string, init: RequestInit & { headers: Record<string, string> }): Promise<Response> {
    try {
      return await fetch(`${this.url}${path}`, {
        ...init,
        redirect: "manual",
        headers: { ...init.headers, authorization: `Bearer ${this.#key}` },
      });
    } catch (error) {
      throw unreachable(error);
    }
  }
}

async function readEnvelope(response: Response): Promise<{ data: unknown }> {
  const text = await response.text().catch((error) => {
    throw unreachable(error);
  });
  const { status, headers } = response;
  let envelope: { data: unknown; error: { code: string; message: string; hint: string } | null };
  try {
    envelope = JSON.parse(text);
    if (typeof envelope !== "object" || envelope === null || !("error" in envelope)) throw new Error();
  } catch {
    const location = headers.get("location");
    throw new NotTheServiceError(
      `answered ${status}${location === null ? "" : ` with a redirect to ${location}`}, which is no answer of Assay`,
    );
  }
  if (envelope.error !== null) throw new RefusedError(status, envelope.error, headers.get("retry-after"));
  return envelope;
}

function unreachable(error: unknown): Error {
  if (error instanceof UnreachableError) return error;
  const { name, message, cause } = error as Error & { cause?: { code?: string; message?: string } };
  if (name === "TimeoutError") return new UnreachableError("no answer came in time");
  return new UnreachableError(cause?.code ?? cause?.message ?? message);
}

/** `AbortSignal.any` is not in every Node 20. */
function eitherOf(...signals: readonly AbortSignal[]): AbortSignal {
  const either = new AbortController();
  for (const signal of signals) {
    if (signal.aborted) either.abort();
    signal.addEventListener("abort", () => either.abort(), { once: true });
  }
  return either.signal;
}

/** Waits, or less where the signal says so. */
export async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await wait(milliseconds, undefined, { signal }).catch(() => {});
}
