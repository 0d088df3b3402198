import { randomUUID } from "node:crypto";
import { EventEmitter } from "node:events";
import { DatabaseSync } from "node:sqlite";

/**
 * States of an order.
 * - `new`: not checked yet, or the last check failed; the customer can try again.
 * - `checking`: a session is open.
 * - `delivered`: the person has proven to be of age.
 * - `refused`: the person has proven to be younger.
 */
export type OrderState = "new" | "checking" | "delivered" | "refused";
export type Order = { id: string; state: OrderState; note: string; sessionId: string | null };

/** Orders in a file, so that a restart loses nothing. `changed` is emitted with the id of an order. */
export class Orders extends EventEmitter {
  readonly #db: DatabaseSync;

  constructor(file: string) {
    super();
    this.#db = new DatabaseSync(file);
    this.#db.exec(`
      create table if not exists orders (id text primary key, state text not null, note text not null, session_id text);
      create table if not exists seen_events (id text primary key);`);
  }

  create(): Order {
    const order: Order = { id: randomUUID(), state: "new", note: "", sessionId: null };
    this.#db.prepare("insert into orders values (?, ?, ?, ?)").run(order.id, order.state, order.note, null);
    return order;
  }

  find(id: string): Order | null {
    const row = this.#db.prepare("select * from orders where id = ?").get(id);
    if (row === undefined) return null;
    return {
      id: String(row.id),
      state: row.state as OrderState,
      note: String(row.note),
      sessionId: row.session_id === null ? null : String(row.session_id),
    };
  }

  startCheck(id: string, sessionId: string): void {
    this.#db
      .prepare("update orders set state = 'checking', note = '', session_id = ? where id = ?")
      .run(sessionId, id);
    this.emit("changed", id);
  }

  /**
   * Applies an event once. One transaction records it and changes the order: a crash in between would lose
   * the change. An event of an abandoned session changes nothing.
   */
  settle(eventId: string, of: { orderId: string; sessionId: string }, state: OrderState, note: string): void {
    this.#db.exec("begin immediate");
    try {
      const isNew =
        this.#db.prepare("insert or ignore into seen_events values (?)").run(eventId).changes === 1;
      if (isNew)
        this.#db
          .prepare(
            "update orders set state = ?, note = ? where id = ? and session_id = ? and state = 'checking'",
          )
          .run(state, note, of.orderId, of.sessionId);
      this.#db.exec("commit");
    } catch (error) {
      this.#db.exec("rollback");
      throw error;
    }
    this.emit("changed", of.orderId);
  }
}
