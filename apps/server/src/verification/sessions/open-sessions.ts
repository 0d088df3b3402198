import type { Tenant } from "../../platform/kernel/caller.ts";

type TenantKey = `${Tenant["organizationId"]} ${Tenant["environment"]}`;
const keyOf = ({ organizationId, environment }: Tenant): TenantKey => `${organizationId} ${environment}`;

/**
 * Between two counts a process creates at most this share of the room that it found. Too small: a busy tenant
 * is counted all the time. Too large: several processes together exceed the limit by more.
 */
const shareOfRoom = 0.01;
/** Tenants that a process remembers a count of. */
const maxRemembered = 10_000;

/**
 * How far the creation of a session counts the tenant's open sessions, because counting 100,000 takes 0.2 s.
 * Near the limit every creation counts.
 */
export class OpenSessions {
  readonly limit: number;
  readonly #left = new Map<TenantKey, number>();

  constructor(limit: number) {
    this.limit = limit;
  }

  /** 0 if the last count left enough room. */
  countUpTo(tenant: Tenant): number {
    const left = this.#left.get(keyOf(tenant)) ?? 0;
    if (left < 1) return this.limit;
    this.#left.set(keyOf(tenant), left - 1);
    return 0;
  }

  /** What a creation counted. */
  counted(tenant: Tenant, open: number): void {
    if (this.#left.size >= maxRemembered) this.#left.clear();
    this.#left.set(keyOf(tenant), Math.floor((this.limit - open) * shareOfRoom));
  }
}
