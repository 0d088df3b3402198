import { isIP } from "node:net";
import { createSecureContext } from "node:tls";
import { Agent, buildConnector, type Dispatcher } from "undici";
import type { ResolveAddresses } from "./dns.ts";
import { bareHost, isPublicAddress, urlProblem } from "./public-address.ts";

/** Why a request got no answer. */
export type SafeFetchProblem =
  | "url_refused"
  | "address_refused"
  | "name_not_resolved"
  | "connection_failed"
  | "tls_failed"
  | "timeout"
  | "response_invalid";

export class SafeFetchError extends Error {
  readonly problem: SafeFetchProblem;

  constructor(problem: SafeFetchProblem, cause?: unknown) {
    super(problem, cause === undefined ? {} : { cause });
    this.name = "SafeFetchError";
    this.problem = problem;
  }
}

/** How an answer that is no success begins. */
export type RefusedAnswer = { reason: string; start: Buffer; isCut: boolean };

type SafeAnswer = {
  status: number;
  retryAfter: string | null;
  /** Null for 2xx, and where nothing of it was asked for. */
  refusal: RefusedAnswer | null;
};
/** `body` is null when it is longer than asked for; of an answer other than 200 it is not read. */
export type SafeContent = {
  status: number;
  body: Buffer | null;
  /** What a later request may be made conditional on; null where the answer has none, or one of unlikely length. */
  etag: string | null;
  lastModified: string | null;
};

export type SafeFetch = {
  /** Why nothing may be sent to this URL, or null. Asks the name's addresses; a name without any is not a problem yet. */
  problemOf(url: string): Promise<string | null>;
  /** One POST. Answers with the status whatever it is; throws `SafeFetchError` when there is no answer in time. */
  post(
    url: string,
    request: {
      headers: Record<string, string>;
      body: string;
      timeoutMs: number;
      /** How much of an answer other than 2xx is wanted; left out, nothing. */
      refusalBytes?: number;
    },
  ): Promise<SafeAnswer>;
  /** One GET with its body. The time is for all of it; throws `SafeFetchError` when that is over, or there is no answer. */
  get(
    url: string,
    request: {
      headers: Record<string, string>;
      timeoutMs: number;
      maxBodyBytes: number;
      /** Plain http is for what is signed itself, and public. */
      protocols?: "https" | "https_or_http";
    },
  ): Promise<SafeContent>;
  close(): Promise<void>;
};

type SafeFetchOptions = {
  resolveAddresses: ResolveAddresses;
  /** Hosts in the form of `bareHost` that may be private. They are resolved by `resolveExempt`. */
  exemptHosts: ReadonlySet<string>;
  resolveExempt: ResolveAddresses;
  /** Trusted authorities in place of Node's own, for tests inside one process. */
  ca?: string;
};

const connectTimeoutMs = 15_000;
// When a name has several addresses, one that does not answer must not use up all the time.
const firstAddressTimeoutMs = 4_000;
const maxAddresses = 4;
const maxHeaderBytes = 16 * 1024;
const maxKeptBytes = 16 * 1024;
const bodyTimeoutMs = 1_000;

type AddressesOf = (host: string) => Promise<string[]>;

/** The addresses of a host, all of them allowed; or the reason why there are none. */
function createAddressCheck(options: SafeFetchOptions): AddressesOf {
  return async (host) => {
    const exempt = options.exemptHosts.has(host);
    let addresses = [host];
    if (isIP(host) === 0) {
      try {
        addresses = await (exempt ? options.resolveExempt : options.resolveAddresses)(host);
      } catch (error) {
        throw new SafeFetchError("name_not_resolved", error);
      }
    }
    // One refused address condemns the name: whoever owns the name put that address there for us to connect to.
    if (!exempt && !addresses.every(isPublicAddress)) throw new SafeFetchError("address_refused");
    return addresses;
  };
}

