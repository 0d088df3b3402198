import type { OrganizationId } from "@assay/contract/ids";
import { logoLimits, logoTypes } from "@assay/contract/organization-logo";
import type { Core } from "../../platform/core.ts";
import { hourMs, later, minuteMs, secondMs } from "../../platform/kernel/clock.ts";
import { KeyedSlots } from "../../platform/lib/keyed-slots.ts";
import { type SafeFetch, SafeFetchError, type SafeFetchProblem } from "../../platform/lib/safe-fetch.ts";
import { type Logo, type LogoProblem, readLogo } from "../../tenants/organizations/logo-picture.ts";

type Problem = LogoProblem | SafeFetchProblem | "status_not_200" | "too_many_bytes" | "too_many_fetches";
type Entry = { logo: Logo | null; until: Date };

const maxEntries = 200;
const maxBytes = 16 * 1024 * 1024;
const maxFetchesAtOnce = 16;
/** Limits slots for addresses that never answer. With 1, a changed logo would wait for the old one. */
const maxFetchesOfOrganization = 2;
const fetchTimeoutMs = 5 * secondMs;
const headers = { accept: logoTypes.join(", "), "user-agent": "Assay-Logos/1" };

/**
 * Logos of organizations by address, fetched on demand and cached, so that their host sees neither viewers
 * nor numbers of views. An address may contain a secret, so only the kind of a failure is logged.
 */
export class LogoCache {
  readonly #core: Pick<Core, "clock" | "log">;
  readonly #safeFetch: SafeFetch;
  readonly #countFetch: (labels: { result: Problem | "picture" }) => void;
  /** Oldest first. */
  readonly #entries = new Map<string, Entry>();
  readonly #fetching = new Map<string, Promise<Logo | null>>();
  readonly #slots = new KeyedSlots<OrganizationId>(maxFetchesOfOrganization);
  #bytes = 0;

  constructor(core: Pick<Core, "clock" | "log" | "metrics">, safeFetch: SafeFetch) {
    this.#core = core;
    this.#safeFetch = safeFetch;
    this.#countFetch = core.metrics.counter("assay_logo_fetches_total", "Fetches of logos, by result.");
  }

  /** Null if the address has no picture that may be shown. */
  async find(organizationId: OrganizationId, url: string): Promise<Logo | null> {
    const known = this.#entries.get(url);
    if (known !== undefined && known.until > this.#core.clock.now()) return known.logo;
    const running = this.#fetching.get(url);
    if (running !== undefined) return running;
    const giveBack = this.#fetching.size >= maxFetchesAtOnce ? null : this.#slots.take(organizationId);
    if (giveBack === null) {
      this.#report("too_many_fetches");
      return null;
    }
    const fetching = this.#fetch(url).finally(() => {
      giveBack();
      this.#fetching.delete(url);
    });
    this.#fetching.set(url, fetching);
    return fetching;
  }

  async #fetch(url: string): Promise<Logo | null> {
    const found = await this.#load(url);
    const logo = typeof found === "string" ? null : found;
    if (typeof found === "string") this.#report(found);
    else this.#countFetch({ result: "picture" });
    this.#keep(url, { logo, until: later(this.#core.clock.now(), logo === null ? minuteMs : hourMs) });
    return logo;
  }

  async #load(url: string): Promise<Logo | Problem> {
    try {
      const { status, body } = await this.#safeFetch.get(url, {
        headers,
        timeoutMs: fetchTimeoutMs,
        maxBodyBytes: logoLimits.bytes,
      });
      if (status !== 200) return "status_not_200";
      return body === null ? "too_many_bytes" : readLogo(body);
    } catch (error) {
      return error instanceof SafeFetchError ? error.problem : "connection_failed";
    }
  }

  #keep(url: string, entry: Entry): void {
    this.#drop(url);
    this.#entries.set(url, entry);
    this.#bytes += bytesOf(entry);
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= maxEntries && this.#bytes <= maxBytes) break;
      this.#drop(oldest);
    }
  }

  #drop(url: string): void {
    const entry = this.#entries.get(url);
    if (entry === undefined) return;
    this.#entries.delete(url);
    this.#bytes -= bytesOf(entry);
  }

  #report(problem: Problem): void {
    this.#countFetch({ result: problem });
    this.#core.log.info("could not fetch a logo", { problem });
  }
}

function bytesOf({ logo }: Entry): number {
  return logo?.bytes.length ?? 0;
}
