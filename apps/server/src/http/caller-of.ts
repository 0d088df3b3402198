import { hash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { BlockList, isIP, isIPv6, type Socket } from "node:net";
import type { Caller } from "../kernel/caller.ts";
import { sessionTokenOf } from "./session-cookie.ts";

/** Who a request is counted with, where it comes from, and under which name what it presented is remembered. */
export type CallerOf = { caller: string; address: string; credential: string | null };

/** Credentials remembered at the same time. Forgotten, one counts by its address for a single request. */
const mostCredentials = 10_000;

/**
 * Whom a request is counted with, decided before anybody has looked who sends it. All that an organization sends is one caller,
 * whichever of its keys and members sends it. Whose a credential is becomes known when it is accepted and is remembered as a hint (of a hash, so that no
 * credential is kept). What was never accepted is counted by address: anybody can make up credentials, but not addresses.
 */
export class Callers {
  readonly #isSecure: () => boolean;
  readonly #proxies: BlockList | null;
  readonly #owners = new Map<string, string>();
  readonly #latest = new WeakMap<Socket, { shown: string; credential: string }>();

  constructor(options: { isSecure: () => boolean; trustProxy: readonly string[] }) {
    this.#isSecure = options.isSecure;
    this.#proxies = options.trustProxy.length > 0 ? blockListOf(options.trustProxy) : null;
  }

  of(request: IncomingMessage): CallerOf {
    const { url = "", headers } = request;
    const address = this.#addressOf(request);
    const isPerson = url.startsWith("/v1/verify/") || url.startsWith("/verify/");
    const shown = headers.authorization ?? sessionTokenOf(headers.cookie, this.#isSecure());
    if (isPerson || shown === null) return { caller: address, address, credential: null };
    const credential = this.#nameOf(shown, request.socket);
    return { caller: this.#owners.get(credential) ?? address, address, credential };
  }

  /** Most clients present the same on a connection again and again, and a hash costs more than all the rest. */
  #nameOf(shown: string, socket: Socket): string {
    const latest = this.#latest.get(socket);
    if (latest?.shown === shown) return latest.credential;
    const credential = hash("sha256", shown, "base64");
    this.#latest.set(socket, { shown, credential });
    return credential;
  }

  /** What was presented is this caller's. */
  learn(credential: string, caller: Caller): void {
    const organizationId =
      caller.kind === "key" ? caller.organizationId : (caller.membership?.organizationId ?? null);
    const owner = organizationId ?? (caller.kind === "user" ? caller.userId : "");
    if (this.#owners.get(credential) === owner) return;
    // A map remembers the order in which its keys came: the first is the one that was learnt longest ago.
    if (this.#owners.size >= mostCredentials) this.forget(this.#owners.keys().next().value ?? "");
    this.#owners.set(credential, owner);
  }

  /** It was refused: whoever goes on sending it does so at nobody's cost but that of their own address. */
  forget(credential: string): void {
    this.#owners.delete(credential);
  }

  #addressOf({ socket, headers }: IncomingMessage): string {
    let address = socket.remoteAddress ?? "";
    if (this.#proxies !== null) {
      const hops = String(headers["x-forwarded-for"] ?? "").split(",");
      while (isProxy(this.#proxies, address)) {
        const before = hops.pop()?.trim() ?? "";
        if (isIP(before) === 0) break;
        address = before;
      }
    }
    return `address ${networkOf(address)}`;
  }
}

/** Who has one address of version 6 has the other 2⁶⁴ of its network, too. */
function networkOf(address: string): string {
  if (!isIPv6(address) || address.startsWith("::ffff:")) return address;
  const [head = "", tail] = address.split("::");
  const first = head.split(":");
  if (tail !== undefined) {
    const last = tail === "" ? [] : tail.split(":");
    while (first.length + last.length < 8) first.push("0");
    first.push(...last);
  }
  return first
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ""))
    .join(":");
}

function isProxy(proxies: BlockList, address: string): boolean {
  const version = isIP(address);
  return version !== 0 && proxies.check(address, version === 6 ? "ipv6" : "ipv4");
}

function blockListOf(entries: readonly string[]): BlockList {
  const list = new BlockList();
  for (const entry of entries) {
    const [address = "", prefix] = entry.split("/");
    const version = isIPv6(address) ? "ipv6" : "ipv4";
    if (prefix === undefined) list.addAddress(address, version);
    else list.addSubnet(address, Number(prefix), version);
  }
  return list;
}
