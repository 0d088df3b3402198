import pg from "pg";
import { sqlState } from "../lib/sql-state.ts";
import type { Answer, Query } from "./flight.ts";
import { Pace } from "./pace.ts";

/** Whoever has waited for this long does so for flights that are stuck, behind a lock perhaps, and takes one more. */
const patienceMs = 20;

type Passenger = {
  query: Query;
  /** Whose request it is for; null where that is nobody's business. */
  whose: string | null;
  resolve: (answer: Answer) => void;
  reject: (error: unknown) => void;
};

/**
 * Statements of several requests travel together: those that are sent in one turn of the event loop, and those that wait until a flight is back. A statement costs
 * the most on its way, here and at the server (a message each way, a process that is woken up, and for a write the disk), so the more is asked, the less each question costs.
 * Whoever is alone waits for nobody.
 */
export class SharedFlights {
  readonly #fly: (queries: readonly Query[]) => Promise<readonly Answer[]>;
  readonly #mostFlights: number;
  readonly #mostTogether: number;
  readonly #pace = new Pace();
  /** How many of each are in the air. */
  readonly #aboard = new Map<string, number>();
  #waiting: Passenger[] = [];
  #flights = 0;
  #isBoarding = false;
  #patience: NodeJS.Timeout | null = null;

  /**
   * `fly` sends statements as one transaction, which the first that fails undoes. With one flight in the air, whoever comes after it has left waits for its whole way; with more, each
   * carries fewer and is paid for by fewer. PostgreSQL answers one after the other, so the last of a flight waits for all of them.
   */
  constructor(
    fly: (queries: readonly Query[]) => Promise<readonly Answer[]>,
    most: { flights: number; together: number },
  ) {
    this.#fly = fly;
    this.#mostFlights = most.flights;
    this.#mostTogether = most.together;
  }

  /** How many wait who would find no place in the next flight. */
  get crowd(): number {
    return Math.max(0, this.#waiting.length - this.#mostTogether);
  }

  /** How many times as long as at best they are under way these days. */
  get slowness(): number {
    return this.#pace.slowness;
  }

  send(query: Query, whose: string | null = null): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ query, whose, resolve, reject });
      this.#board();
    });
  }

  #board(): void {
    if (this.#isBoarding) return;
    if (this.#flights >= this.#mostFlights && !this.#isExtraDue) {
      this.#patience ??= setTimeout(() => this.#leaveAll(), patienceMs);
      return;
    }
    this.#isBoarding = true;
    // After everything that has arrived by now was looked at, so that it comes along.
    setImmediate(() => {
      this.#isBoarding = false;
      if (this.#flights < this.#mostFlights) this.#leaveAll();
      else this.#leave(this.#waiting.filter((one) => this.#isNew(one)));
    });
  }

  /** One more flight, for those who have nothing in the air: so whoever asks little does not wait until those who ask much are back. */
  get #isExtraDue(): boolean {
    return this.#flights === this.#mostFlights && this.#waiting.some((one) => this.#isNew(one));
  }

  #isNew({ whose }: Passenger): boolean {
    return whose !== null && !this.#aboard.has(whose);
  }

  #leaveAll(): void {
    if (this.#patience !== null) clearTimeout(this.#patience);
    this.#patience = null;
    this.#leave(this.#waiting);
  }

  #leave(ready: readonly Passenger[]): void {
    if (ready.length > 0) {
      const leaving = new Set(ready.slice(0, this.#mostTogether));
      this.#waiting = this.#waiting.filter((one) => !leaving.has(one));
      void this.#carry([...leaving]);
    }
    if (this.#waiting.length > 0) this.#board();
  }

  async #carry(passengers: readonly Passenger[]): Promise<void> {
    this.#flights += 1;
    this.#count(passengers, 1);
    const began = performance.now();
    try {
      const answers = await this.#fly(passengers.map(({ query }) => query));
      this.#pace.note(began, performance.now());
      passengers.forEach(({ resolve, reject }, at) => {
        const answer = answers[at];
        if (answer === undefined) reject(new Error("a statement was not answered"));
        else resolve(answer);
      });
    } catch (error) {
      // The server has refused one of them and undone the others, which do not have to know. When it is not known what became of them, nothing may be done twice.
      if (passengers.length > 1 && isRefusal(error))
        for (const passenger of passengers) void this.#carry([passenger]);
      else for (const { reject } of passengers) reject(error);
    } finally {
      this.#flights -= 1;
      this.#count(passengers, -1);
      if (this.#waiting.length > 0) this.#board();
    }
  }

  #count(passengers: readonly Passenger[], by: 1 | -1): void {
    for (const { whose } of passengers) {
      if (whose === null) continue;
      const aboard = (this.#aboard.get(whose) ?? 0) + by;
      if (aboard > 0) this.#aboard.set(whose, aboard);
      else this.#aboard.delete(whose);
    }
  }
}

/** A server that ends the connection (classes 08 and 57P) may have committed before: it says so also while it waits for a replica. */
function isRefusal(error: unknown): boolean {
  return error instanceof pg.DatabaseError && !/^(08|57P)/.test(sqlState(error) ?? "");
}
