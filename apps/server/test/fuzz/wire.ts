import { connect, type Socket } from "node:net";
import { brotliDecompressSync, gunzipSync } from "node:zlib";

export type WireRequest = {
  method: string;
  /** Sent unchanged. */
  target: string;
  headers: readonly (readonly [name: string, value: string])[];
  body: Buffer | null;
  /** In chunks of this many bytes instead of with a length. */
  chunkBytes?: number;
  /** Nothing is added to the headers, and the connection is not used again. */
  bare?: true;
};

export type WireAnswer = {
  status: number;
  headers: ReadonlyMap<string, string>;
  /** Once decompressed. */
  body: Buffer;
};

const patienceMs = 30_000;

/** One connection to the service, on which bytes are sent that an ordinary client would refuse to send. */
export class Wire {
  readonly #host: string;
  readonly #port: number;
  #socket: Socket | null = null;

  constructor(url: string) {
    const { hostname, port } = new URL(url);
    this.#host = hostname;
    this.#port = Number(port);
  }

  /** Null when the service closed the connection, or said nothing for a while. */
  async send(request: WireRequest): Promise<WireAnswer | null> {
    const reused = this.#socket !== null;
    const answer = await this.#exchange(request);
    // A connection that was kept may have been closed by the service in the meantime.
    return answer === null && reused ? this.#exchange(request) : answer;
  }

  close(): void {
    this.#socket?.destroy();
    this.#socket = null;
  }

  #exchange(request: WireRequest): Promise<WireAnswer | null> {
    const socket = this.#socket ?? connect(this.#port, this.#host).setNoDelay(true);
    this.#socket = socket;
    const { promise, resolve } = Promise.withResolvers<WireAnswer | null>();
    let received: Buffer = Buffer.alloc(0);
    const finish = (answer: WireAnswer | null, keep: boolean) => {
      clearTimeout(timer);
      socket.removeAllListeners();
      socket.on("error", () => {});
      if (!keep || request.bare) this.close();
      resolve(answer);
    };
    const timer = setTimeout(() => finish(null, false), patienceMs);
    socket.on("data", (chunk: Buffer) => {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
      const whole = parse(received, request.method === "HEAD", false);
      if (whole !== null) finish(whole.answer, whole.keep);
    });
    const ended = () => finish(parse(received, request.method === "HEAD", true)?.answer ?? null, false);
    socket.on("close", ended);
    socket.on("error", ended);
    socket.write(bytesOf(request, `${this.#host}:${this.#port}`));
    return promise;
  }
}

export function bytesOf(request: WireRequest, host: string): Buffer {
  const lines = [`${request.method} ${request.target} HTTP/1.1`];
  if (!request.bare) lines.push(`host: ${host}`);
  for (const [name, value] of request.headers) lines.push(`${name}: ${value}`);
  if (!request.bare && request.chunkBytes !== undefined) lines.push("transfer-encoding: chunked");
  else if (!request.bare && request.body !== null) lines.push(`content-length: ${request.body.length}`);
  const head = Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1");
  if (request.body === null) return head;
  if (request.chunkBytes === undefined) return Buffer.concat([head, request.body]);
  const parts: Buffer[] = [head];
  for (let at = 0; at < request.body.length; at += request.chunkBytes) {
    const part = request.body.subarray(at, at + request.chunkBytes);
    parts.push(Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from("\r\n"));
  }
  return Buffer.concat([...parts, Buffer.from("0\r\n\r\n")]);
}

/** The answer, once it is complete. */
function parse(
  received: Buffer,
  isHead: boolean,
  ended: boolean,
): { answer: WireAnswer; keep: boolean } | null {
  const end = received.indexOf("\r\n\r\n");
  if (end < 0) return null;
  const [statusLine = "", ...lines] = received.subarray(0, end).toString("latin1").split("\r\n");
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(statusLine)?.[1] ?? 0);
  // An interim answer (100 Continue) comes before the real one.
  if (status === 100) return parse(received.subarray(end + 4), isHead, ended);
  const headers = new Map(
    lines.map((line): [string, string] => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const rest = received.subarray(end + 4);
  const body =
    isHead || status === 204 || status === 304 || status === 101
      ? rest.subarray(0, 0)
      : bodyOf(headers, rest, ended);
  if (body === null) return null;
  const keep = headers.get("connection") !== "close" && status !== 101 && !headers.has("transfer-encoding");
  return { answer: { status, headers, body: unpack(body, headers.get("content-encoding")) }, keep };
}

function bodyOf(headers: ReadonlyMap<string, string>, rest: Buffer, ended: boolean): Buffer | null {
  const length = headers.get("content-length");
  if (length !== undefined)
    return rest.length >= Number(length) || ended ? rest.subarray(0, Number(length)) : null;
  // Of a stream of events the first one is enough: it goes on for as long as the session does.
  const isStream = headers.get("content-type")?.startsWith("text/event-stream") === true;
  if (isStream) return ended || rest.includes("data: ") ? rest : null;
  return ended ? rest : null;
}

function unpack(body: Buffer, encoding: string | undefined): Buffer {
  if (body.length === 0) return body;
  if (encoding === "gzip") return gunzipSync(body);
  if (encoding === "br") return brotliDecompressSync(body);
  return body;
}

/** The request as a command that sends the same. */
export function asCurl(request: WireRequest, url: string): string {
  const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
  const bytes = request.body;
  const text = bytes?.toString("utf8") ?? "";
  const isText = bytes === null || (Buffer.from(text).equals(bytes) && !text.includes("\0"));
  const data = bytes === null ? [] : isText ? ["--data-binary", quote(text)] : ["--data-binary", "@-"];
  const command = [
    "curl -i --path-as-is",
    request.method === "HEAD" ? "-I" : `-X ${quote(request.method)}`,
    ...request.headers.flatMap(([name, value]) => ["-H", quote(`${name}: ${value}`)]),
    ...(request.chunkBytes === undefined ? [] : ["-H", "'transfer-encoding: chunked'"]),
    ...data,
    quote(url + request.target),
  ].join(" ");
  return isText ? command : `echo ${bytes?.toString("base64")} | base64 -d | ${command}`;
}
