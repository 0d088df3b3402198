import { randomInt } from "node:crypto";
import { createSocket } from "node:dgram";
import nodeDns from "node:dns";
import { lookup } from "node:dns/promises";
import { connect, isIP, isIPv6 } from "node:net";
import {
  canonicalName,
  type DnsAnswer,
  DnsFormatError,
  decodeAnswer,
  encodeQuery,
  isAskableName,
  type RecordType,
  recordTypes,
} from "./dns-message.ts";

/**
 * `failed`: a resolver answered with an error (SERVFAIL, REFUSED …). `unavailable`: no resolver answered. A
 * name that does not exist, or has no such record, is not an error: the result is an empty list.
 */
type DnsFailure = "failed" | "unavailable";

export class DnsError extends Error {
  readonly kind: DnsFailure;

  constructor(kind: DnsFailure, message: string) {
    super(message);
    this.name = "DnsError";
    this.kind = kind;
  }
}

/** The addresses of a host name, or an empty list if it has none. Throws if no resolver answers. */
export type ResolveAddresses = (host: string) => Promise<string[]>;

export type Dns = {
  /** The values of all TXT records of a name, each joined from its strings. */
  resolveTxt(name: string): Promise<string[]>;
  /** The IPv4 and IPv6 addresses of a host name. An address is returned as it is. */
  resolveAddresses: ResolveAddresses;
};

type DnsOptions = {
  /** `ip`, `ip:port` or `[ip]:port`. Empty: the system's resolvers. */
  resolvers: readonly string[];
  /** Time for one query to one resolver. */
  timeoutMs: number;
};

const rounds = 2;
// Maximum number of queries for one lookup, so that a chain of slow aliases does not hold a request for
// minutes.
const triesInAll = 6;
const maxCnameHops = 8;

type Resolver = { address: string; port: number };

export function createDns({ resolvers, timeoutMs }: DnsOptions): Dns {
  const parsed = (texts: readonly string[]) => texts.map(parseResolver).filter((found) => found !== null);
  const configured = parsed(resolvers);
  // Through the module: a named import would keep the list from before a `setServers`.
  const servers = () => (configured.length > 0 ? configured : parsed(nodeDns.getServers()));

  async function resolveTxt(name: string): Promise<string[]> {
    const records = await resolveRecords(servers(), name, "TXT", timeoutMs);
    return records.flatMap((record) => (record.type === "TXT" ? [record.text] : []));
  }

  async function resolveAddresses(name: string): Promise<string[]> {
    const host = canonicalName(name);
    if (isIP(host) !== 0) return [host];
    // RFC 6761: these names always mean this machine.
    if (host === "localhost" || host.endsWith(".localhost")) return ["127.0.0.1", "::1"];
    const results = await Promise.allSettled(
      (["A", "AAAA"] as const).map((type) => resolveRecords(servers(), host, type, timeoutMs)),
    );
    const addresses = results.flatMap((result) =>
      result.status === "fulfilled"
        ? result.value.flatMap((record) => ("address" in record ? [record.address] : []))
        : [],
    );
    const failure = results.find((result) => result.status === "rejected");
    if (addresses.length === 0 && failure !== undefined) throw failure.reason;
    return [...new Set(addresses)];
  }

  return { resolveTxt, resolveAddresses };
}

/** `9.9.9.9`, `9.9.9.9:53` or `[2620:fe::fe]:53`; null if it is none of these. */
export function parseResolver(text: string): Resolver | null {
  const match = isIPv6(text) ? null : /^(?:\[([^\]]+)\]|([^:]+))(?::(\d{1,5}))?$/.exec(text);
  const [address, port] = [match?.[1] ?? match?.[2] ?? text, Number(match?.[3] ?? 53)];
  return isIP(address) !== 0 && port <= 65_535 ? { address, port } : null;
}

/**
 * Resolves as the machine does, including its hosts file, which only getaddrinfo reads. Only for names of the
 * operator: getaddrinfo has four threads, and names with silent servers would delay all file operations.
 */
export async function lookUpLocally(host: string): Promise<string[]> {
  const found = await lookup(host, { all: true });
  return found.map(({ address }) => address);
}

/** The records of this type of a name, after following its aliases. */
async function resolveRecords(
  resolvers: readonly Resolver[],
  name: string,
  type: RecordType,
  timeoutMs: number,
): Promise<DnsAnswer["records"]> {
  if (!isAskableName(name)) return [];
  const deadline = performance.now() + triesInAll * timeoutMs;
  let current = canonicalName(name);
  const seen = new Set<string>();
  for (let hop = 0; hop <= maxCnameHops; hop++) {
    const answer = await ask(resolvers, current, type, { timeoutMs, deadline });
    // Resolvers return the aliases and their target in one answer; a few leave the last step to the client.
    const asked = current;
    for (;;) {
      if (seen.has(current)) throw new DnsError("failed", "the name is an alias of itself");
      seen.add(current);
      const records = answer.records.filter((record) => record.name === current && record.type === type);
      if (records.length > 0) return records;
      const alias = answer.records.find((record) => record.name === current && record.type === "CNAME");
      if (alias?.type !== "CNAME") break;
      current = alias.target;
    }
    if (current === asked || answer.responseCode === noSuchName || !isAskableName(current)) return [];
    seen.delete(current);
  }
  throw new DnsError("failed", "the chain of aliases is too long");
}

