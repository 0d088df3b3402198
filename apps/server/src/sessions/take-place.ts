import type { OrganizationId } from "@assay/contract/ids";
import type { Core } from "../core.ts";
import type { Tx } from "../db/db.ts";
import { ApiError } from "../kernel/api-error.ts";
import { later, secondMs } from "../kernel/clock.ts";
import { countOpenSessions, insertAllowance, lockAllowance, writeAllowance } from "./allowance.store.ts";
import { type Allowance, Block, blockSize, recounted, withBlock } from "./allowance.ts";

/** A place for one more open session. `of_block` is taken already; `own` is taken by the transaction that creates the session. */
export type SessionPlace = "of_block" | "own";

/** How long a process remembers that an organization is near its limit, or at it, before it looks again. */
const rememberMs = secondMs;
/** Organizations that a process remembers something of. */
const mostRemembered = 10_000;

/**
 * Keeps every organization at or below its number of open sessions, whatever the number of processes. Far from the limit a
 * process takes places in blocks, which costs one small transaction for hundreds of sessions. Near the limit each creation
 * takes its place in its own transaction, one after another.
 */
export class SessionPlaces {
  readonly #core: Pick<Core, "db" | "clock">;
  readonly #limit: number;
  readonly #blocks = new Map<OrganizationId, Block>();
  readonly #asking = new Map<OrganizationId, Promise<void>>();
  readonly #nearUntil = new Map<OrganizationId, Date>();
  readonly #fullUntil = new Map<OrganizationId, Date>();

  constructor(core: Pick<Core, "db" | "clock">, limit: number) {
    this.#core = core;
    this.#limit = limit;
  }

  /** To be called outside of any transaction: a block stays taken when the creation fails. */
  async prepare(organizationId: OrganizationId): Promise<SessionPlace> {
    const { clock } = this.#core;
    if (this.#remembers(this.#fullUntil, organizationId)) throw this.#refusal();
    while (this.#blocks.get(organizationId)?.take(clock.now()) !== true) {
      if (this.#remembers(this.#nearUntil, organizationId)) return "own";
      await this.#askOnce(organizationId);
    }
    return "of_block";
  }

  /** A place of its own, in the transaction that creates the session. */
  async take(tx: Tx, organizationId: OrganizationId, now: Date): Promise<void> {
    const known = await this.#lock(tx, organizationId, now);
    const allowance = known.bound < this.#limit ? known : await this.#recount(tx, organizationId, known, now);
    if (allowance.bound >= this.#limit) {
      remember(this.#fullUntil, organizationId, later(now, rememberMs));
      throw this.#refusal();
    }
    await writeAllowance(tx, organizationId, { ...allowance, bound: allowance.bound + 1 });
  }

  /** Those who need a block at the same time ask for one together. */
  #askOnce(organizationId: OrganizationId): Promise<void> {
    const asking =
      this.#asking.get(organizationId) ??
      this.#askForBlock(organizationId).finally(() => this.#asking.delete(organizationId));
    this.#asking.set(organizationId, asking);
    return asking;
  }

  async #askForBlock(organizationId: OrganizationId): Promise<void> {
    const { db, clock } = this.#core;
    const now = clock.now();
    const size = await db.transaction(async (tx) => {
      const known = await this.#lock(tx, organizationId, now);
      const allowance =
        blockSize(known, this.#limit) > 0 ? known : await this.#recount(tx, organizationId, known, now);
      const block = blockSize(allowance, this.#limit);
      await writeAllowance(tx, organizationId, withBlock(allowance, block, now));
      return block;
    });
    if (size === 0) remember(this.#nearUntil, organizationId, later(now, rememberMs));
    else remember(this.#blocks, organizationId, new Block(size, now));
  }

  async #lock(tx: Tx, organizationId: OrganizationId, now: Date): Promise<Allowance> {
    const found = await lockAllowance(tx, organizationId);
    if (found !== null) return found;
    // Full until it is counted, under the lock that this row makes possible.
    await insertAllowance(tx, organizationId, this.#limit, now);
    const made = await lockAllowance(tx, organizationId);
    if (made === null) throw new Error("an allowance is gone although it was just made");
    return made;
  }

  async #recount(tx: Tx, organizationId: OrganizationId, known: Allowance, now: Date): Promise<Allowance> {
    return recounted(known, await countOpenSessions(tx, organizationId, this.#limit, now), now);
  }

  #remembers(map: Map<OrganizationId, Date>, organizationId: OrganizationId): boolean {
    const until = map.get(organizationId);
    return until !== undefined && until > this.#core.clock.now();
  }

  #refusal(): ApiError {
    return new ApiError("CONFLICT", {
      message: "The organization has as many open sessions as it may have.",
      hint: `An organization may have ${this.#limit} open sessions at once. Wait until some have ended or expired, cancel what is not needed, or ask the operator for more.`,
    });
  }
}

/** The oldest entry goes when there are too many; what is forgotten is asked for again. */
function remember<Value>(map: Map<OrganizationId, Value>, key: OrganizationId, value: Value): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > mostRemembered && oldest !== undefined) map.delete(oldest);
}
