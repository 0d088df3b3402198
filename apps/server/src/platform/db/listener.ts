import pg from "pg";
import { describeError, type Log } from "../lib/log.ts";
import { cutOff, endConnection, openConnection } from "./connection.ts";

type Handler = (payload: string) => void;

const reconnectMs = 500;
// Nothing is sent on this connection for hours, so a silent server would never be missed. Twice the time, and what waits for a
// notification is found by polling for that much longer; half of it finds nothing sooner that anybody would notice.
const signOfLifeEveryMs = 10_000;
// Nothing that is sent here takes a server more than a moment.
const limits = { statementMs: 5_000, lockMs: 5_000, idleInTransactionMs: 5_000, connectMs: 10_000 };

/**
 * Notifications of other processes (and of this one). They only make things faster: listeners also poll or read
 * the table, because a notification that is sent while this connection is down is lost. After a reconnect every handler
 * is called with an empty payload, so that it looks for what it missed.
 */
export class Listener {
  readonly #url: () => string;
  readonly #log: Log;
  readonly #handlers = new Map<string, Set<Handler>>();
  #client: pg.Client | null = null;
  #closed = false;
  #retry: NodeJS.Timeout | undefined;

  /** The address must lead to the server itself: what a pooler lends for a transaction does not listen. */
  constructor(url: () => string, log: Log) {
    this.#url = url;
    this.#log = log;
  }

  get connected(): boolean {
    return this.#client !== null;
  }

  /** Returns a function that ends the subscription. */
  on(channel: string, handler: Handler): () => void {
    let handlers = this.#handlers.get(channel);
    if (handlers === undefined) {
      handlers = new Set();
      this.#handlers.set(channel, handlers);
      this.#client?.query(`listen ${pg.escapeIdentifier(channel)}`).catch(() => {});
    }
    handlers.add(handler);
    return () => handlers.delete(handler);
  }

  async start(): Promise<void> {
    // The connection may break between an answer and the line below that waits for it.
    const faults: Error[] = [];
    const prepare = (client: pg.Client) => {
      client.on("error", (error) => {
        faults.push(error);
        this.#lost(client, error);
      });
      client.on("end", () => this.#lost(client, null));
      client.on("notification", ({ channel, payload }) => {
        for (const handler of this.#handlers.get(channel) ?? []) handler(payload ?? "");
      });
    };
    const client = await openConnection(this.#url(), "assay listener", limits, { prepare });
    try {
      // A channel that is added meanwhile is still reached: a map's keys are read as the loop goes.
      for (const channel of this.#handlers.keys())
        await client.query(`listen ${pg.escapeIdentifier(channel)}`);
      if (faults[0] !== undefined) throw faults[0];
      if (this.#closed) throw new Error("stopped while it connected");
    } catch (error) {
      cutOff(client);
      throw error;
    }
    // Only now: a connection that breaks before is the failure of this start, and must not begin a second one.
    this.#client = client;
    this.#watch(client);
  }

  #watch(client: pg.Client): void {
    setTimeout(() => {
      if (this.#closed || this.#client !== client) return;
      client.query("select 1").then(
        () => this.#watch(client),
        (error) => this.#lost(client, error),
      );
    }, signOfLifeEveryMs).unref();
  }

  #lost(client: pg.Client, error: Error | null): void {
    if (this.#closed || this.#client !== client) return;
    this.#client = null;
    cutOff(client);
    this.#log.warn(
      "lost the connection for notifications, polling until it is back",
      error ? describeError(error) : {},
    );
    this.#reconnect();
  }

  #reconnect(): void {
    this.#retry = setTimeout(() => {
      if (this.#closed) return;
      this.start().then(
        () => {
          for (const handlers of this.#handlers.values()) for (const handler of handlers) handler("");
        },
        () => {
          if (!this.#closed) this.#reconnect();
        },
      );
    }, reconnectMs);
    this.#retry.unref();
  }

  async stop(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#retry);
    if (this.#client !== null) await endConnection(this.#client);
  }
}
