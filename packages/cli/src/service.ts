import type { IncomingMessage } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { type Environment, environmentHeader } from "@assay/contract/facts";
import { CommandError } from "./command.ts";
import { type Sending, send } from "./send.ts";

const answerWithinMs = 15_000;
const healthWithinMs = 10_000;
/** The service gives a test device 20 seconds. */
const toolWithinMs = 30_000;
/** The service sends a heartbeat every 15 seconds. After three missed ones the stream is dead. */
const silenceMs = 45_000;

/** The service answered, and refused. */
export class RefusedError extends Error {
  readonly status: number;
  readonly code: string;
  readonly hint: string;
  readonly retryAfterMs: number | null;

  constructor(status: number, error: Refusal, retryAfter: string | null) {
    super(error.message);
    this.status = status;
    this.code = error.code;
    this.hint = error.hint;
    this.retryAfterMs = /^\d+$/.test(retryAfter ?? "") ? Number(retryAfter) * 1000 : null;
  }
}

/** The answer does not come from the service. */
export class NotTheServiceError extends Error {}

/** The service did not answer. */
export class UnreachableError extends Error {}

type Call = { method: string; path: string; body?: unknown; idempotencyKey?: string };
type Refusal = { code: string; message: string; hint: string };
type ToolAnswer = {
  error?: { message: string };
  result?: { isError?: boolean; content: { text: string }[]; structuredContent?: { data: unknown } };
};

/** The API as the commands need it. */
export class ServiceClient {
  readonly url: string;
  readonly #key: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #environment: Environment | null;

  /**
   * Reads only the proxy variables of `env`.
   * With an `environment`, the service refuses a key of the other one.
   */
  constructor(url: string, key: string, env: NodeJS.ProcessEnv, environment: Environment | null = null) {
    this.url = url;
    this.#key = key;
    this.#env = env;
    this.#environment = environment;
  }

  /** The data of the answer, or null where there is none. */
  async call<T>({ method, path, body, idempotencyKey }: Call): Promise<T> {
    const signal = AbortSignal.timeout(answerWithinMs);
    const response = await this.#send(path, {
      method,
      headers: {
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal,
    });
    if (response.statusCode === 204) {
      response.resume();
      return null as T;
    }
    return (await readEnvelope(response)).data as T;
  }

  /** The answer of a tool of the MCP endpoint. */
  async callTool<T>(name: string, given: object): Promise<T> {
    const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: given } };
    const response = await this.#send("/mcp", {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
      body: JSON.stringify(message),
      signal: AbortSignal.timeout(toolWithinMs),
    });
    if (statusOf(response) !== 200) {
      await readEnvelope(response);
      throw new NotTheServiceError(`answered ${statusOf(response)}, which is no answer of Assay`);
    }
    const { result, error } = JSON.parse(await readText(response)) as ToolAnswer;
    if (result === undefined) throw new NotTheServiceError(`says: ${error?.message}`);
    if (result.isError !== true) return result.structuredContent?.data as T;
    const { error: refusal } = JSON.parse(result.content[0]?.text ?? "") as { error: Refusal };
    throw new RefusedError(409, refusal, null);
  }

  /** Whether it is well, in its own words, and its time. No key is needed for it. */
  async health(): Promise<{ status: number; text: string; date: string | null }> {
    const response = await this.#send("/healthz", {
      method: "GET",
      headers: {},
      signal: AbortSignal.timeout(healthWithinMs),
    });
    return {
      status: statusOf(response),
      text: await readText(response),
      date: response.headers.date ?? null,
    };
  }

  /**
   * The messages of a stream, until it ends.
   * Comments are heartbeats; a stream that is silent for too long is closed.
   */
  async *stream<T>(path: string, signal: AbortSignal): AsyncGenerator<T> {
    const silence = new AbortController();
    const giveUp = () => silence.abort();
    let timer = setTimeout(giveUp, silenceMs);
    try {
      const response = await this.#send(path, {
        method: "GET",
        headers: { accept: "text/event-stream" },
        signal: eitherOf(signal, silence.signal),
      });
      if (!response.headers["content-type"]?.startsWith("text/event-stream")) {
        await readEnvelope(response);
        throw new NotTheServiceError("no stream came");
      }
      const decoder = new TextDecoder();
      let text = "";
      for await (const chunk of response) {
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
      throw (error as NodeJS.ErrnoException).code === "ECONNRESET"
        ? new UnreachableError("it was cut off")
        : error;
    } finally {
      clearTimeout(timer);
    }
  }

  async #send(path: string, sending: Sending): Promise<IncomingMessage> {
    const headers = {
      ...sending.headers,
      authorization: `Bearer ${this.#key}`,
      ...(this.#environment === null ? {} : { [environmentHeader]: this.#environment }),
    };
    try {
      return await send(new URL(`${this.url}${path}`), { ...sending, headers }, this.#env);
    } catch (error) {
      throw unreachable(error);
    }
  }
}

const statusOf = ({ statusCode = 0 }: IncomingMessage): number => statusCode;

async function readText(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of response) chunks.push(chunk as Buffer);
  } catch (error) {
    throw unreachable(error);
  }
  return Buffer.concat(chunks).toString("utf8");
}

async function readEnvelope(response: IncomingMessage): Promise<{ data: unknown }> {
  const text = await readText(response);
  const status = statusOf(response);
  let envelope: { data: unknown; error: Refusal | null };
  try {
    envelope = JSON.parse(text);
    if (typeof envelope !== "object" || envelope === null || !("error" in envelope)) throw new Error();
  } catch {
    const { location } = response.headers;
    throw new NotTheServiceError(
      `answered ${status}${location === undefined ? "" : ` with a redirect to ${location}`}, which is no answer of Assay`,
    );
  }
  if (envelope.error !== null)
    throw new RefusedError(status, envelope.error, response.headers["retry-after"] ?? null);
  return envelope;
}

function unreachable(error: unknown): Error {
  if (error instanceof UnreachableError || error instanceof CommandError) return error;
  const { name, message, code, cause } = error as NodeJS.ErrnoException & { cause?: { name?: string } };
  if (name === "TimeoutError" || cause?.name === "TimeoutError")
    return new UnreachableError("no answer came in time");
  return new UnreachableError(code ?? message);
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

/** Waits, or returns early when the signal aborts. */
export async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await wait(milliseconds, undefined, { signal }).catch(() => {});
}
