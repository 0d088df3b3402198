import { Agent, request } from "node:https";
import { deserialize, serialize } from "node:v8";
import { callKey, callProtocol, callTls } from "./call-keys.ts";
import { readStanding, type SeenPeer, standingCall, stateOf } from "./call-standing.ts";
import type { ResolveAddresses } from "./dns.ts";
import type { KeyRing } from "./key-ring.ts";
import type { Log } from "./log.ts";
import type { Metrics } from "./metrics.ts";
import { parseHost } from "./parse-host.ts";

/** No process took the call: each has no room, is about to end or cannot be reached. It may be made again shortly. */
export class NobodyFreeError extends Error {
  constructor() {
    super("no process has room for this call");
  }
}

/** The process that had taken the call is gone, or says nothing any more. The call may be made again. */
export class CallLostError extends Error {
  constructor() {
    super("the process that worked on this is gone");
  }
}

/** The process has answered that it could not carry out the call. */
export class CallFailedError extends Error {
  constructor() {
    super("the process that worked on this failed");
  }
}

export type CallClientOptions = {
  /** What these processes do, for log and metrics. */
  role: string;
  /** `name:port` or `[address]:port`. Each address of a name is a process of its own. */
  hosts: readonly string[];
  ring: KeyRing;
  /** Told when nobody can be reached. Null where nobody has to wait for that. */
  log: Log | null;
  count: CountCalls;
  resolveAddresses: ResolveAddresses;
  timing?: Partial<CallTiming>;
};

export type CountCalls = (labels: { role: string; outcome: string }) => void;

/** One counter for all roles: a name may be in the metrics once. */
export function callCounter(metrics: Metrics): CountCalls {
  return metrics.counter(
    "assay_calls_total",
    "Calls to processes of other roles, by role and by how they ended.",
  );
}

type CallTiming = {
  /** Until a process says whether it takes the call. Half: one on a machine with many times its load is passed over. Twice: one that has vanished holds up calls for longer. */
  takeMs: number;
  /** Silence of a process that has taken the call; it says every two seconds that it is still at it. Half and twice: the same. */
  silenceMs: number;
  /** One that could not be reached is asked after the others for this time. Half: a dead machine holds up twice as many calls. Twice: one that is back waits for work for longer. */
  restMs: number;
  /** How long the addresses of a name are believed. Half: twice the lookups. Twice: new processes wait for work for longer. */
  namesMs: number;
};

const defaultTiming: CallTiming = { takeMs: 5_000, silenceMs: 15_000, restMs: 5_000, namesMs: 5_000 };
/** Of a connection without a call. Shorter than the process at the other end keeps it. */
const idleMs = 60_000;

/** One process at the other end. Whoever has been answered by it can ask it again. */
export type CallPeer = {
  readonly address: string;
  readonly port: number;
  /** By the id of the key that they are opened with. */
  readonly agents: Map<string, Agent>;
  /** The key of the ring that it knows, where the current one was refused. */
  keyId: string | null;
  open: number;
  restsUntil: number;
  busyAt: number;
};

type Asked =
  | { kind: "answered"; body: Buffer }
  | { kind: "refused"; status: number }
  /** It never took the call, so nothing was begun. */
  | { kind: "not_taken"; stale: boolean; keyRefused: boolean }
  | { kind: "lost" };

/** Calls processes of another role. The one with the fewest open calls comes first; who has no room or cannot be reached is passed over. */
export class CallClient {
  readonly #options: CallClientOptions;
  readonly #timing: CallTiming;
  readonly #count: (outcome: string) => void;
  readonly #peers = new Map<string, CallPeer>();
  #known: readonly CallPeer[] = [];
  /** By the names of the configuration; empty for one that leads nowhere. */
  #byHost = new Map<string, readonly CallPeer[]>();
  #knownUntil = 0;
  #looking: Promise<void> | null = null;
  #unreachable = false;
  #closed = false;

  constructor(options: CallClientOptions) {
    this.#options = options;
    this.#timing = { ...defaultTiming, ...options.timing };
    const { count, role } = options;
    this.#count = (outcome) => count({ role, outcome });
  }

  /**
   * Asks one process after the other until one takes the call, or only the given one. `most` bounds how many are asked. The question is copied, and the copy overwritten.
   */
  async call(
    name: string,
    question: unknown,
    among: { at?: CallPeer; most?: number } = {},
  ): Promise<{ answer: unknown; peer: CallPeer }> {
    const peers = among.at === undefined ? await this.#current() : [among.at];
    const body = serialize(question);
    try {
      return await this.#callOneOf(new Set(peers), among.most ?? peers.length, name, body);
    } finally {
      body.fill(0);
    }
  }

