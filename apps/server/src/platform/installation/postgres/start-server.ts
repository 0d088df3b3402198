import type { ChildProcess } from "node:child_process";
import { setTimeout as wait } from "node:timers/promises";
import { ExplainedError } from "../../lib/explained-error.ts";
import { accessFile, ensureAccess, writeAccessFile } from "./access.ts";
import { port } from "./address.ts";
import type { Cluster, EmbeddedLogLevel } from "./cluster.ts";
import { connect } from "./connection.ts";
import { endServer, orderly } from "./end-server.ts";
import { guardLeavesMs, guardServer } from "./guard-server.ts";
import { readLockFile } from "./lock-file.ts";
import { writeOwner } from "./owner-file.ts";
import { removePasswords } from "./passwords.ts";
import { clusterName, sendSignal } from "./processes.ts";
import { LastLines, spawnProgram } from "./program.ts";
import { Waiting } from "./waiting.ts";

/**
 * The relation of this process to a running server: the owner, which ends it, or a guest of another process.
 */
export type Hold = {
  kind: "owner" | "guest";
  /** Settles when the server has ended, or when this process releases it. */
  gone: Promise<void>;
  release(): Promise<void>;
};

/** The settings of every server. None of them changes `fsync`, which is on by default. */
const durable: Record<string, string> = {
  listen_addresses: "",
  port: String(port),
  // Enough for a small service with the operating system's cache; total memory stays well below 256 MB.
  shared_buffers: "64MB",
  huge_pages: "off",
  jit: "off",
  max_wal_size: "256MB",
  // Used segments of the write-ahead log are removed instead of recycled: they contain deleted data.
  wal_recycle: "off",
  max_wal_senders: "0",
  max_logical_replication_workers: "0",
  // Three processes fewer; reads here are small and mostly cached.
  io_method: "sync",
  max_connections: "100",
  // Errors of statements quote values, and details quote whole keys. Neither may reach a log.
  log_min_messages: "log",
  log_min_error_statement: "panic",
  log_error_verbosity: "terse",
  log_checkpoints: "off",
  log_line_prefix: "",
  log_timezone: "UTC",
  timezone: "UTC",
};

/** Gives up crash safety. */
const unsafeForTests: Record<string, string> = {
  fsync: "off",
  synchronous_commit: "off",
  full_page_writes: "off",
};

function settingsOf(cluster: Cluster): Record<string, string> {
  return {
    ...durable,
    ...(cluster.options.durable === false ? unsafeForTests : {}),
    ...cluster.options.settings,
    unix_socket_directories: cluster.socketFolder,
    unix_socket_permissions: "0700",
    hba_file: accessFile(cluster),
    cluster_name: clusterName(cluster.data),
  };
}

/**
 * With half, a temporary cause is taken for a permanent one on a very busy machine. With twice, a failed
 * start is reported a second later.
 */
const lastWordsMs = 1_000;

type Started = {
  child: ChildProcess;
  output: LastLines;
  /** Settles when the server has ended. */
  exited: Promise<void>;
  /** Settles when all of its output was read. */
  saidAll: Promise<void>;
  running: () => boolean;
  /** Set when this process ends the server: sessions that are then cut off are no error. */
  isEnding: boolean;
};

function spawnServer(cluster: Cluster): Started {
  const flags = Object.entries(settingsOf(cluster)).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const child = spawnProgram(
    cluster,
    "postgres",
    ["-D", cluster.data, ...flags],
    ["ignore", "ignore", "pipe"],
  );
  const output = new LastLines();
  let running = true;
  const exited = new Promise<void>((resolve) => {
    child.on("error", () => resolve());
    child.on("exit", () => resolve());
  }).then(() => {
    running = false;
  });
  const saidAll = new Promise<void>((resolve) => {
    child.on("error", () => resolve());
    child.on("close", () => resolve());
  });
  const started: Started = { child, output, exited, saidAll, running: () => running, isEnding: false };
  child.stderr?.on("data", (chunk: Buffer) => {
    for (const line of output.add(chunk)) cluster.options.log(line, levelOf(line, started.isEnding));
  });
  return started;
}

