import type { Tenant } from "../../platform/kernel/caller.ts";

type TenantKey = `${Tenant["organizationId"]} ${Tenant["environment"]}`;
const keyOf = ({ organizationId, environment }: Tenant): TenantKey => `${organizationId} ${environment}`;

/**
 * From one count to the next a process creates at most this share of the limit, and while it counts as much
 * again. Too small: a busy tenant is counted all the time. Too large: several processes together exceed the
 * limit by more.
 */
const shareOfLimit = 0.01;
/**
 * At most this share of the room that a count found, because it does not see what is created beside it. With
 * half, a single process exceeds the limit.
 */
const shareOfRoom = 0.125;
/**
 * For each thousand of the limit a process believes a count without room for so long, without asking again.
 * Counting takes 2 ms for them. Too small: a tenant at its limit that goes on keeps PostgreSQL busy. Too
 * large: room that has just become free is refused.
 */
const fullMsPerThousand = 10;
/** Tenants that a process remembers a count of. */
const maxRemembered = 10_000;

/** What may be created before the next count and beside it, and until when the tenant counts as full. */
type Allowance = { left: number; beside: number; fullUntil: number };

/**
 * How far the creation of a session counts the tenant's open sessions, because counting 100,000 takes 0.2 s.
 * Near the limit every creation counts.
 */
export class OpenSessions {
  readonly limit: number;
  readonly #now: () => number;
  readonly #allowances = new Map<TenantKey, Allowance>();

  constructor(limit: number, now = () => performance.now()) {
    this.limit = limit;
    this.#now = now;
  }

  /** 0 if the last count left enough room; null if it just left none. */
  countUpTo(tenant: Tenant): number | null {
    const allowance = this.#allowances.get(keyOf(tenant));
    if (allowance === undefined) return this.limit;
    if (this.#now() < allowance.fullUntil) return null;
    if (allowance.left >= 1) {
      allowance.left -= 1;
      return 0;
    }
    // This one counts. If all that come meanwhile counted too, they would stop a small machine.
    allowance.left = allowance.beside;
    allowance.beside = 0;
    return this.limit;
  }

  /** What a creation counted. */
  counted(tenant: Tenant, open: number): void {
    if (this.#allowances.size >= maxRemembered) this.#allowances.clear();
    const room = this.limit - open;
    const granted = Math.floor(Math.min(this.limit * shareOfLimit, room * shareOfRoom));
    const fullMs = room > 0 ? 0 : Math.floor(this.limit / 1000) * fullMsPerThousand;
    this.#allowances.set(keyOf(tenant), { left: granted, beside: granted, fullUntil: this.#now() + fullMs });
  }
}
