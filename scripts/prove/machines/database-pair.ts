import { rm } from "node:fs/promises";
import { connect } from "node:net";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from "../../../apps/server/src/platform/installation/postgres/embedded-postgres.ts";
import { copyServer } from "../../../apps/server/test/support/copy-server.ts";
import {
  killServer,
  serverProcess,
  serverProcesses,
} from "../../../apps/server/test/support/postgres-processes.ts";
import { SilentProxy } from "../../../apps/server/test/support/silent-proxy.ts";
import { askDatabase } from "../../ask-database.ts";
import { openRelay } from "../support/relay.ts";

const settings = {
  max_wal_senders: "4",
  // A new replica asks for what was written since its copy began.
  wal_keep_size: "1GB",
  // Commits are acknowledged as in production. Only durability against machine loss is not waited for.
  synchronous_commit: "on",
  full_page_writes: "on",
};

/**
 * Delay before a replica is promoted. Shorter: few requests meet a database without a primary. Longer than
 * the clients' patience: they give up.
 */
const noticedAfterMs = 5000;

type Server = { dataDir: string; running: EmbeddedPostgres };

/** A primary and a synchronous streaming replica. They swap roles when the primary is lost. */
export class DatabasePair {
  #primary: Server;
  #replica: Server | null = null;
  readonly #folders: readonly [string, string];

  private constructor(primary: Server, folders: readonly [string, string]) {
    this.#primary = primary;
    this.#folders = folders;
  }

  static async start(folder: string): Promise<DatabasePair> {
    const folders = [path.join(folder, "first"), path.join(folder, "second")] as const;
    const pair = new DatabasePair(await startServer(folders[0], {}), folders);
    await pair.makeReplica();
    return pair;
  }

  get primaryUrl(): string {
    return this.#primary.running.adminUrl;
  }

  get primarySocket(): string {
    return `${this.#primary.running.host}/.s.PGSQL.5432`;
  }

  /** In the folder that the primary does not use. */
  async makeReplica(): Promise<void> {
    const dataDir = this.#folders.find((folder) => folder !== this.#primary.dataDir) ?? "";
    await rm(dataDir, { recursive: true, force: true });
    const address = new URL(this.#primary.running.adminUrl).searchParams;
    const conninfo = ["host", "port", "user", "password"].map((name) => `${name}=${address.get(name)}`);
    await askDatabase(this.primaryUrl, async (admin) => {
      await copyServer(admin, this.#primary.dataDir, dataDir);
      this.#replica = await startServer(dataDir, {
        primary_conninfo: `${conninfo.join(" ")} application_name=replica`,
      });
      while ((await admin.query("select from pg_stat_replication where state = 'streaming'")).rowCount !== 1)
        await wait(50);
      await admin.query("alter system set synchronous_standby_names = 'replica'");
      await admin.query("select pg_reload_conf()");
      while ((await admin.query("select from pg_stat_replication where sync_state = 'sync'")).rowCount !== 1)
        await wait(50);
    });
  }

  /** A supervisor restarts it; commits wait until then. */
  async killReplica(): Promise<void> {
    const dataDir = this.#replica?.dataDir ?? "";
    kill(dataDir);
    await askDatabase(this.primaryUrl, async (admin) => {
      while ((await admin.query("select from pg_stat_replication where sync_state = 'sync'")).rowCount !== 1)
        await wait(50);
    });
  }

  /** Would lose writes: the primary no longer waits for the replica, and sends it nothing. */
  async stopReplicating(): Promise<void> {
    await askDatabase(this.primaryUrl, async (admin) => {
      await admin.query("alter system set synchronous_standby_names = ''");
      await admin.query("select pg_reload_conf()");
    });
    process.kill(serverProcess(this.#primary.dataDir, /walsender/), "SIGSTOP");
  }

  /** Kills the primary for good; the replica is promoted after a delay. */
  async failOver(): Promise<void> {
    const [lost, promoted] = [this.#primary, this.#replica];
    if (promoted === null) throw new Error("there is no replica to promote");
    kill(lost.dataDir);
    await lost.running.stop();
    await wait(noticedAfterMs);
    await askDatabase(promoted.running.adminUrl, async (admin) => {
      await admin.query("select pg_promote(true, 60)");
      const { rows } = await admin.query("select pg_is_in_recovery() as standby");
      if (rows[0].standby) throw new Error("the replica was not promoted");
    });
    this.#primary = promoted;
    this.#replica = null;
  }

  async close(): Promise<void> {
    await this.#replica?.running.stop();
    await this.#primary.running.stop();
  }
}

/** A fault that hit nothing would prove nothing. */
function kill(dataDir: string): void {
  const hit = serverProcesses(dataDir);
  if (hit.length < 2) throw new Error(`no server runs in ${dataDir}`);
  killServer(dataDir);
}

async function startServer(dataDir: string, more: Record<string, string>): Promise<Server> {
  const running = await startEmbeddedPostgres({
    dataDir,
    env: process.env,
    log: () => {},
    durable: false,
    settings: { ...settings, ...more },
  });
  return { dataDir, running };
}

/** One address that leads to the current primary. */
export async function openPrimaryAddress(pair: DatabasePair): Promise<{ url: string; close(): void }> {
  const { port, close } = await openRelay(() => connect(pair.primarySocket));
  return { url: SilentProxy.addressOf(pair.primaryUrl, port), close };
}
