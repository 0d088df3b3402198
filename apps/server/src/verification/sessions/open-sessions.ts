import type { Tenant } from "../../platform/kernel/caller.ts";

type TenantKey = `${Tenant["organizationId"]} ${Tenant["environment"]}`;
const keyOf = ({ organizationId, environment }: Tenant): TenantKey => `${organizationId} ${environment}`;

/** Counting takes at most 1/50 of a process's time: 100,000 open sessions take 0.2 s. */
const countingShare = 50;
/**
 * Between two counts a process creates at most this share of the room that it found. Too small: a busy tenant
 * is counted all the time. Too large: several processes together exceed the limit by more.
 */
const shareOfRoom = 0.01;
/** Tenants that a process remembers a count of. */
const maxRemembered = 10_000;

/**
 * How far the creation of a session counts the tenant's open sessions. The cache only saves counting: it
 * expires quickly, and near the limit every creation counts.
 */
export class OpenSessions {
  readonly limit: number;
  readonly #found = new Map<TenantKey, { room: number; until: number }>();

  constructor(limit: number) {
    this.limit = limit;
  }

  /** 0 if a recent count left enough room. */
  countUpTo(tenant: Tenant): number {
    const found = this.#found.get(keyOf(tenant));
    if (found === undefined || found.room < 1 || performance.now() >= found.until) return this.limit;
    found.room -= 1;
    return 0;
  }

  /** What a creation counted, and how long it took. */
  counted(tenant: Tenant, open: number, tookMs: number): void {
    this.#found.delete(keyOf(tenant));
    const [oldest] = this.#found.keys();
    if (this.#found.size >= maxRemembered && oldest !== undefined) this.#found.delete(oldest);
    const room = Math.floor((this.limit - open) * shareOfRoom);
    this.#found.set(keyOf(tenant), { room, until: performance.now() + countingShare * tookMs });
  }
}
