import type { Core } from "../../platform/core.ts";
import { describeError } from "../../platform/lib/log.ts";
import type { CurrentTrust } from "../../verification/trust/current-trust.ts";
import { summarizeTrust, type TrustSummary } from "../../verification/trust/summarize-trust.ts";
import type { TrustReader } from "../../verification/trust/trust-reader.ts";
import { summarizeWallet } from "../../verification/wallet-identity/summarize-wallet.ts";
import { listAppliedMigrations, readDatabaseFacts } from "./installation.store.ts";
import { pageConcerns } from "./judge-concerns.ts";
import { readInstallation } from "./read-installation.ts";

export type StatusNeeds = {
  readiness: { problem: () => Promise<string | null>; isOverloaded: () => boolean };
  self: { version: string; startedAt: Date };
  trust: CurrentTrust;
  trustReader: TrustReader;
  mailJob: string;
};

/** The state of the installation, as far as its operator may see it. */
export type InstallationStatus = Awaited<ReturnType<typeof readInstallationStatus>>;

type StatusCore = Pick<Core, "db" | "clock" | "log" | "config" | "ring">;

export async function readInstallationStatus(core: StatusCore, needs: StatusNeeds) {
  const { db, clock } = core;
  const { readiness, self, mailJob } = needs;
  const now = clock.now();
  const problem = await readiness.problem();
  const { version: databaseVersion } = await readDatabaseFacts(db);
  const schemaVersion = (await listAppliedMigrations(db)).at(-1)?.name ?? null;
  const { work, webhooks } = await readInstallation(db, { now, hasRun: true, mailJob });
  const trust = await findTrust(core, needs);
  const wallet = await summarizeWallet(core);
  return {
    now,
    concerns: pageConcerns(
      { self: { problem }, work, webhooks, wallet, ...(trust === null ? {} : { trust }) },
      now,
    ),
    health: {
      problem,
      isOverloaded: readiness.isOverloaded(),
      version: self.version,
      startedAt: self.startedAt,
      schemaVersion,
      databaseVersion,
    },
    work,
    webhooks,
    trust,
  };
}

/** The rest of the page does not wait for a busy thread. */
async function findTrust(core: StatusCore, needs: StatusNeeds): Promise<TrustSummary | null> {
  try {
    return await summarizeTrust(core, needs.trust, needs.trustReader);
  } catch (error) {
    core.log.warn("the trust state could not be read for the operator's page", describeError(error));
    return null;
  }
}