  /** How each process stands, as seen from here. It changes nothing for calls, and is not counted among them. */
  async survey(): Promise<SeenPeer[]> {
    await this.#current();
    const look = async (host: string, peer: CallPeer | null) => {
      const asked = peer === null ? null : await this.#askWithAnyKey(peer, standingCall, serialize(null));
      return this.#seen(host, peer, asked);
    };
    return Promise.all(
      [...this.#byHost].flatMap(([host, peers]) =>
        peers.length === 0 ? [look(host, null)] : peers.map((peer) => look(host, peer)),
      ),
    );
  }

  #seen(host: string, peer: CallPeer | null, asked: Asked | null): SeenPeer {
    const { role } = this.#options;
    const address = peer === null ? null : addressText(peer);
    const standing = asked?.kind === "answered" ? readStanding(deserialize(asked.body)) : null;
    // Who refuses the question is there, and of a version that does not know it.
    const isThere = asked?.kind === "answered" || asked?.kind === "refused";
    const state = standing !== null ? stateOf(standing) : isThere ? "free" : "unreachable";
    return { role, host, address, state, standing };
  }

  async #callOneOf(
    left: Set<CallPeer>,
    most: number,
    name: string,
    body: Buffer,
  ): Promise<{ answer: unknown; peer: CallPeer }> {
    let reached = false;
    for (let asked = 0; asked < most && !this.#closed; asked++) {
      // Chosen now: others were asked meanwhile.
      const peer = bestOf(left);
      if (peer === null) break;
      left.delete(peer);
      const end = await this.#askWithAnyKey(peer, name, body);
      if (end.kind === "not_taken") {
        this.#count("unreachable");
        peer.restsUntil = performance.now() + this.#timing.restMs;
        continue;
      }
      reached = true;
      this.#tellReachable(true);
      if (end.kind === "answered") {
        peer.restsUntil = 0;
        this.#count("answered");
        return { answer: deserialize(end.body), peer };
      }
      if (end.kind === "lost") {
        this.#count("lost");
        peer.restsUntil = performance.now() + this.#timing.restMs;
        throw new CallLostError();
      }
      if (end.status !== 503) {
        this.#count("failed");
        // One that does not know this call is of another version; somebody else may know it.
        if (end.status === 404) continue;
        throw new CallFailedError();
      }
      this.#count("busy");
      peer.busyAt = performance.now();
    }
    if (!reached) this.#tellReachable(false);
    throw new NobodyFreeError();
  }

  /** A process whose ring does not have the current key yet, or any more, is asked with the others that we have. */
  async #askWithAnyKey(peer: CallPeer, name: string, body: Buffer): Promise<Asked> {
    const { ring } = this.#options;
    const ids = new Set([peer.keyId ?? ring.currentId, ring.currentId, ...ring.keys.map(({ id }) => id)]);
    let asked: Asked = { kind: "not_taken", stale: false, keyRefused: false };
    for (const id of ids) {
      asked = await this.#askTwice(peer, id, name, body);
      if (asked.kind !== "not_taken" || !asked.keyRefused) {
        if (asked.kind !== "not_taken") peer.keyId = id === ring.currentId ? null : id;
        return asked;
      }
    }
    return asked;
  }

  /** The other end may have closed a kept connection at the very moment it was used; a new one tells. */
  async #askTwice(peer: CallPeer, keyId: string, name: string, body: Buffer): Promise<Asked> {
    const asked = await this.#ask(peer, keyId, name, body);
    return asked.kind === "not_taken" && asked.stale ? this.#ask(peer, keyId, name, body) : asked;
  }

  #ask(peer: CallPeer, keyId: string, name: string, body: Buffer): Promise<Asked> {
    const { takeMs, silenceMs } = this.#timing;
    return new Promise((resolve) => {
      const question = request({
        host: peer.address,
        port: peer.port,
        agent: this.#agentOf(peer, keyId),
        method: "POST",
        path: `/${callProtocol}/${name}`,
        headers: { expect: "100-continue", "content-length": body.length },
      });
      let taken = false;
      const giveUp = () => question.destroy(new Error("it said nothing for too long"));
      let timer = setTimeout(giveUp, takeMs);
      const heard = () => {
        clearTimeout(timer);
        timer = setTimeout(giveUp, silenceMs);
      };
      peer.open++;
      let ended = false;
      const end = (asked: Asked) => {
        if (ended) return;
        ended = true;
        clearTimeout(timer);
        peer.open--;
        resolve(asked);
      };
      const broken = (error?: NodeJS.ErrnoException) =>
        end(
          taken
            ? { kind: "lost" }
            : {
                kind: "not_taken",
                stale: question.reusedSocket && error?.code === "ECONNRESET",
                keyRefused: error?.code === "EPROTO" || (error?.code ?? "").startsWith("ERR_SSL"),
              },
        );
      question.on("continue", () => {
        taken = true;
        heard();
        question.end(body);
      });
      question.on("information", heard);
      question.on("error", broken);
      question.on("close", () => broken());
      question.on("response", (response) => {
        const parts: Buffer[] = [];
        response.on("data", (part: Buffer) => {
          heard();
          parts.push(part);
        });
        response.on("error", broken);
        response.on("end", () => {
          const status = response.statusCode ?? 0;
          const answer = Buffer.concat(parts);
          for (const part of parts) part.fill(0);
          end(status === 200 ? { kind: "answered", body: answer } : { kind: "refused", status });
          // What was announced was not sent, so nothing else can be on this connection.
          if (!taken) question.destroy();
        });
      });
      question.flushHeaders();
    });
  }

  #agentOf(peer: CallPeer, keyId: string): Agent {
    const known = peer.agents.get(keyId);
    if (known !== undefined) return known;
    const psk = callKey(this.#options.ring, keyId);
    if (psk === null) throw new Error(`the key ring has no key "${keyId}" to call with`);
    const agent = new Agent({
      ...callTls,
      keepAlive: true,
      timeout: idleMs,
      // Each connection proves the key anew.
      maxCachedSessions: 0,
      pskCallback: () => ({ psk, identity: keyId }),
      // There is no certificate to look at. One that is shown all the same is refused, as anywhere.
      checkServerIdentity: () => undefined,
    });
    peer.agents.set(keyId, agent);
    return agent;
  }

  async #current(): Promise<readonly CallPeer[]> {
    if (performance.now() >= this.#knownUntil) {
      this.#looking ??= this.#lookUp().finally(() => {
        this.#looking = null;
      });
      await this.#looking;
    }
    return this.#known;
  }

  async #lookUp(): Promise<void> {
    const found = await Promise.all(this.#options.hosts.map((host) => this.#addressesOf(host)));
    // A resolver that is away takes no process away.
    if (found.includes(null) && this.#known.length > 0) {
      this.#knownUntil = performance.now() + this.#timing.namesMs;
      return;
    }
    this.#known = [...new Set(found.flatMap((peers) => peers ?? []))];
    this.#byHost = new Map(this.#options.hosts.map((host, i) => [host, found[i] ?? []]));
    for (const [key, peer] of this.#peers)
      if (!this.#known.includes(peer) && peer.open === 0) {
        closeAgents(peer);
        this.#peers.delete(key);
      }
    this.#knownUntil = performance.now() + this.#timing.namesMs;
  }

  async #addressesOf(host: string): Promise<CallPeer[] | null> {
    const { name, port } = parseHost(host);
    try {
      const addresses = await this.#options.resolveAddresses(name);
      return addresses.map((address) => this.#peerAt(address, port));
    } catch {
      return null;
    }
  }

  #peerAt(address: string, port: number): CallPeer {
    const key = `${address} ${port}`;
    const known = this.#peers.get(key);
    if (known !== undefined) return known;
    const peer: CallPeer = {
      address,
      port,
      agents: new Map(),
      keyId: null,
      open: 0,
      restsUntil: 0,
      busyAt: 0,
    };
    this.#peers.set(key, peer);
    return peer;
  }

  /** Told when it begins and when it is over, not with each call. */
  #tellReachable(reachable: boolean): void {
    if (this.#unreachable !== reachable) return;
    this.#unreachable = !reachable;
    const { log, role } = this.#options;
    if (reachable) log?.info("processes of another role can be reached again", { role });
    else log?.error("no process of another role can be reached, so people have to wait", { role });
  }

  close(): void {
    this.#closed = true;
    for (const peer of this.#peers.values()) closeAgents(peer);
  }
}

/** Those that rest come last; then whoever has the fewest open calls, then whoever was not busy for longest, then chance. */
function bestOf(peers: Iterable<CallPeer>): CallPeer | null {
  const now = performance.now();
  const ranked = [...peers].map((peer) => ({
    peer,
    rank: [Math.max(peer.restsUntil - now, 0), peer.open, peer.busyAt, Math.random()],
  }));
  ranked.sort((a, b) => a.rank.map((value, i) => value - (b.rank[i] ?? 0)).find((by) => by !== 0) ?? 0);
  return ranked[0]?.peer ?? null;
}

function addressText({ address, port }: CallPeer): string {
  return address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`;
}

function closeAgents({ agents }: CallPeer): void {
  for (const agent of agents.values()) agent.destroy();
}