/** Connects to the very address that was checked; the next one is tried when one is dead. */
function createCheckedConnector(
  options: SafeFetchOptions,
  addressesOf: AddressesOf,
): buildConnector.connector {
  // One context for all connections: making one for each costs a millisecond and a hundred kilobytes.
  const secureContext = createSecureContext(options.ca === undefined ? {} : { ca: options.ca });
  const tls = { allowH2: false, maxCachedSessions: 1000, secureContext };
  const connectFully = buildConnector({ ...tls, timeout: connectTimeoutMs });
  const connectBriefly = buildConnector({ ...tls, timeout: firstAddressTimeoutMs });
  return (target, callback) => {
    const attempt = (addresses: readonly string[]) => {
      const [address, ...others] = addresses;
      if (address === undefined) {
        callback(new SafeFetchError("name_not_resolved"), null);
        return;
      }
      const connectTo = others.length > 0 ? connectBriefly : connectFully;
      // `host` stays the name: the certificate must be for it, wherever the connection goes.
      connectTo({ ...target, hostname: address }, (...[error, socket]) => {
        if (error === null && socket) callback(null, socket);
        else if (others.length > 0) attempt(others);
        else callback(error ?? new SafeFetchError("connection_failed"), null);
      });
    };
    addressesOf(bareHost(target.hostname)).then(
      (addresses) => attempt(addresses.slice(0, maxAddresses)),
      (error: Error) => callback(error, null),
    );
  };
}

/**
 * The one HTTP client for URLs that somebody else chose (protection against server-side request forgery). https only;
 * resolves names itself, refuses every address that is not global unicast, and connects to the very address that it
 * checked, so a name whose answer changes in between (DNS rebinding) gains nothing; follows no redirect; keeps little
 * of the answer.
 */
export function createSafeFetch(options: SafeFetchOptions): SafeFetch {
  const { exemptHosts } = options;
  const addressesOf = createAddressCheck(options);
  const agent = new Agent({
    connect: createCheckedConnector(options, addressesOf),
    allowH2: false,
    pipelining: 1,
    connections: null,
    maxHeaderSize: maxHeaderBytes,
    keepAliveTimeout: 4_000,
    keepAliveMaxTimeout: 60_000,
    headersTimeout: 0,
    bodyTimeout: 0,
  });

  /** `read` gets the answer; the time goes on until it stops the timer. */
  async function send<T>(
    text: string,
    request: {
      method: "GET" | "POST";
      headers: Record<string, string>;
      body?: string;
      timeoutMs: number;
      protocols?: "https" | "https_or_http";
    },
    read: (answer: Dispatcher.ResponseData, stopTimer: () => void) => Promise<T>,
  ): Promise<T> {
    if (urlProblem(text, exemptHosts, request.protocols) !== null) throw new SafeFetchError("url_refused");
    const url = new URL(text);
    const limit = new AbortController();
    const expiry = Promise.withResolvers<never>();
    // An abort signal does not reach a request that still waits for its connection, so this timer covers that as
    // well.
    const timer = setTimeout(() => {
      limit.abort();
      expiry.reject(new SafeFetchError("timeout"));
    }, request.timeoutMs);
    const stopTimer = () => clearTimeout(timer);
    try {
      const answer = agent
        .request({
          origin: url.origin,
          path: `${url.pathname}${url.search}`,
          method: request.method,
          headers: request.headers,
          body: request.body ?? null,
          signal: limit.signal,
        })
        .then((data) => {
          data.body.on("error", () => {});
          return read(data, stopTimer);
        });
      // The result of a request that has timed out is ignored.
      answer.catch(() => {});
      return await Promise.race([answer, expiry.promise]);
    } catch (error) {
      if (error instanceof SafeFetchError) throw error;
      throw new SafeFetchError(problemOfError(error), error);
    } finally {
      stopTimer();
    }
  }

  async function findProblem(text: string): Promise<string | null> {
    const problem = urlProblem(text, exemptHosts);
    if (problem !== null) return problem;
    const host = bareHost(new URL(text).hostname);
    try {
      await addressesOf(host);
      return null;
    } catch (error) {
      return error instanceof SafeFetchError && error.problem === "address_refused"
        ? "must not lead to a private or reserved address"
        : null;
    }
  }

  return {
    problemOf: findProblem,

    post: (url, { refusalBytes = 0, ...request }) =>
      send(url, { ...request, method: "POST" }, (answer, stopTimer) => {
        stopTimer();
        return readPosted(answer, refusalBytes);
      }),

    get: (url, { maxBodyBytes, ...request }) =>
      send(url, { ...request, method: "GET" }, async ({ statusCode, headers, body }, stopTimer) => {
        const about = {
          status: statusCode,
          etag: shortHeader(headers.etag),
          lastModified: shortHeader(headers["last-modified"]),
        };
        if (statusCode === 200) {
          const announced = Number(headers["content-length"] ?? 0);
          return { ...about, body: await readUpTo(body, announced, maxBodyBytes) };
        }
        stopTimer();
        await discard(body);
        return { ...about, body: null };
      }),

    close: () => agent.destroy(),
  };
}

