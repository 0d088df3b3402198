import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { deserialize, serialize } from "node:v8";
import { callKey, callProtocol, callTls } from "./call-keys.ts";
import type { KeyRing } from "./key-ring.ts";
import type { Metrics } from "./metrics.ts";

/** What carries out a call has no place for it now. The caller asks another process, or waits. */
export class NoRoomError extends Error {
  constructor() {
    super("there is no room for this call now");
  }
}

export type CallHandler = {
  /** Answered also without room and while the process is about to end: what is asked is how it stands. */
  always?: true;
  /** Asked before anything of the call is read, so that nobody sends megabytes in vain. */
  hasRoom?: () => boolean;
  answer: (question: unknown) => Promise<unknown>;
  /** Overwrites the answer once it was copied to be sent. */
  wipe?: (answer: unknown) => void;
};

export type CallServerOptions = {
  ring: KeyRing;
  metrics: Metrics;
  host: string;
  port: number;
  /** By the name of the call. */
  handlers: Readonly<Record<string, CallHandler>>;
  /** Of one call, and of all that are here at the same time. */
  mostBytes: { call: number; all: number };
};

/** Half: twice as many small messages for each call that takes long. Twice: callers notice a machine that has vanished later. */
const aliveEveryMs = 2_000;
/** A caller that stops in the middle of what it sends. Half: a full network for so long fails calls. Twice: its bytes are held longer. */
const requestMs = 30_000;
/** Longer than callers keep a connection that nothing is sent on, so that it is they who close it. */
const keepAliveMs = 120_000;

/** A question about how the process stands says nothing. More would be memory that nothing bounds. */
const mostStandingBytes = 64;

/**
 * Answers the calls of other processes of the installation: HTTP over TLS with a key from the key ring. Questions and answers are values in the form of a structured clone. Nothing of them is logged or
 * kept, and the question is overwritten once it was answered.
 */
export class CallServer {
  readonly #options: CallServerOptions;
  readonly #server: Server;
  readonly #count: (outcome: string) => void;
  #bytes = 0;
  #open = 0;
  #leaving = false;
  #rested: (() => void) | null = null;

  constructor(options: CallServerOptions) {
    this.#options = options;
    const counter = options.metrics.counter(
      "assay_calls_served_total",
      "Calls of other processes, by how they ended.",
    );
    this.#count = (outcome) => counter({ outcome });
    options.metrics.gaugeOf(
      "assay_calls_open",
      "Calls of other processes that are worked on.",
      () => this.#open,
    );
    this.#server = createServer(
      {
        ...callTls,
        // No word about which key is lacking: whoever asks either knows or has no business here.
        pskCallback: (_socket, id) => callKey(options.ring, id),
        requestTimeout: requestMs,
        keepAliveTimeout: keepAliveMs,
      },
      (_request, response) => refuse(response, 417),
    );
    this.#server.on("checkContinue", (request, response) => void this.#take(request, response));
    // Whoever has no key of the ring is not heard any further.
    this.#server.on("tlsClientError", (_error, socket) => {
      this.#count("refused");
      socket.destroy();
    });
  }

  listen(): Promise<number> {
    const { host, port } = this.#options;
    return new Promise((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(port, host, () => resolve((this.#server.address() as AddressInfo).port));
    });
  }

  get leaving(): boolean {
    return this.#leaving;
  }

  /** From now on callers are sent elsewhere. Resolves when the calls that were taken have been answered. */
  leave(): Promise<void> {
    this.#leaving = true;
    if (this.#open === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#rested = resolve;
    });
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    await closed;
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { handlers, mostBytes } = this.#options;
    const path = request.url ?? "";
    const prefix = `/${callProtocol}/`;
    const handler = path.startsWith(prefix) ? handlers[path.slice(prefix.length)] : undefined;
    const length = Number(request.headers["content-length"] ?? Number.NaN);
    if (handler === undefined) return this.#refuse(response, 404, "unknown");
    if (!(length <= mostBytes.call)) return this.#refuse(response, 413, "too_large");
    if (handler.always === true) return this.#tellStanding(request, response, handler, length);
    if (this.#leaving) return this.#refuse(response, 503, "leaving");
    if (this.#bytes + length > mostBytes.all || handler.hasRoom?.() === false)
      return this.#refuse(response, 503, "busy");
    this.#bytes += length;
    this.#open++;
    try {
      this.#count(await this.#answer(request, response, handler, length));
    } finally {
      this.#bytes -= length;
      this.#open--;
      if (this.#open === 0) this.#rested?.();
    }
  }

  /** No work for anybody, so that it is not counted as a call, and nobody waits for it before the end. */
  async #tellStanding(
    request: IncomingMessage,
    response: ServerResponse,
    handler: CallHandler,
    length: number,
  ): Promise<void> {
    if (length > mostStandingBytes) return this.#refuse(response, 413, "too_large");
    await this.#answer(request, response, handler, length);
  }

  async #answer(
    request: IncomingMessage,
    response: ServerResponse,
    handler: CallHandler,
    length: number,
  ): Promise<string> {
    response.writeContinue();
    const body = await readWhole(request, length);
    if (body === null) {
      response.destroy();
      return "cut_short";
    }
    const alive = setInterval(() => response.writeProcessing(), aliveEveryMs);
    response.once("close", () => clearInterval(alive));
    try {
      const answered = await handler.answer(deserialize(body));
      const answer = serialize(answered);
      handler.wipe?.(answered);
      response.writeHead(200, { "content-length": answer.length });
      response.end(answer, () => answer.fill(0));
      return "answered";
    } catch (error) {
      const busy = error instanceof NoRoomError;
      refuse(response, busy ? 503 : 500);
      return busy ? "busy" : "failed";
    } finally {
      clearInterval(alive);
      body.fill(0);
    }
  }

  #refuse(response: ServerResponse, status: number, outcome: string): void {
    this.#count(outcome);
    refuse(response, status);
  }
}

function refuse(response: ServerResponse, status: number): void {
  response.writeHead(status, { "content-length": 0 });
  response.end();
}

/** Null where it ends before its time. */
async function readWhole(request: IncomingMessage, length: number): Promise<Buffer | null> {
  const whole = Buffer.alloc(length);
  let read = 0;
  try {
    for await (const part of request as AsyncIterable<Buffer>) {
      part.copy(whole, read);
      read += part.length;
      part.fill(0);
    }
  } catch {
    read = -1;
  }
  if (read === length) return whole;
  whole.fill(0);
  return null;
}
