import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
} from "node:fs";
import { connect } from "node:net";
import { loadavg, tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { parseArgs } from "node:util";
import { startEmbeddedPostgres } from "../../apps/server/src/platform/installation/postgres/embedded-postgres.ts";
import { Api, createPartner } from "../../apps/server/test/support/api.ts";
import { freePort } from "../../apps/server/test/support/free-port.ts";
import { killAll, killServer } from "../../apps/server/test/support/postgres-processes.ts";
import { type AssayProcess, assay, launchAssay } from "../../apps/server/test/support/process.ts";
import { askDatabase } from "../ask-database.ts";
import { Writer } from "./recovery/writer.ts";
import { openRelay } from "./support/relay.ts";

export const about =
  "recovery point and recovery time of a backup, of PostgreSQL with archiving and of a synchronous replica";

const usage = `npm run prove -- recovery [--sessions N] [--seconds N]

  --sessions  rows at the start (100000)
  --seconds   how long sessions are written before each loss (15)

It needs a PostgreSQL with pg_basebackup (Debian: apt-get install postgresql), and uses free ports and temporary folders.`;

type Result = {
  loss: string;
  acknowledged: number;
  lost: number;
  /** How long before the loss the oldest lost session was acknowledged. */
  pointSeconds: number;
  /** From the loss until the service acknowledged the next session. */
  timeSeconds: number;
  holds: boolean;
};

export async function prove(args: readonly string[]): Promise<boolean> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      sessions: { type: "string", default: "100000" },
      seconds: { type: "string", default: "15" },
      help: { type: "boolean", default: false },
    },
  });
  const [sessions, seconds] = [Number(values.sessions), Number(values.seconds)];
  const bin = globSync("/usr/lib/postgresql/*/bin/pg_basebackup").sort().at(-1);
  if (values.help || bin === undefined || !(sessions > 0) || !(seconds > 0)) {
    console.log(usage);
    return values.help;
  }
  const folder = mkdtempSync(path.join(tmpdir(), "assay-recovery-"));
  chmodSync(folder, 0o755);
  const undo: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 })];
  const close = async () => {
    for (const each of undo.reverse()) await each();
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => void close().finally(() => process.exit(130)));
  try {
    const results = [
      await loseBuiltIn(path.join(folder, "built-in"), sessions, seconds, undo),
      ...(await losePostgres(path.join(folder, "postgres"), path.dirname(bin), sessions, seconds, undo)),
    ];
    console.log(`\n${sessions} sessions before, load of the machine ${loadavg()[0]?.toFixed(1)}\n`);
    console.log(
      `${"".padEnd(36)} ${"acknowledged".padStart(12)} ${"lost".padStart(6)} ${"point".padStart(9)} ${"time".padStart(9)}`,
    );
    for (const { loss, acknowledged, lost, pointSeconds, timeSeconds, holds } of results)
      console.log(
        `${holds ? "ok  " : "FAIL"}  ${loss.padEnd(30)} ${String(acknowledged).padStart(12)} ${String(lost).padStart(6)} ${`${pointSeconds.toFixed(1)} s`.padStart(9)} ${`${timeSeconds.toFixed(1)} s`.padStart(9)}`,
      );
    return results.every(({ holds }) => holds);
  } finally {
    await close();
  }
}