/**
 * Resolves when the service can connect, when the server rejects the known passwords, or when it has ended.
 */
async function untilReady(
  cluster: Cluster,
  { child, output, exited, running }: Started,
): Promise<"ready" | "refused" | "ended"> {
  let claimed = false;
  let failure = "";
  const waiting = new Waiting(cluster.options.log);
  while (running()) {
    waiting.report(
      `PostgreSQL with process id ${child.pid} starts: ${failure || output.lastLine() || "it says nothing yet"}`,
    );
    const lock = await readLockFile(cluster.data);
    if (!claimed && lock?.pid === child.pid) {
      // Written before the server accepts connections, so that a process that joins it sees its owner.
      await writeOwner(cluster);
      claimed = true;
    }
    if (claimed && lock?.status === "ready") {
      const client = await connect(cluster);
      if (client === "refused") return "refused";
      if (typeof client === "object") {
        try {
          await ensureAccess(cluster, client, "started");
          return "ready";
        } catch (error) {
          // The server ended meanwhile, or the disk is full; the loop retries.
          failure = (error as Error).message;
        } finally {
          await client.end().catch(() => {});
        }
      }
    }
    await Promise.race([exited, wait(failure === "" ? 5 : 250)]);
  }
  return "ended";
}

/** Starts the server; returns the reason if it did not start for a temporary cause. */
export async function startServer(cluster: Cluster): Promise<Hold | string> {
  await writeAccessFile(cluster);
  const started = spawnServer(cluster);
  const { child, output, exited, saidAll, running } = started;
  const state = await untilReady(cluster, started);
  if (state === "refused") {
    // The data was replaced by that of another time or installation. The owner may set passwords, so it sets
    // new ones.
    cluster.options.log("the passwords of the database do not match its data; setting new ones", "warn");
    await endServer(cluster, child.pid ?? 0, () => !running(), orderly);
    await removePasswords(cluster);
    return "the passwords of the database do not match its data";
  }
  if (!running()) {
    // The reason may arrive after the exit. Processes that the server leaves behind can hold the pipe open
    // for longer.
    await Promise.race([saidAll, wait(lastWordsMs)]);
    const text = output.text();
    // Another process started a server at the same time, or processes of a killed one are about to end.
    if (/lock file|shared memory block|could not bind|already in use/i.test(text)) return text;
    throw new ExplainedError(
      `PostgreSQL did not start in ${cluster.data}: ${text || `exit ${child.exitCode}`}`,
    );
  }
  // The server must not keep an idle process alive.
  child.unref();
  (child.stderr as unknown as { unref?: () => void } | null)?.unref?.();
  const pid = child.pid ?? 0;
  const interrupt = () => sendSignal(pid, "SIGINT");
  process.once("exit", interrupt);
  const over = new AbortController();
  const guarding = guardServer(cluster, pid, () => !running(), over.signal).catch((error: Error) =>
    cluster.options.log(`PostgreSQL is no longer supervised: ${error.message}`, "error"),
  );
  return {
    kind: "owner",
    gone: exited.then(() => {
      over.abort();
      process.off("exit", interrupt);
    }),
    async release() {
      over.abort();
      child.ref();
      await Promise.race([guarding, wait(guardLeavesMs, undefined, { ref: false })]);
      started.isEnding = true;
      await endServer(cluster, pid, () => !running(), orderly);
    },
  };
}

/** The log level of a line of the server. */
function levelOf(line: string, isEnding: boolean): EmbeddedLogLevel {
  // The server says this to clients that connect too early and retry; the server itself is fine.
  if (/^FATAL: +the database system is /.test(line)) return "debug";
  // A shutdown ends the sessions of other processes, which reconnect or end as well.
  if (isEnding && /^FATAL: +terminating connection due to administrator command/.test(line)) return "debug";
  if (/^(PANIC|FATAL):/.test(line)) return "error";
  if (!line.startsWith("LOG:")) return "info";
  return /terminated by signal|reinitializing|not properly shut down|could not /.test(line)
    ? "warn"
    : "debug";
}
