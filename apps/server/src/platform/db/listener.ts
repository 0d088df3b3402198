import pg from "pg";
import { describeError, type Log } from "../lib/log.ts";
import { destroySocket, endConnection, openConnection } from "./connection.ts";

type Handler = (payload: string) => void;

const reconnectMs = 500;
// Nothing is sent on this connection for hours, so a silent server would go unnoticed. With twice the time,
// missed notifications are found by polling for longer. Half of it gains nothing noticeable.
const signOfLifeEveryMs = 10_000;
// Every statement here is fast.
const limits = { statementMs: 5_000, lockMs: 5_000, idleInTransactionMs: 5_000, connectMs: 10_000 };

/**
 * Notifications from other processes and from this one. They only save time: listeners also poll, because a
 * notification is lost while this connection is down. After a reconnect every handler gets an empty payload,
 * so that it looks for what it missed.
 */
export class Listener {
  readonly #url: () => string;
  readonly #log: Log;
  readonly #handlers = new Map<string, Set<Handler>>();
  #client: pg.Client | null = null;
  #closed = false;
  #retry: NodeJS.Timeout | undefined;

  /**
   * The address must lead to the server itself: LISTEN does not work through a pooler in transaction mode.
   */
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
    // The connection may break between an answer and the line below that awaits it.
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
      // Also covers a channel that is added meanwhile: a Map iterator sees new keys.
      for (const channel of this.#handlers.keys())
        await client.query(`listen ${pg.escapeIdentifier(channel)}`);
      if (faults[0] !== undefined) throw faults[0];
      if (this.#closed) throw new Error("stopped while connecting");
    } catch (error) {
      destroySocket(client);
      throw error;
    }
    // Set last: if the connection breaks earlier, this start fails, and must not trigger a second one.
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
    destroySocket(client);
    this.#log.warn(
      "the connection for notifications was lost; polling until it is back",
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