/** The default: one machine with the built-in database, and the archive of `assay backup`. */
async function loseBuiltIn(
  folder: string,
  sessions: number,
  seconds: number,
  undo: (() => unknown)[],
): Promise<Result> {
  say("The built-in database: the machine is lost, a backup exists");
  mkdirSync(folder);
  const [dataDir, archive] = [path.join(folder, "data"), path.join(folder, "assay.tar.gz")];
  const env = { DATA_DIR: dataDir, PORT: String(await freePort()) };
  let service = await startService(env);
  undo.push(
    () => service.stop("SIGKILL"),
    () => killServer(dataDir),
  );
  const partner = await createPartner(new Api(service.url));
  const server = await startEmbeddedPostgres({ dataDir, env: process.env, log: () => {} });
  await seed(server.adminUrl, partner.api, sessions);
  await server.stop();
  const writer = new Writer(service.url, partner.key.secret);
  writer.start();
  await wait(seconds * 1000);
  const backupAt = Date.now();
  await shown("assay backup assay.tar.gz", () => assay(["backup", archive], env));
  await wait(seconds * 1000);

  const lostAt = Date.now();
  service.child.kill("SIGKILL");
  killServer(dataDir);
  rmSync(dataDir, { recursive: true, force: true, maxRetries: 10 });
  say("kill -9 of the service and its PostgreSQL, and its folder is gone");
  await service.stop("SIGKILL");
  await shown("assay restore assay.tar.gz", () => assay(["restore", archive], env));
  service = await startService(env);
  const timeSeconds = ((await writer.nextAt()) - lostAt) / 1000;
  await writer.stop();
  const again = await startEmbeddedPostgres({ dataDir, env: process.env, log: () => {} });
  const missing = await missingIn(again.adminUrl, writer.acknowledged);
  await again.stop();
  await service.stop();
  return judge("built-in database, backup", writer, missing, { lostAt, safeUntil: backupAt, timeSeconds });
}

