import type { ChildProcess } from "node:child_process";
import { setTimeout as wait } from "node:timers/promises";
import { accessFile, ensureAccess, writeAccessFile } from "./access.ts";
import { port } from "./address.ts";
import { connect } from "./connection.ts";
import { EmbeddedPostgresError } from "./embedded-postgres-error.ts";
import { endServer, orderly } from "./end-server.ts";
import { guardLeavesMs, guardServer } from "./guard-server.ts";
import { readLockFile } from "./lock-file.ts";
import { writeOwner } from "./owner-file.ts";
import { removePasswords } from "./passwords.ts";
import type { EmbeddedLogLevel, Place } from "./place.ts";
import { clusterName, sendSignal } from "./processes.ts";
import { LastLines, spawnProgram } from "./program.ts";
import { Waiting } from "./waiting.ts";

/** The use that this process makes of a running server: as its owner, which ends it, or as the guest of another process. */
export type Hold = {
  kind: "owner" | "guest";
  /** Settles when the server is gone, or when this process lets go. */
  gone: Promise<void>;
  letGo(): Promise<void>;
};

/** With what every server runs. Nothing here touches `fsync`, which is on unless it is turned off. */
const durable: Record<string, string> = {
  listen_addresses: "",
  port: String(port),
  // One small service: the operating system's cache does the rest, and total memory stays well below 256 MB.
  shared_buffers: "64MB",
  huge_pages: "off",
  jit: "off",
  max_wal_size: "256MB",
  // Used files of the write-ahead log are removed, not kept under the name of a coming one: they hold what was deleted since.
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

/** What gives up the promise that the data survives a crash. */
const unsafeForTests: Record<string, string> = {
  fsync: "off",
  synchronous_commit: "off",
  full_page_writes: "off",
};

function settingsOf(place: Place): Record<string, string> {
  return {
    ...durable,
    ...(place.options.durable === false ? unsafeForTests : {}),
    ...place.options.settings,
    unix_socket_directories: place.socketFolder,
    unix_socket_permissions: "0700",
    hba_file: accessFile(place),
    cluster_name: clusterName(place.data),
  };
}

/** Half: on a very busy machine a cause that passes is taken for one that does not. Twice: a start that fails says so a second later. */
const lastWordsMs = 1_000;

type Started = {
  child: ChildProcess;
  output: LastLines;
  /** Settles when the server has ended. */
  exited: Promise<void>;
  /** All that it had to say was read. */
  saidAll: Promise<void>;
  running: () => boolean;
  /** Set when this process ends the server: sessions that it then cuts off are no fault. */
  isEnding: boolean;
};

function spawnServer(place: Place): Started {
  const flags = Object.entries(settingsOf(place)).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const child = spawnProgram(place, "postgres", ["-D", place.data, ...flags], ["ignore", "ignore", "pipe"]);
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
    for (const line of output.add(chunk)) place.options.log(line, levelOf(line, started.isEnding));
  });
  return started;
}

/** Returns when the service can connect, when the server does not take the passwords that are known, or when it has ended. */
async function untilReady(
  place: Place,
  { child, output, exited, running }: Started,
): Promise<"ready" | "refused" | "ended"> {
  let claimed = false;
  let failure = "";
  const waiting = new Waiting(place.options.log);
  while (running()) {
    waiting.tell(
      `PostgreSQL with process id ${child.pid} starts: ${failure || output.lastLine() || "it says nothing yet"}`,
    );
    const lock = await readLockFile(place.data);
    if (!claimed && lock?.pid === child.pid) {
      // Written before the server answers anybody, so that whoever joins it sees whose it is.
      await writeOwner(place);
      claimed = true;
    }
    if (claimed && lock?.status === "ready") {
      const client = await connect(place);
      if (client === "refused") return "refused";
      if (typeof client === "object") {
        try {
          await ensureAccess(place, client, "started");
          return "ready";
        } catch (error) {
          // The server went away in between, or the disk is full; it is tried again.
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

/** Starts the server; returns the reason when it did not start for a cause that may pass. */
export async function startServer(place: Place): Promise<Hold | string> {
  await writeAccessFile(place);
  const started = spawnServer(place);
  const { child, output, exited, saidAll, running } = started;
  const state = await untilReady(place, started);
  if (state === "refused") {
    // The data was replaced by that of another time or place. Who starts the server may set passwords, so it gets new ones.
    place.options.log("the passwords of the database do not fit its data; setting new ones", "warn");
    await endServer(place, child.pid ?? 0, () => !running(), orderly);
    await removePasswords(place);
    return "the passwords of the database do not fit its data";
  }
  if (!running()) {
    // Why it ended may arrive after its end. Processes that it leaves behind can hold the pipe open for longer.
    await Promise.race([saidAll, wait(lastWordsMs)]);
    const text = output.text();
    // Another process started a server at the same time, or the processes of a killed one are still about to end.
    if (/lock file|shared memory block|could not bind|already in use/i.test(text)) return text;
    throw new EmbeddedPostgresError(
      `PostgreSQL did not start in ${place.data}: ${text || `exit ${child.exitCode}`}`,
    );
  }
  // The server must not keep a process alive that has nothing else to do.
  child.unref();
  (child.stderr as unknown as { unref?: () => void } | null)?.unref?.();
  const pid = child.pid ?? 0;
  const interrupt = () => sendSignal(pid, "SIGINT");
  process.once("exit", interrupt);
  const over = new AbortController();
  const guarding = guardServer(place, pid, () => !running(), over.signal).catch((error: Error) =>
    place.options.log(`PostgreSQL is not looked after any more: ${error.message}`, "error"),
  );
  return {
    kind: "owner",
    gone: exited.then(() => {
      over.abort();
      process.off("exit", interrupt);
    }),
    async letGo() {
      over.abort();
      child.ref();
      await Promise.race([guarding, wait(guardLeavesMs, undefined, { ref: false })]);
      started.isEnding = true;
      await endServer(place, pid, () => !running(), orderly);
    },
  };
}

/** How much a line of the server matters to the operator. */
function levelOf(line: string, isEnding: boolean): EmbeddedLogLevel {
  // The server says this to clients that connect too early and will try again; nothing is wrong with the server.
  if (/^FATAL: +the database system is /.test(line)) return "debug";
  // A shutdown ends the sessions of other processes, which connect again or end as well.
  if (isEnding && /^FATAL: +terminating connection due to administrator command/.test(line)) return "debug";
  if (/^(PANIC|FATAL):/.test(line)) return "error";
  if (!line.startsWith("LOG:")) return "info";
  return /terminated by signal|reinitializing|not properly shut down|could not /.test(line)
    ? "warn"
    : "debug";
}