type Body = Dispatcher.ResponseData["body"];

function shortHeader(value: string | string[] | undefined): string | null {
  return typeof value === "string" && /^[\x20-\x7e]{1,200}$/.test(value) ? value : null;
}

async function discard(body: Body): Promise<void> {
  const giveUp = setTimeout(() => body.destroy(), bodyTimeoutMs);
  await body.dump({ limit: maxKeptBytes }).catch(() => {});
  clearTimeout(giveUp);
}

/** The answer to a POST is known; its body is read only so that the connection can serve again, and for whoever wonders why it was refused. */
async function readPosted(
  { statusCode, statusText, headers, body }: Dispatcher.ResponseData,
  refusalBytes: number,
): Promise<SafeAnswer> {
  const isRefused = statusCode < 200 || statusCode > 299;
  const start = isRefused && refusalBytes > 0 ? await readStart(body, refusalBytes) : null;
  if (start === null) await discard(body);
  const retryAfter = headers["retry-after"];
  return {
    status: statusCode,
    retryAfter: typeof retryAfter === "string" ? retryAfter : null,
    refusal: start === null ? null : { reason: statusText, ...start },
  };
}

/** The first bytes of a body, which is read on as far as `discard` would. What breaks off is shown as far as it came. */
async function readStart(body: Body, maxKept: number): Promise<{ start: Buffer; isCut: boolean }> {
  const chunks: Buffer[] = [];
  let read = 0;
  let isWhole = false;
  const giveUp = setTimeout(() => body.destroy(), bodyTimeoutMs);
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      if (read < maxKept) chunks.push(chunk.subarray(0, maxKept - read));
      read += chunk.length;
      if (read > maxKeptBytes) break;
    }
    isWhole = true;
  } catch {
    // The status counts whatever becomes of the body.
  } finally {
    clearTimeout(giveUp);
  }
  return { start: Buffer.concat(chunks), isCut: !isWhole || read > maxKept };
}

/** Null for more than `maxBytes`, announced or sent; the connection is given up then. */
async function readUpTo(body: Body, announcedBytes: number, maxBytes: number): Promise<Buffer | null> {
  if (announcedBytes <= maxBytes) {
    const chunks: Buffer[] = [];
    let bytesLeft = maxBytes;
    for await (const chunk of body as AsyncIterable<Buffer>) {
      bytesLeft -= chunk.length;
      if (bytesLeft < 0) break;
      chunks.push(chunk);
    }
    if (bytesLeft >= 0) return Buffer.concat(chunks);
  }
  body.destroy();
  return null;
}

function problemOfError(error: unknown): SafeFetchProblem {
  const code = String((error as { code?: unknown }).code ?? "");
  if (/TIMEOUT|ETIMEDOUT|ABORT/.test(code)) return "timeout";
  if (
    /^(ERR_TLS|ERR_SSL|CERT_|UNABLE_TO_|DEPTH_ZERO|SELF_SIGNED|HOSTNAME_MISMATCH|INVALID_CA|EPROTO)/.test(
      code,
    )
  )
    return "tls_failed";
  if (
    (error as Error).name === "HTTPParserError" ||
    /^(HPE_|UND_ERR_HEADERS|UND_ERR_RES|UND_ERR_INFO)/.test(code)
  )
    return "response_invalid";
  return "connection_failed";
}
