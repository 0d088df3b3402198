import pg from "pg";
import { type ConnectionOptions, connectionTo, cutOff, type TimeLimits } from "./connection.ts";

/** What a server has to be: the one that takes writes, one that follows it, or whichever answers. */
type Wanted = "primary" | "standby" | "any";

/** What an address is for. */
export type Purpose = "primary" | "standby";

/** The servers that an address names, each with an address of its own, in the order in which they are tried. */
export type Servers = { urls: readonly string[]; wanted: Wanted };

/** Says in words what is wrong with an address, without repeating it: it may hold a password. */
export class AddressError extends Error {}

/** A server that answers and is not what was looked for, such as one that has not been promoted yet. */
export class WrongServerError extends Error {
  constructor(wanted: Wanted) {
    super(wanted === "primary" ? "the server takes no writes" : "the server follows no other");
    this.name = "WrongServerError";
  }
}

const shape = /^(postgres(?:ql)?:\/\/)([^/?#]*@)?([^/?#]*)([^?#]*)(\?[^#]*)?$/;
const fits: Record<Purpose, Record<string, Wanted>> = {
  primary: { any: "any", "read-write": "primary", primary: "primary" },
  standby: { any: "any", "read-only": "standby", standby: "standby", "prefer-standby": "standby" },
};

/**
 * Reads an address in the form of libpq: several hosts with commas in between, each with its port, or as lists in the parameters `host` and `port`, and
 * `target_session_attrs`. Of several servers the one is taken that fits the purpose, also where the address does not say so.
 */
export function parseServers(url: string, purpose: Purpose): Servers {
  const [, scheme, user = "", hosts = "", path = "", search = ""] = shape.exec(url) ?? [];
  if (scheme === undefined)
    throw new AddressError("must be a URL that starts with postgres:// or postgresql://");
  const query = new URLSearchParams(search);
  const attribute = query.get("target_session_attrs");
  const wanted = attribute === null ? null : fits[purpose][attribute];
  if (wanted === undefined)
    throw new AddressError(
      `may have these target_session_attrs only: ${Object.keys(fits[purpose]).join(", ")}`,
    );
  query.delete("target_session_attrs");
  const urls = (query.get("host") ?? "").includes(",")
    ? listedInQuery(query).map((one) => `${scheme}${user}${path}?${one}`)
    : hosts.split(",").map((host) => `${scheme}${user}${host}${path}${query.size === 0 ? "" : `?${query}`}`);
  if (urls.some((one) => URL.parse(one) === null || /^[^?]*,/.test(one.slice(scheme.length + user.length))))
    throw new AddressError("must name each host as host or host:port, with commas in between");
  if (urls.length === 1 && attribute === null) return { urls: [url], wanted: "any" };
  return { urls, wanted: wanted ?? purpose };
}

function listedInQuery(query: URLSearchParams): URLSearchParams[] {
  const hosts = (query.get("host") ?? "").split(",");
  const ports = (query.get("port") ?? "").split(",");
  if (ports.length !== 1 && ports.length !== hosts.length)
    throw new AddressError("must have one port, or as many as hosts");
  return hosts.map((host, at) => {
    const one = new URLSearchParams(query);
    one.set("host", host);
    const port = ports[at] ?? ports[0] ?? "";
    if (port !== "") one.set("port", port);
    return one;
  });
}

/** A reason not to let us in that the next server would give as well, such as a wrong password. */
function isRefusal(error: unknown): boolean {
  return error instanceof pg.DatabaseError && !/^(08|53|57P0|25006)/.test(error.code ?? "");
}

/** Waiting for a connection of the pool that is free, which no other server has. */
const isPoolWait = (error: unknown) =>
  error instanceof Error && error.message === "timeout exceeded when trying to connect";

/**
 * Opens connections to one of several servers. The next one goes to the server that was right last, so that a server which is gone is met once and not by every
 * connection; where that fails, the others are tried in turn.
 */
export class ServerChoice {
  readonly servers: Servers;
  readonly #name: string;
  readonly #limits: TimeLimits;
  readonly #options: ConnectionOptions;
  #at = 0;

  constructor(servers: Servers, name: string, limits: TimeLimits, options: ConnectionOptions = {}) {
    this.servers = servers;
    this.#name = name;
    // All of them together may take as long as one.
    const connectMs = Math.max(1_000, limits.connectMs / servers.urls.length);
    this.#limits = { ...limits, connectMs };
    this.#options = options;
  }

  get #current(): string {
    return this.servers.urls[this.#at] ?? "";
  }

  #passOver(url: string): void {
    // Others may have found out before.
    if (url === this.#current) this.#at = (this.#at + 1) % this.servers.urls.length;
  }

  /** A connection, not open yet, that fails to open where the server is not the one that is wanted. */
  newClient(): pg.Client {
    const { wanted, urls } = this.servers;
    const url = this.#current;
    const config = connectionTo(url, this.#name, this.#limits, this.#options);
    if (wanted === "any" && urls.length === 1) return new pg.Client(config);
    return new CheckedClient(config, wanted, () => this.#passOver(url));
  }

  /** Calls `open` until a server is found, once for each; it makes one connection. */
  async tryEach<T>(open: () => Promise<T>): Promise<T> {
    const { urls } = this.servers;
    const failures: unknown[] = [];
    while (failures.length < urls.length) {
      try {
        return await open();
      } catch (error) {
        if (urls.length === 1 || isRefusal(error) || isPoolWait(error)) throw error;
        failures.push(error);
      }
    }
    throw new AggregateError(failures, "none of the servers of the database can be used");
  }
}

/** Asks the server what it is before anybody else gets the connection. */
class CheckedClient extends pg.Client {
  readonly #wanted: Wanted;
  readonly #onFailure: () => void;

  constructor(config: pg.ClientConfig, wanted: Wanted, onFailure: () => void) {
    super(config);
    this.#wanted = wanted;
    this.#onFailure = onFailure;
    // A connection that is lost while it is asked makes the statement fail; without a listener it would end the process.
    this.on("error", () => {});
  }

  override connect(): Promise<pg.Client>;
  override connect(callback: (error: Error) => void): void;
  override connect(callback?: (error: Error) => void): Promise<pg.Client> | undefined {
    const connecting = this.#connectAndAsk();
    if (callback === undefined) return connecting;
    // The pool takes no error for success, as the driver's own method tells it.
    connecting.then(() => callback(null as unknown as Error), callback);
    return undefined;
  }

  async #connectAndAsk(): Promise<pg.Client> {
    try {
      await super.connect();
      if (this.#wanted !== "any") await this.#ask();
      return this;
    } catch (error) {
      this.#onFailure();
      cutOff(this);
      throw error;
    }
  }

  async #ask(): Promise<void> {
    const { rows } = await this.query<{ standby: boolean; read_only: boolean }>(
      "select pg_is_in_recovery() as standby, current_setting('transaction_read_only')::boolean as read_only",
    );
    const [state] = rows;
    const isRight =
      this.#wanted === "primary"
        ? state?.standby === false && state.read_only === false
        : state?.standby === true;
    if (!isRight) throw new WrongServerError(this.#wanted);
  }
}

/** One connection to a server of this address that takes writes. `prepare` gets each that is tried before it is opened. */
export async function openConnection(
  url: string,
  name: string,
  limits: TimeLimits,
  options: ConnectionOptions & { prepare?: (client: pg.Client) => void } = {},
): Promise<pg.Client> {
  const choice = new ServerChoice(parseServers(url, "primary"), name, limits, options);
  return choice.tryEach(async () => {
    const client = choice.newClient();
    // A lost connection makes the next statement fail; without a listener it would end the process.
    client.on("error", () => {});
    options.prepare?.(client);
    try {
      await client.connect();
      return client;
    } catch (error) {
      cutOff(client);
      throw error;
    }
  });
}
