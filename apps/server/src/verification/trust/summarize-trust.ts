import type { Core } from "../../platform/core.ts";
import type { CurrentTrust } from "./current-trust.ts";
import { readTrustChange } from "./trust.store.ts";
import type { TrustReader } from "./trust-reader.ts";
import { listHeldImports, listSources } from "./trust-source.store.ts";

const listStates = ["fresh", "stale", "missing"] as const;

export type TrustSummary = {
  version: number;
  changedAt: Date;
  countries: number;
  authorities: number;
  validAuthorities: number;
  revocationLists: { state: (typeof listStates)[number]; countries: number; oldestListAt: Date | null }[];
  sources: {
    address: string;
    editionAt: Date | null;
    succeededAt: Date | null;
    failures: number;
    problem: string | null;
  }[];
  heldRemovals: number;
};

/** The figures of `assay trust status`. Costs a thread some seconds, once a version and hour. */
export async function summarizeTrust(
  { db, clock }: Pick<Core, "db" | "clock">,
  trust: CurrentTrust,
  reader: TrustReader,
): Promise<TrustSummary> {
  const { countries } = await reader.survey(await trust.snapshot(), clock.now());
  const sum = (values: readonly number[]) => values.reduce((all, some) => all + some, 0);
  const change = await readTrustChange(db);
  const held = await listHeldImports(db);
  return {
    ...change,
    countries: countries.length,
    authorities: sum(countries.map(({ authorities }) => authorities)),
    validAuthorities: sum(countries.map(({ validNow }) => validNow)),
    revocationLists: listStates.map((state) => {
      const inState = countries.filter(({ revocationList }) => revocationList === state);
      const times = inState.flatMap(({ revocationListFrom }) => revocationListFrom?.getTime() ?? []);
      return {
        state,
        countries: inState.length,
        oldestListAt: times.length === 0 ? null : new Date(Math.min(...times)),
      };
    }),
    sources: (await listSources(db)).map(({ address, editionAt, succeededAt, failures, problem }) => ({
      address: withoutCredentials(address),
      editionAt,
      succeededAt,
      failures,
      problem,
    })),
    heldRemovals: held.length,
  };
}

/** A list for wallets has its purpose before the address. Some addresses contain credentials. */
function withoutCredentials(address: string): string {
  const [, purpose = "", rest = ""] = /^((?:[a-z]+=)?)(.*)$/s.exec(address) ?? [];
  const url = URL.parse(rest);
  return url === null ? "" : `${purpose}${url.protocol}//${url.host}${url.pathname}`;
}
