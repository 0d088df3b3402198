import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Check, type Finding, runChecks } from "@assay/cli/checks";
import type { Config } from "../../config.ts";
import { type Db, openDb } from "../../platform/db/db.ts";
import { listMigrations } from "../../platform/db/migrate.ts";
import { examinePooler } from "../../platform/db/pooler.ts";
import { readRing } from "../../platform/installation/key-ring-file.ts";
import { readLastBackup } from "../../platform/installation/last-backup.ts";
import { openDatabaseOnly } from "../../platform/installation/open-installation.ts";
import type { Clock } from "../../platform/kernel/clock.ts";
import { listKnownKeys } from "../../platform/key-ring/ring-state.store.ts";
import { mismatches } from "../../platform/key-ring/ring-state.ts";
import { KeyRing, loadedKey, newRingKey, parseRing } from "../../platform/lib/key-ring.ts";
import type { Log } from "../../platform/lib/log.ts";
import { CurrentTrust } from "../../verification/trust/current-trust.ts";
import { summarizeTrust } from "../../verification/trust/summarize-trust.ts";
import { TrustReader } from "../../verification/trust/trust-reader.ts";
import { summarizeWallet } from "../../verification/wallet-identity/summarize-wallet.ts";
import type { Facts } from "../operator/facts.ts";
import { listAppliedMigrations, readDatabaseFacts } from "../operator/installation.store.ts";
import { judge } from "../operator/judge-concerns.ts";
import { machinesOf } from "../operator/process-report.ts";
import { readInstallation } from "../operator/read-installation.ts";
import { signsOfEarlierUse } from "./earlier-use.ts";
import { checkOf } from "./look-around.ts";

type Surroundings = {
  config: Config;
  clock: Clock;
  log: Log;
  env: Readonly<Record<string, string | undefined>>;
};

const isEmbedded = (config: Config) => config.databaseUrl === "";

/** All checks that need the database. They only read: no migration is applied. */
export async function lookIntoDatabase({ config, clock, log, env }: Surroundings): Promise<Finding[]> {
  const earlierUse = signsOfEarlierUse(config);
  const only = (database: Facts["database"]) => runChecks([checkOf("database", clock, () => database)]);
  if (isEmbedded(config) && !existsSync(join(config.dataDir, "postgres", "data", "PG_VERSION")))
    return only({ kind: "empty", earlierUse });
  let opened: Awaited<ReturnType<typeof openDatabaseOnly>>;
  try {
    opened = await openDatabaseOnly(config, env, log);
  } catch (error) {
    return only({ kind: "unreadable", problem: `It could not be opened: ${(error as Error).message}` });
  }
  const pooler = await lookForPooler(config, opened.url);
  const poolerCheck = pooler === null ? [] : [checkOf("pooler", clock, () => pooler)];
  if (pooler !== null && judge("pooler", pooler, clock.now()).state === "problem") {
    await opened.close();
    return runChecks(poolerCheck);
  }
  const db = openDb({ url: config.databaseDirectUrl || opened.url, poolSize: 4, onError: () => {} });
  try {
    const before = clock.now().getTime();
    const { version, takesWrites, hasSchema, now } = await readDatabaseFacts(db);
    const skewMs = now.getTime() - (before + clock.now().getTime()) / 2;
    const applied = hasSchema ? await listAppliedMigrations(db) : null;
    const schema = { known: listMigrations(), applied, earlierUse };
    // During an update, or one version back, this release works with the existing tables. Otherwise the
    // tables may belong to another version.
    const isUsable = applied !== null && judge("schema", schema, clock.now()).state !== "problem";
    return await runChecks([
      checkOf("database", clock, () => ({ kind: "answers", version, takesWrites })),
      ...poolerCheck,
      checkOf("schema", clock, () => schema),
      checkOf("clock", clock, () => ({ skewMs })),
      ...(isUsable ? checksOfTables(db, config, clock) : []),
      checkOf("backup", clock, () => ({
        lastAt: readLastBackup(config.dataDir),
        isEmbedded: isEmbedded(config),
      })),
    ]);
  } catch (error) {
    return only({ kind: "unreadable", problem: `It does not answer: ${(error as Error).message}.` });
  } finally {
    await db.close();
    await opened.close();
  }
}

/** Null if the database is embedded or does not answer, which another check reports. */
async function lookForPooler(config: Config, url: string): Promise<Facts["pooler"] | null> {
  if (isEmbedded(config)) return null;
  try {
    const { pooler, supportsPreparedStatements } = await examinePooler(url);
    const direct =
      config.databaseDirectUrl === "" ? null : (await examinePooler(config.databaseDirectUrl)).pooler;
    return {
      pooler,
      supportsPreparedStatements,
      direct,
      preparedStatements: config.databasePreparedStatements,
    };
  } catch {
    return null;
  }
}

function checksOfTables(db: Db, config: Config, clock: Clock): Check[] {
  const known = listKnownKeys(db);
  const read = known.then((keys) =>
    // The first start records its keys.
    readInstallation(db, { now: clock.now(), hasRun: keys.length > 0, mailJob: "send-mails" }),
  );
  return [
    checkOf("keyRing", clock, async () => {
      const text = readRing(config);
      const loaded = text === null ? [] : parseRing(text).map(loadedKey);
      const keys = await known;
      return { isLoaded: text !== null, knownKeys: keys.length, mismatches: mismatches(loaded, keys) };
    }),
    checkOf("mailFiles", clock, async () => {
      const { processes } = (await read).work;
      return {
        smtpUrl: config.smtpUrl,
        machines: machinesOf(processes.filter(({ isSilent }) => !isSilent)),
      };
    }),
    checkOf("trust", clock, () => lookAtTrust(db, clock), 60_000),
    checkOf("wallet", clock, () => lookAtWallet(db, config, clock)),
    checkOf("work", clock, async () => (await read).work),
    checkOf("webhooks", clock, async () => (await read).webhooks),
  ];
}

function lookAtWallet(db: Db, config: Config, clock: Clock): Promise<Facts["wallet"]> {
  const text = readRing(config);
  // Without a ring nothing can have been sealed with it.
  const ring = new KeyRing(text === null ? [newRingKey([])] : parseRing(text));
  return summarizeWallet({ db, clock, config, ring });
}

async function lookAtTrust(db: Db, clock: Clock): Promise<Facts["trust"]> {
  const reader = new TrustReader();
  try {
    return await summarizeTrust({ db, clock }, new CurrentTrust(db), reader);
  } finally {
    await reader.close();
  }
}
