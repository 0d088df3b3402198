import { shownDomain } from "@assay/contract/shown-domain";
import { recordAudit, systemActor } from "../../platform/audit/audit.store.ts";
import type { Core } from "../../platform/core.ts";
import type { Steps } from "../../platform/db/quarantine.ts";
import { later, minuteMs } from "../../platform/kernel/clock.ts";
import { DnsError } from "../../platform/lib/dns.ts";
import { mailOwners } from "../organizations/mail-owners.ts";
import { type DomainRow, leaseDomains, recordCheck, takeDueDomains } from "./domain.store.ts";
import { afterCheck, type CheckOutcome, provesToken, recordName } from "./domain.ts";

export const domainsAtOnce = 20;
const leaseMs = 10 * minuteMs;

/** Checks once a day whether the records of verified domains still exist. */
export async function recheckDomains(core: Core, job: string): Promise<number> {
  const rows = core.quarantine.rowsOf(job, "verified_domains");
  const lease: Steps<DomainRow> = {
    take: (tx, among) => takeDueDomains(tx, core.clock.now(), among),
    handle: (tx, domains) =>
      leaseDomains(
        tx,
        domains.map((domain) => domain.id),
        later(core.clock.now(), leaseMs),
      ),
  };
  const healed = await rows.retry(async (id) => {
    for (const domain of await rows.again(id, lease)) await recheck(core, domain);
  });
  const { taken, done } = await rows.batch(domainsAtOnce, lease);
  await Promise.all(done.map((domain) => rows.guard(domain, () => recheck(core, domain))));
  return healed + taken.length;
}

async function recheck(core: Core, domain: DomainRow): Promise<void> {
  const outcome = await look(core, domain);
  const now = core.clock.now();
  const checked = afterCheck(
    { missCount: domain.missCount, downgradedAt: domain.downgradedAt },
    outcome,
    now,
  );
  await core.db.transaction(async (tx) => {
    const written = await recordCheck(tx, domain, { ...checked, checkedAt: checked.concluded ? now : null });
    if (!written || checked.change === null) return;
    await recordAudit(tx, now, {
      environment: null,
      organizationId: domain.organizationId,
      event: checked.change === "downgraded" ? "domain.downgraded" : "domain.restored",
      actor: systemActor,
      targetId: domain.id,
      details: { apex_domain: domain.apexDomain },
    });
    const name = shownDomain(domain.apexDomain);
    const url = `${core.publicUrl()}/dashboard/domains`;
    await mailOwners(
      core,
      tx,
      domain.organizationId,
      checked.change === "downgraded"
        ? { kind: "domain_missing", fill: { domain: name, record: recordName(domain.apexDomain) }, url }
        : { kind: "domain_back", fill: { domain: name }, url },
    );
  });
}

async function look({ dns }: Pick<Core, "dns">, domain: DomainRow): Promise<CheckOutcome> {
  try {
    const values = await dns.resolveTxt(recordName(domain.apexDomain));
    return provesToken(values, domain.tokenHash) ? "found" : "missing";
  } catch (error) {
    if (error instanceof DnsError) return "unknown";
    throw error;
  }
}