/** An external PostgreSQL: archiving, then a recovery to a point in time, then a synchronous replica. */
async function losePostgres(
  folder: string,
  bin: string,
  sessions: number,
  seconds: number,
  undo: (() => unknown)[],
): Promise<Result[]> {
  const account = ownAccount(folder);
  /** Runs a command as an operator would, and shows it with what it says. */
  const sh = (command: string): string => {
    console.log(`$ ${command}`);
    const { status, stdout, stderr } = spawnSync("bash", ["-ec", command], {
      cwd: folder,
      encoding: "utf8",
      env: { PATH: `${bin}:${process.env.PATH}`, PGHOST: "127.0.0.1", PGUSER: "postgres", LC_ALL: "C.UTF-8" },
      ...account,
      // What a server writes goes to its log.
      stdio: ["ignore", "pipe", "pipe"],
    });
    const said = `${stdout}${stderr}`.trim();
    if (said !== "") console.log(said);
    if (status !== 0) throw new Error(`${command} ended with ${status}`);
    return stdout.trim();
  };
  const [port, otherPort] = [await freePort(), await freePort()];
  let current = port;
  const way = await openRelay(() => connect(current, "127.0.0.1"));
  undo.push(way.close);
  for (const name of ["primary", "recovered", "pointintime", "standby"])
    undo.push(() => killPostgres(path.join(folder, name)));

  say("PostgreSQL with archiving: the machine is lost, base backup and archive exist");
  sh(
    "initdb -D primary --auth=trust --username=postgres --encoding=UTF8 --locale=C > /dev/null && mkdir archive",
  );
  sh(`cat >> primary/postgresql.conf <<'END'
port = ${port}
unix_socket_directories = ''
archive_mode = on
archive_command = 'test ! -f ${folder}/archive/%f && cp %p ${folder}/archive/%f'
archive_timeout = 10s
END`);
  sh("pg_ctl -D primary -l primary.log -w start > /dev/null");
  sh(`createdb -p ${port} assay`);
  const env = {
    DATABASE_URL: `postgresql://postgres@127.0.0.1:${way.port}/assay`,
    DATA_DIR: path.join(folder, "..", "service"),
    SECRET_KEYS: `1:${Buffer.alloc(32, 7).toString("base64")}`,
    PORT: String(await freePort()),
  };
  const url = (of: number) => `postgresql://postgres@127.0.0.1:${of}/assay`;
  const service = await startService(env);
  undo.push(() => service.stop("SIGKILL"));
  const partner = await createPartner(new Api(service.url));
  await seed(url(port), partner.api, sessions);
  sh(`pg_basebackup -p ${port} -D base -c fast && du -sh base | cut -f1`);
  const writer = new Writer(service.url, partner.key.secret);
  writer.start();
  await wait(seconds * 1000);
  const switchedAt = Date.now();
  await archiveNow(url(port));
  await wait(seconds * 500);
  let lostAt = Date.now();
  killPostgres(path.join(folder, "primary"));
  say("kill -9 of PostgreSQL, and its folder is gone");
  sh("rm -rf primary");
  const recover = (to: string, more = "") => {
    sh(`cp -a base ${to} && cat >> ${to}/postgresql.auto.conf <<'END'
restore_command = 'cp ${folder}/archive/%f %p'
${more}END
touch ${to}/recovery.signal`);
    sh(`pg_ctl -D ${to} -l ${to}.log -w -t 300 start > /dev/null`);
    sh(`grep -E 'recovery|restored|stopping|selected' ${to}.log | tail -4`);
  };
  recover("recovered");
  const archiveTime = ((await writer.nextAt()) - lostAt) / 1000;
  await wait(2000);
  await writer.stop();
  const archived = judge(
    "PostgreSQL with archiving",
    writer,
    await missingIn(url(port), writer.acknowledged),
    {
      lostAt,
      safeUntil: switchedAt,
      timeSeconds: archiveTime,
    },
  );

  say("Recovery to a point in time: all sessions were deleted by mistake");
  const ask = (sql: string) => sh(`psql -p ${port} -At -d assay -c "${sql}"`);
  const before = ask("select count(*) from sessions");
  const target = ask("select now()");
  await wait(1000);
  ask("delete from sessions");
  await archiveNow(url(port));
  const stoppedAt = Date.now();
  sh("pg_ctl -D recovered -m fast -w stop > /dev/null");
  recover("pointintime", `recovery_target_time = '${target}'\nrecovery_target_action = 'promote'\n`);
  // Connections for reading are taken before the recovery ends.
  sh(`until [ "$(psql -p ${port} -At -d assay -c 'select pg_is_in_recovery()')" = f ]; do sleep 0.2; done`);
  const after = ask("select count(*) from sessions");
  // Otherwise a replica that is copied from it stops at the same point.
  ask("alter system reset all");
  const later = new Writer(service.url, partner.key.secret);
  later.start();
  const pointTime = ((await later.nextAt()) - stoppedAt) / 1000;
  await later.stop();
  const pointInTime: Result = {
    loss: "recovery to a point in time",
    acknowledged: Number(before),
    lost: Number(before) - Number(after),
    pointSeconds: 0,
    timeSeconds: pointTime,
    holds: before === after,
  };

  say("A synchronous replica: the primary is lost, and the replica promoted");
  sh(`pg_basebackup -p ${port} -D standby -c fast -R`);
  sh(
    `echo 'port = ${otherPort}' >> standby/postgresql.conf && pg_ctl -D standby -l standby.log -w start > /dev/null`,
  );
  ask("alter system set synchronous_standby_names = '*'");
  ask("select pg_reload_conf()");
  await wait(1000);
  ask("select application_name, state, sync_state from pg_stat_replication");
  const last = new Writer(service.url, partner.key.secret);
  last.start();
  await wait(seconds * 1000);
  lostAt = Date.now();
  killPostgres(path.join(folder, "pointintime"));
  say("kill -9 of the primary");
  sh("pg_ctl -D standby -w promote");
  current = otherPort;
  way.drop();
  const replicaTime = ((await last.nextAt()) - lostAt) / 1000;
  await wait(2000);
  await last.stop();
  const missing = await missingIn(url(otherPort), last.acknowledged);
  const replica = judge("synchronous replica", last, missing, {
    lostAt,
    safeUntil: Number.POSITIVE_INFINITY,
    timeSeconds: replicaTime,
  });
  await service.stop();
  sh("pg_ctl -D standby -m fast -w stop > /dev/null");
  return [archived, pointInTime, replica];
}

