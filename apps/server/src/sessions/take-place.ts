import type { Core } from "../core.ts";
import type { Tx } from "../db/db.ts";
import { ApiError } from "../kernel/api-error.ts";
import type { Tenant } from "../kernel/caller.ts";
import { later, secondMs } from "../kernel/clock.ts";
import { countOpenSessions, insertAllowance, lockAllowance, writeAllowance } from "./allowance.store.ts";
import { type Allowance, Block, blockSize, recounted, withBlock } from "./allowance.ts";

/** A place for one more open session. `of_block` is taken already; `own` is taken by the transaction that creates the session. */
export type SessionPlace = "of_block" | "own";

/** How long a process remembers that a tenant is near its limit, or at it, before it looks again. */
const rememberMs = secondMs;
/** Organizations, in each environment, that a process remembers something of. */
const mostRemembered = 10_000;

type TenantKey = `${Tenant["organizationId"]} ${Tenant["environment"]}`;
const keyOf = ({ organizationId, environment }: Tenant): TenantKey => `${organizationId} ${environment}`;

/**
 * Keeps every organization at or below its number of open sessions in each environment, so that a test that runs away stops no live session; whatever the number of processes. Far from the limit a
 * process takes places in blocks, which costs one small transaction for hundreds of sessions. Near the limit each creation
 * takes its place in its own transaction, one after another.
 */
export class SessionPlaces {
  readonly #core: Pick<Core, "db" | "clock">;
  readonly #limit: number;
  readonly #blocks = new Map<TenantKey, Block>();
  readonly #asking = new Map<TenantKey, Promise<void>>();
  readonly #nearUntil = new Map<TenantKey, Date>();
  readonly #fullUntil = new Map<TenantKey, Date>();

  constructor(core: Pick<Core, "db" | "clock">, limit: number) {
    this.#core = core;
    this.#limit = limit;
  }

  /** To be called outside of any transaction: a block stays taken when the creation fails. */
  async prepare(tenant: Tenant): Promise<SessionPlace> {
    const { clock } = this.#core;
    if (this.#remembers(this.#fullUntil, tenant)) throw this.#refusal();
    while (this.#blocks.get(keyOf(tenant))?.take(clock.now()) !== true) {
      if (this.#remembers(this.#nearUntil, tenant)) return "own";
      await this.#askOnce(tenant);
    }
    return "of_block";
  }

  /** A place of its own, in the transaction that creates the session. */
  async take(tx: Tx, tenant: Tenant, now: Date): Promise<void> {
    const known = await this.#lock(tx, tenant, now);
    const allowance = known.bound < this.#limit ? known : await this.#recount(tx, tenant, known, now);
    if (allowance.bound >= this.#limit) {
      remember(this.#fullUntil, tenant, later(now, rememberMs));
      throw this.#refusal();
    }
    await writeAllowance(tx, tenant, { ...allowance, bound: allowance.bound + 1 });
  }

  /** Those who need a block at the same time ask for one together. */
  #askOnce(tenant: Tenant): Promise<void> {
    const asking =
      this.#asking.get(keyOf(tenant)) ??
      this.#askForBlock(tenant).finally(() => this.#asking.delete(keyOf(tenant)));
    this.#asking.set(keyOf(tenant), asking);
    return asking;
  }

  async #askForBlock(tenant: Tenant): Promise<void> {
    const { db, clock } = this.#core;
    const now = clock.now();
    const size = await db.transaction(async (tx) => {
      const known = await this.#lock(tx, tenant, now);
      const allowance =
        blockSize(known, this.#limit) > 0 ? known : await this.#recount(tx, tenant, known, now);
      const block = blockSize(allowance, this.#limit);
      await writeAllowance(tx, tenant, withBlock(allowance, block, now));
      return block;
    });
    if (size === 0) remember(this.#nearUntil, tenant, later(now, rememberMs));
    else remember(this.#blocks, tenant, new Block(size, now));
  }

  async #lock(tx: Tx, tenant: Tenant, now: Date): Promise<Allowance> {
    const found = await lockAllowance(tx, tenant);
    if (found !== null) return found;
    // Full until it is counted, under the lock that this row makes possible.
    await insertAllowance(tx, tenant, this.#limit, now);
    const made = await lockAllowance(tx, tenant);
    if (made === null) throw new Error("an allowance is gone although it was just made");
    return made;
  }

  async #recount(tx: Tx, tenant: Tenant, known: Allowance, now: Date): Promise<Allowance> {
    return recounted(known, await countOpenSessions(tx, tenant, this.#limit, now), now);
  }

  #remembers(map: Map<TenantKey, Date>, tenant: Tenant): boolean {
    const until = map.get(keyOf(tenant));
    return until !== undefined && until > this.#core.clock.now();
  }

  #refusal(): ApiError {
    return new ApiError("CONFLICT", {
      message: "The organization has as many open sessions in this environment as it may have.",
      hint: `An organization may have ${this.#limit} open sessions at once in each environment. Wait until some have ended or expired, cancel what is not needed, or ask the operator for more.`,
    });
  }
}

/** The oldest entry goes when there are too many; what is forgotten is asked for again. */
function remember<Value>(map: Map<TenantKey, Value>, tenant: Tenant, value: Value): void {
  const key = keyOf(tenant);
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > mostRemembered && oldest !== undefined) map.delete(oldest);
}
