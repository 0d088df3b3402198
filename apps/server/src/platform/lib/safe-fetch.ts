import { isIP } from "node:net";
import { createSecureContext } from "node:tls";
import { Agent, buildConnector, type Dispatcher } from "undici";
import type { ResolveAddresses } from "./dns.ts";
import { bareHost, isPublicAddress, urlProblem } from "./public-address.ts";

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

/** The beginning of an answer other than 2xx. */
export type RefusedAnswer = { reason: string; start: Buffer; isCut: boolean };

type SafeAnswer = {
  status: number;
  retryAfter: string | null;
  /** Null for 2xx, and if none was requested. */
  refusal: RefusedAnswer | null;
};
/** `body` is null if it is longer than the limit. For a status other than 200 it is not read. */
export type SafeContent = {
  status: number;
  body: Buffer | null;
  /** Validators for a later conditional request; null if the answer has none, or an unusually long one. */
  etag: string | null;
  lastModified: string | null;
};

export type SafeFetch = {
  /**
   * Why the service must not send to this URL, or null. Resolves the name; a name without addresses is not a
   * problem yet.
   */
  problemOf(url: string): Promise<string | null>;
  /** One POST. Returns any status; throws `SafeFetchError` if there is no answer in time. */
  post(
    url: string,
    request: {
      headers: Record<string, string>;
      body: string;
      timeoutMs: number;
      /** How many bytes of an answer other than 2xx to return; by default none. */
      refusalBytes?: number;
    },
  ): Promise<SafeAnswer>;
  /**
   * One GET with its body. The time limit covers both; throws `SafeFetchError` if it passes or there is no
   * answer.
   */
  get(
    url: string,
    request: {
      headers: Record<string, string>;
      timeoutMs: number;
      maxBodyBytes: number;
      /** Plain http is only for content that is signed and public. */
      protocols?: "https" | "https_or_http";
    },
  ): Promise<SafeContent>;
  close(): Promise<void>;
};

type SafeFetchOptions = {
  resolveAddresses: ResolveAddresses;
  /** Hosts in the form of `bareHost` that may be private. `resolveExempt` resolves them. */
  exemptHosts: ReadonlySet<string>;
  resolveExempt: ResolveAddresses;
  /** For tests: trusted authorities instead of Node's. */
  ca?: string;
};

const connectTimeoutMs = 15_000;
// If a name has several addresses, one that does not answer must not use up all the time.
const firstAddressTimeoutMs = 4_000;
const maxAddresses = 4;
const maxHeaderBytes = 16 * 1024;
const maxKeptBytes = 16 * 1024;
const bodyTimeoutMs = 1_000;

type AddressesOf = (host: string) => Promise<string[]>;

/** The addresses of a host, all of them allowed; throws otherwise. */
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
    // One private address disqualifies the name: its owner put it there for us to connect to.
    if (!exempt && !addresses.every(isPublicAddress)) throw new SafeFetchError("address_refused");
    return addresses;
  };
}

/** Connects to an address that was checked, and tries the next one if it does not answer. */
function createCheckedConnector(
  options: SafeFetchOptions,
  addressesOf: AddressesOf,
): buildConnector.connector {
  // One context for all connections: each costs a millisecond and a hundred kilobytes.
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
      // `host` stays the name: the certificate must match it, whatever the address.
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
 * The HTTP client for URLs that users choose (protection against server-side request forgery). It uses https
 * only, resolves names itself and refuses addresses that are not global unicast. It connects to the address
 * that it checked, which prevents DNS rebinding. It follows no redirect and keeps little of the answer.
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

  /** `read` gets the answer; the timer runs until `read` stops it. */
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
    // An abort signal does not reach a request that still waits for a connection, so the timer covers that as
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
      // The result of a timed-out request is ignored.
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

/** Reads the body of the answer to a POST only to reuse the connection, and to show why it was refused. */
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

/**
 * The first bytes of a body; reads on as far as `discard` would. A body that breaks off is shown up to there.
 */
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
    // The status counts, whatever happens to the body.
  } finally {
    clearTimeout(giveUp);
  }
  return { start: Buffer.concat(chunks), isCut: !isWhole || read > maxKept };
}

/** Null if the body is announced or sent with more than `maxBytes`; then the connection is closed. */
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