function judge(
  loss: string,
  writer: Writer,
  missing: readonly string[],
  { lostAt, safeUntil, timeSeconds }: { lostAt: number; safeUntil: number; timeSeconds: number },
): Result {
  const times = missing.map((id) => writer.acknowledged.get(id) ?? 0);
  const oldest = Math.min(lostAt, ...times);
  const acknowledged = writer.acknowledged.size;
  return {
    ...{ loss, acknowledged, timeSeconds, lost: missing.length, pointSeconds: (lostAt - oldest) / 1000 },
    // The copy holds everything up to its start, and a run without writes proves nothing.
    holds: acknowledged > 20 && times.every((at) => at >= safeUntil),
  };
}

async function startService(env: Record<string, string>): Promise<AssayProcess> {
  const { listening, ...started } = launchAssay(env);
  return { ...started, url: await listening };
}

/** Rows that were there before, copies of one session. */
async function seed(url: string, api: Api, sessions: number): Promise<void> {
  const { body } = await api.post("/v1/sessions", { metadata: { from: "before" } });
  await askDatabase(url, (client) =>
    client.query(
      `insert into sessions select (jsonb_populate_record(s, jsonb_build_object('id', left(s.id, -8) || lpad(to_hex(i), 8, '0'),
         'status', 'cancelled', 'completed_at', s.created_at))).* from sessions s, generate_series(1, $2::integer) i where s.id = $1`,
      [body.data.id, sessions],
    ),
  );
}

async function missingIn(url: string, acknowledged: ReadonlyMap<string, number>): Promise<string[]> {
  const { rows } = await askDatabase(url, (client) =>
    client.query<{ id: string }>("select id from sessions where id = any ($1)", [[...acknowledged.keys()]]),
  );
  const found = new Set(rows.map(({ id }) => id));
  return [...acknowledged.keys()].filter((id) => !found.has(id));
}

/** All that was written so far is in the archive. */
async function archiveNow(url: string): Promise<void> {
  await askDatabase(url, async (client) => {
    const { rows } = await client.query<{ name: string }>("select pg_walfile_name(pg_switch_wal()) as name");
    for (;;) {
      const archived = await client.query("select from pg_stat_archiver where last_archived_wal >= $1", [
        rows[0]?.name,
      ]);
      if (archived.rowCount === 1) return;
      await wait(100);
    }
  });
}

/** The postmaster first, so that it starts nothing in place of what dies; nothing gets a chance to write. */
function killPostgres(dataDir: string): void {
  const file = path.join(dataDir, "postmaster.pid");
  if (!existsSync(file)) return;
  const postmaster = Number(readFileSync(file, "utf8").split("\n")[0]);
  const children = spawnSync("ps", ["-o", "pid=", "--ppid", String(postmaster)], { encoding: "utf8" });
  killAll([
    postmaster,
    ...children.stdout
      .split("\n")
      .map(Number)
      .filter((pid) => pid > 0),
  ]);
}

/** PostgreSQL refuses to run as root, so the folder gets to an account that may. */
function ownAccount(folder: string): { uid: number; gid: number } | Record<string, never> {
  mkdirSync(folder);
  if (process.getuid?.() !== 0) return {};
  const id = (flag: string) => Number(spawnSync("id", [flag, "postgres"], { encoding: "utf8" }).stdout);
  const account = { uid: id("-u"), gid: id("-g") };
  chownSync(folder, account.uid, account.gid);
  return account;
}

async function shown<T extends { code: number | null; stdout: string; stderr: string }>(
  command: string,
  run: () => Promise<T>,
): Promise<void> {
  const startedAt = performance.now();
  console.log(`$ ${command}`);
  const { code, stdout, stderr } = await run();
  console.log(`${stdout}${stderr}`.trim());
  console.log(`  ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
  if (code !== 0) throw new Error(`${command} ended with ${code}`);
}

function say(line: string): void {
  console.log(`\n# ${new Date().toISOString().slice(11, 19)} ${line}`);
}
