import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Check, type Finding, type Found, problem, runChecks } from "@assay/cli/checks";
import { createNodeSignatureChecker } from "@assay/emrtd/node/signature-checker";
import { auditTrust } from "@assay/emrtd/trust/audit-trust";
import { TrustStore } from "@assay/emrtd/trust/trust-store";
import type { Config } from "../config.ts";
import { type Db, openDb } from "../db/db.ts";
import { listMigrations } from "../db/migrate.ts";
import { examinePooler } from "../db/pooler.ts";
import { countAside } from "../db/set-aside.store.ts";
import { readRing } from "../installation/key-ring-file.ts";
import { readLastBackup } from "../installation/last-backup.ts";
import { openDatabaseOnly } from "../installation/open-installation.ts";
import { type Clock, later } from "../kernel/clock.ts";
import { listLiveProcesses } from "../key-ring/ring-member.ts";
import { listKnownKeys } from "../key-ring/ring-state.store.ts";
import { goneAfterMs, misfits } from "../key-ring/ring-state.ts";
import { loadedKey, parseRing } from "../lib/key-ring.ts";
import type { Log } from "../lib/log.ts";
import { findOldestMail } from "../mails/mail.store.ts";
import { listReports } from "../operator/process-report.store.ts";
import { machinesOf } from "../operator/process-report.ts";
import { readTrust } from "../trust/trust.store.ts";
import { listSources } from "../trust/trust-source.store.ts";
import { findDueEndpoints } from "../webhooks/delivery.store.ts";
import { listAppliedMigrations, readDatabaseFacts } from "./doctor.store.ts";
import { signsOfEarlierLife } from "./earlier-life.ts";
import {
  judgeBackup,
  judgeClock,
  judgeDatabase,
  judgeEmpty,
  judgeJobs,
  judgeMailFiles,
  judgePooler,
  judgeRing,
  judgeSchema,
  judgeTrust,
  judgeWebhooks,
} from "./judge-installation.ts";

type Surroundings = {
  config: Config;
  clock: Clock;
  log: Log;
  env: Readonly<Record<string, string | undefined>>;
};

const isEmbedded = (config: Config) => config.databaseUrl === "";

/** Everything that takes the database. It is opened and read; no migration is applied and nothing is written. */
export async function lookIntoDatabase(around: Surroundings): Promise<Finding[]> {
  const { config, clock } = around;
  const single = (name: string, look: () => Promise<Found>): Promise<Finding[]> =>
    runChecks([{ name, look }]);
  const earlierLife = signsOfEarlierLife(config);
  const backup = {
    name: "Backup",
    look: async () => judgeBackup(readLastBackup(config.dataDir), isEmbedded(config), clock.now()),
  };
  if (isEmbedded(config) && !existsSync(join(config.dataDir, "postgres", "data", "PG_VERSION")))
    return single("Database", async () => judgeEmpty("There is no database yet", earlierLife));
  let opened: Awaited<ReturnType<typeof openDatabaseOnly>>;
  try {
    opened = await openDatabaseOnly(config, around.env, around.log);
  } catch (error) {
    return single("Database", async () =>
      problem(
        `It could not be opened: ${(error as Error).message}`,
        "Mend that first; what needs the database was not looked at.",
      ),
    );
  }
  const pooler = await lookForPooler(config, opened.url);
  if (pooler?.state === "problem") {
    await opened.close();
    return single("Pooler", async () => pooler);
  }
  const db = openDb({ url: config.databaseDirectUrl || opened.url, poolSize: 4, onError: () => {} });
  try {
    const facts = await readDatabaseFacts(db).catch((error: unknown) => error as Error);
    if (facts instanceof Error)
      return single("Database", async () =>
        problem(
          `It does not answer: ${facts.message}.`,
          "Check DATABASE_URL and whether the server runs. What needs the database was not looked at.",
        ),
      );
    const applied = facts.migrations === null ? null : await listAppliedMigrations(db);
    const schema = judgeSchema(listMigrations(), applied, earlierLife);
    const first = [
      { name: "Database", look: async () => judgeDatabase(facts) },
      ...(pooler === null ? [] : [{ name: "Pooler", look: async () => pooler }]),
      { name: "Schema", look: async () => schema },
      { name: "Clock", look: () => lookAtClock(db, clock) },
    ];
    // In the midst of an update, or one step back, this release works on the tables that are there; otherwise they may be another version's.
    const rest = applied !== null && schema.state !== "problem" ? checksOfTables(db, config, clock) : [];
    return await runChecks([...first, ...rest, backup]);
  } finally {
    await db.close();
    await opened.close();
  }
}

/** Null where the database is the embedded one, or does not answer, which is told in another place. */
async function lookForPooler(config: Config, url: string): Promise<Found | null> {
  if (isEmbedded(config)) return null;
  try {
    const { pooler, namesApart } = await examinePooler(url);
    const direct =
      config.databaseDirectUrl === "" ? null : (await examinePooler(config.databaseDirectUrl)).pooler;
    return judgePooler({ pooler, namesApart, direct, preparedStatements: config.databasePreparedStatements });
  } catch {
    return null;
  }
}

async function lookAtClock(db: Db, clock: Clock): Promise<Found> {
  const before = clock.now().getTime();
  const { now } = await readDatabaseFacts(db);
  return judgeClock(now.getTime() - (before + clock.now().getTime()) / 2);
}

function checksOfTables(db: Db, config: Config, clock: Clock): Check[] {
  return [
    { name: "Key ring", look: () => lookAtRing(db, config) },
    {
      name: "Mail files",
      look: async () =>
        judgeMailFiles(config.smtpUrl, machinesOf(await listReports(db, later(clock.now(), -goneAfterMs)))),
    },
    { name: "Trust", withinMs: 60_000, look: () => lookAtTrust(db, clock) },
    {
      name: "Jobs",
      look: async () => {
        const now = clock.now();
        const [processes, known, aside, oldestMail] = await Promise.all([
          listLiveProcesses(db, now),
          listKnownKeys(db),
          countAside(db),
          findOldestMail(db, "send-mails", now),
        ]);
        // The first start writes down its keys.
        const hasRun = known.length > 0;
        return judgeJobs({ processes: processes.length, hasRun, aside, oldestMail }, now);
      },
    },
    {
      name: "Webhooks",
      look: async () => judgeWebhooks(await findDueEndpoints(db, clock.now()), clock.now()),
    },
  ];
}

async function lookAtRing(db: Db, config: Config): Promise<Found> {
  const known = await listKnownKeys(db);
  const text = readRing(config);
  const loaded = text === null ? [] : parseRing(text).map(loadedKey);
  return judgeRing({ loaded: text !== null, knownKeys: known.length, misfits: misfits(loaded, known) });
}

async function lookAtTrust(db: Db, clock: Clock): Promise<Found> {
  const now = clock.now();
  const [{ records }, sources] = await Promise.all([readTrust(db), listSources(db)]);
  const { authorities, countries } = auditTrust(new TrustStore(records, createNodeSignatureChecker()), now);
  const times = records.map(({ source }) => Date.parse(source.importedAt));
  return judgeTrust(
    {
      authorities,
      valid: countries.reduce((sum, { validNow }) => sum + validNow, 0),
      countries: countries.length,
      stale: countries.filter(({ revocationList }) => revocationList === "stale").length,
      newestImport: times.length === 0 ? null : new Date(Math.max(...times)),
      sources: sources.map(({ address, succeeded_at: succeededAt, problem: trouble }) => ({
        address,
        succeededAt,
        problem: trouble,
      })),
    },
    now,
  );
}
