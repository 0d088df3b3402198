import type { Config } from "../../config.ts";
import { loadConfig, readSetting } from "../../load-config.ts";
import { DatabaseClock } from "../db/database-clock.ts";
import { type Db, openDb } from "../db/db.ts";
import { checkSchema, type MigrateOptions, migrate } from "../db/migrate.ts";
import { type Clock, secondMs } from "../kernel/clock.ts";
import { KeyRing, parseRing } from "../lib/key-ring.ts";
import { createLog, describeError, type Log } from "../lib/log.ts";
import { createLogWriter } from "../lib/log-writer.ts";
import { explainFolderError } from "./data-dir.ts";
import { keyRingPath, openRingFile } from "./key-ring-file.ts";

/** What a command works on: the configured database (started if it is embedded) and the key ring. */
type Installation = {
  config: Config;
  clock: DatabaseClock;
  log: Log;
  databaseUrl: string;
  ring: KeyRing;
  /** What a person should know about the embedded database. */
  notes: readonly string[];
  close(): Promise<void>;
};

/** The environment of the process. Commands pass it in; nothing in this folder reads it directly. */
type Environment = Readonly<Record<string, string | undefined>>;

export async function openInstallation(env: Environment): Promise<Installation> {
  const config = loadConfig(env);
  return open(config, env).catch((error) => {
    throw explainFolderError(error, config.dataDir);
  });
}

async function open(config: Config, env: Environment): Promise<Installation> {
  const clock = new DatabaseClock();
  const log = openLog(config, clock);
  const ring = openRing(config, env);
  const { url: databaseUrl, ...database } = await openDatabaseOnly(config, env, log);
  return { config, clock, log, databaseUrl, ring, ...database };
}

/**
 * Only the configured database: creates no key ring and applies no migration. Starts the embedded one if it
 * does not run.
 */
export async function openDatabaseOnly(
  config: Config,
  env: Environment,
  log: Log,
): Promise<{ url: string; notes: readonly string[]; close(): Promise<void> }> {
  if (config.databaseUrl !== "") return { url: config.databaseUrl, notes: [], close: async () => {} };
  const { startEmbeddedPostgres } = await import("./postgres/embedded-postgres.ts");
  const embedded = await startEmbeddedPostgres({
    dataDir: config.dataDir,
    env,
    log: (line, level) => log[level](line),
  });
  return { url: embedded.url, notes: embedded.notes, close: () => embedded.stop() };
}

function openLog(config: Config, clock: Clock): Log {
  const pretty =
    config.logFormat === "pretty" || (config.logFormat === "auto" && process.stdout.isTTY === true);
  const write = createLogWriter((lines) =>
    log.warn("log lines were dropped, because the reader was stuck", { lines }),
  );
  const log = createLog({ level: config.logLevel, write, now: () => clock.now(), pretty });
  return log;
}

function openRing(config: Config, env: Environment): KeyRing {
  return config.secretKeys === ""
    ? openRingFile(keyRingPath(config.dataDir))
    : new KeyRing(parseRing(config.secretKeys), () => parseRing(readSetting(env, "SECRET_KEYS")));
}

/** The direct address for commands: they have few connections and run long statements. */
const directUrlOf = ({ config, databaseUrl }: Installation) => config.databaseDirectUrl || databaseUrl;

export function migrateInstallation(
  installation: Installation,
  options: Pick<MigrateOptions, "contract" | "onPostponed">,
): Promise<string[]> {
  const { config, log } = installation;
  const waitForDatabaseMs = config.databaseStartWaitSeconds * secondMs;
  return migrate(directUrlOf(installation), { waitForDatabaseMs, warn: log.warn, ...options });
}

/** For commands that read or change something and end. */
export async function withDatabase<T>(
  env: Environment,
  work: (db: Db, installation: Installation) => Promise<T>,
): Promise<T> {
  const installation = await openInstallation(env);
  try {
    // A command must not contract the schema as a side effect.
    if (installation.config.skipMigrations) await checkSchema(directUrlOf(installation));
    else await migrateInstallation(installation, { contract: "never" });
    const db = openDb({
      url: directUrlOf(installation),
      poolSize: 4,
      onError: (error) => installation.log.warn("a database connection was lost", describeError(error)),
    });
    try {
      await installation.clock.ask(db);
      return await work(db, installation);
    } finally {
      await db.close();
    }
  } finally {
    await installation.close();
  }
}
