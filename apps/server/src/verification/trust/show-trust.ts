import type { Core } from "../../platform/core.ts";
import type { CurrentTrust } from "./current-trust.ts";
import type { TrustReader } from "./trust-reader.ts";
import { listSources } from "./trust-source.store.ts";

/** Returns the job that updates the metrics of the trust store. Sources are numbered, not named. */
export function createShowTrust(
  { db, clock, metrics }: Pick<Core, "db" | "clock" | "metrics">,
  trust: CurrentTrust,
  reader: TrustReader,
): () => Promise<number> {
  const setVersion = metrics.gauge("assay_trust_version", "Version of the trust store.");
  const setAuthorities = metrics.gauge(
    "assay_trust_authorities",
    "Trusted authorities that are valid now, by country.",
  );
  const setListAge = metrics.gauge(
    "assay_trust_revocation_list_age_seconds",
    "Age of the newest revocation list that counts, by country; -1 where there is none.",
  );
  const setSourceAge = metrics.gauge(
    "assay_trust_source_age_seconds",
    "Time since a source was last asked with success, by its place in the sorted list; -1 where it never was.",
  );
  const shown = new Set<string>();
  return async () => {
    const now = clock.now();
    // First what needs no thread: a survey that fails must not hide how old the sources are.
    for (const [index, { succeededAt }] of (await listSources(db)).entries())
      setSourceAge(ageOf(succeededAt, now), { source: String(index + 1) });
    const snapshot = await trust.snapshot();
    setVersion(snapshot.version);
    const { countries } = await reader.survey(snapshot, now);
    for (const country of shown) setAuthorities(0, { country });
    for (const { country, validNow, revocationListFrom } of countries) {
      shown.add(country);
      setAuthorities(validNow, { country });
      setListAge(ageOf(revocationListFrom, now), { country });
    }
    return 0;
  };
}

function ageOf(then: Date | null, now: Date): number {
  return then === null ? -1 : Math.round((now.getTime() - then.getTime()) / 1000);
}