const noError = 0;
const noSuchName = 3;

/** Queries each resolver, twice, until one answers. After an error the next one is tried. */
async function ask(
  resolvers: readonly Resolver[],
  name: string,
  type: RecordType,
  limits: { timeoutMs: number; deadline: number },
): Promise<DnsAnswer> {
  let answered = false;
  for (let round = 0; round < rounds; round++) {
    for (const resolver of resolvers) {
      const leftMs = limits.deadline - performance.now();
      if (leftMs <= 0) break;
      try {
        const answer = await askOne(resolver, name, type, Math.min(limits.timeoutMs, leftMs));
        if (answer.responseCode === noError || answer.responseCode === noSuchName) return answer;
        answered = true;
      } catch (error) {
        // An invalid message is an answer as well: the resolver is reachable but broken.
        if (error instanceof DnsFormatError) answered = true;
      }
    }
  }
  throw answered
    ? new DnsError("failed", "every resolver answered with an error")
    : new DnsError("unavailable", "no resolver answered");
}

async function askOne(
  resolver: Resolver,
  name: string,
  type: RecordType,
  timeoutMs: number,
): Promise<DnsAnswer> {
  const id = randomInt(0x10000);
  const query = encodeQuery(id, name, type);
  const isOurs = (answer: DnsAnswer) =>
    answer.isResponse &&
    answer.id === id &&
    (answer.question === null
      ? // Some servers omit the question in an error; an answer with records must repeat it.
        answer.responseCode !== noError && answer.responseCode !== noSuchName
      : answer.question.name === canonicalName(name) &&
        answer.question.type === recordTypes[type] &&
        answer.question.class === 1);
  const answer = await overUdp(resolver, query, timeoutMs, isOurs);
  return answer.isTruncated ? overTcp(resolver, query, timeoutMs, isOurs) : answer;
}

/**
 * Sends one datagram and receives the matching one. The socket has a random port and is connected, so that
 * only the resolver can answer. A datagram that does not match the question is ignored.
 */
function overUdp(
  resolver: Resolver,
  query: Buffer,
  timeoutMs: number,
  isOurs: (answer: DnsAnswer) => boolean,
): Promise<DnsAnswer> {
  const socket = createSocket(isIPv6(resolver.address) ? "udp6" : "udp4");
  const { promise, resolve, reject } = Promise.withResolvers<DnsAnswer>();
  let unreadable: DnsFormatError | null = null;
  const timer = setTimeout(() => reject(unreadable ?? new Error("timeout")), timeoutMs);
  socket.on("error", reject);
  socket.on("message", (message) => {
    // A message without the id of the query is ignored, even if it is invalid.
    if (message.length < 2 || message.readUInt16BE(0) !== query.readUInt16BE(0)) return;
    try {
      const answer = decodeAnswer(message);
      if (isOurs(answer)) resolve(answer);
    } catch (error) {
      if (error instanceof DnsFormatError) unreadable = error;
      else reject(error);
    }
  });
  let isOver = false;
  socket.connect(resolver.port, resolver.address, () => {
    if (isOver) return;
    socket.send(query, (error) => {
      if (error) reject(error);
    });
  });
  return promise.finally(() => {
    isOver = true;
    clearTimeout(timer);
    socket.close();
  });
}

/** The same over TCP, where a length precedes each message. */
function overTcp(
  resolver: Resolver,
  query: Buffer,
  timeoutMs: number,
  isOurs: (answer: DnsAnswer) => boolean,
): Promise<DnsAnswer> {
  const socket = connect({ host: resolver.address, port: resolver.port });
  const { promise, resolve, reject } = Promise.withResolvers<DnsAnswer>();
  // For the whole exchange, so that a server which sends single bytes cannot hold it.
  const timer = setTimeout(() => reject(new Error("timeout")), timeoutMs);
  socket.on("error", reject);
  socket.on("close", () => reject(new Error("the connection was closed before an answer")));
  socket.on("connect", () => {
    const length = Buffer.alloc(2);
    length.writeUInt16BE(query.length, 0);
    socket.write(Buffer.concat([length, query]));
  });
  let received = Buffer.alloc(0);
  socket.on("data", (chunk) => {
    received = Buffer.concat([received, chunk]);
    if (received.length < 2) return;
    const length = received.readUInt16BE(0);
    if (received.length < 2 + length) return;
    try {
      const answer = decodeAnswer(received.subarray(2, 2 + length));
      if (answer.isTruncated) throw new DnsFormatError("an answer over TCP is truncated");
      if (!isOurs(answer)) throw new DnsFormatError("the answer is to another question");
      resolve(answer);
    } catch (error) {
      reject(error);
    }
  });
  return promise.finally(() => {
    clearTimeout(timer);
    socket.destroy();
  });
}
