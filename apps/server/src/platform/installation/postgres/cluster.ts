import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, lchown, lstat, mkdir, readdir, realpath, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { ignoring } from "../../lib/error-code.ts";
import { ExplainedError } from "../../lib/explained-error.ts";
import { checkDiskSpace, dataDirMode } from "../data-dir.ts";
import { type Account, chooseRunner, type Runner } from "./account.ts";
import { type Passwords, port } from "./address.ts";
import { findBinaries, linkLibraries } from "./binaries.ts";

export type EmbeddedLogLevel = "debug" | "info" | "warn" | "error";

export type EmbeddedPostgresOptions = {
  /** DATA_DIR of the service; the server uses only the `postgres` folder below it. */
  dataDir: string;
  /** The environment of this process. Only PATH is used: to find `setpriv`, and for the server. */
  env: { readonly PATH?: string | undefined };
  /** Receives the output of the server and messages about it. */
  log: (line: string, level: EmbeddedLogLevel) => void;
  /** False gives up crash safety for speed. For tests only. */
  durable?: boolean;
  /** Settings of PostgreSQL that override ours. */
  settings?: Record<string, string>;
};

/** The folders of one server, and how it runs there. */
export type Cluster = {
  base: string;
  data: string;
  libraries: string;
  native: string;
  socketFolder: string;
  runner: Runner;
  searchPath: string;
  options: EmbeddedPostgresOptions;
  /** The process id of the server that this process took over from a dead owner; 0 for none. */
  adoptedPid: number;
  /** The last known passwords. The service's connections keep using them. */
  passwords: Passwords | null;
};

const maxSocketPathBytes = process.platform === "darwin" ? 103 : 107;

/** The folders of an embedded server below DATA_DIR. */
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

/** Creates the folders of a server with their modes, and finds the programs. Starts nothing. */
export async function prepareCluster(options: EmbeddedPostgresOptions): Promise<Cluster> {
  const native = findBinaries();
  await mkdir(options.dataDir, { recursive: true, mode: dataDirMode() });
  // The real path, so that a server has one address through whatever links DATA_DIR is reached.
  const folders = embeddedFolders(await realpath(options.dataDir));
  await refuseForeignData(folders.data);
  const lowSpace = await checkDiskSpace(path.dirname(folders.base), !existsSync(folders.data));
  if (lowSpace !== null) options.log(lowSpace, "warn");
  const socketFolder = chooseSocketFolder(folders.socket);
  const passedFolders = [path.join(native, "bin"), path.dirname(folders.base)];
  if (socketFolder !== folders.socket) passedFolders.push(path.dirname(socketFolder));
  const searchPath = options.env.PATH ?? "/usr/bin:/bin";
  const runner = chooseRunner({ dataFolder: folders.data, passedFolders, searchPath });
  if (runner.warning !== null) options.log(runner.warning, "warn");
  await makeOwnFolder(folders.base, runner.account);
  await linkLibraries(native, folders.libraries);
  await makeSocketFolder(socketFolder, runner.account);
  await handOver(folders.data, runner.account);
  return { ...folders, native, socketFolder, runner, searchPath, options, adoptedPid: 0, passwords: null };
}

async function refuseForeignData(data: string): Promise<void> {
  const found = await stat(data).catch(ignoring("ENOENT"));
  const me = process.geteuid?.();
  if (found === undefined || me === undefined || me === 0 || found.uid === me) return;
  throw new ExplainedError(
    `${data} belongs to user id ${found.uid}, but this process is user id ${me}. ` +
      "Start Assay as the same user as before, or change the owner of the folder with chown -R.",
  );
}

/** Creates a folder that only the account of the server can enter. */
export async function makeOwnFolder(folder: string, account: Account | null): Promise<void> {
  await mkdir(folder, { mode: 0o700 }).catch(ignoring("EEXIST"));
  await chmod(folder, 0o700);
  if (account !== null) await lchown(folder, account.uid, account.gid);
}

/** Beside the data folder. If that path is too long for a socket, a folder in the temporary folder. */
function chooseSocketFolder(usual: string): string {
  const fits = (folder: string) =>
    Buffer.byteLength(path.join(folder, `.s.PGSQL.${port}`)) <= maxSocketPathBytes;
  const name = createHash("sha256").update(usual).digest("hex").slice(0, 20);
  const elsewhere = [tmpdir(), "/tmp"].map((parent) =>
    path.join(parent, `assay-${process.geteuid?.()}-${name}`),
  );
  const folder = [usual, ...elsewhere].find(fits);
  if (folder === undefined) throw new ExplainedError("No folder has a path short enough for a socket.");
  return folder;
}

async function makeSocketFolder(folder: string, account: Account | null): Promise<void> {
  const me = process.geteuid?.() ?? 0;
  await mkdir(folder, { mode: 0o700 }).catch(ignoring("EEXIST"));
  // Other users may write to the parent folder (/tmp). So an existing folder is checked and never changed: a
  // link, a folder of another user or one that others can enter is refused.
  const found = await lstat(folder);
  const owned = found.uid === me || found.uid === account?.uid;
  if (!found.isDirectory() || !owned || (found.mode & 0o077) !== 0) {
    throw new ExplainedError(
      `${folder} is not a folder that only this user can enter; remove it and start again.`,
    );
  }
  if (account !== null && found.uid !== account.uid) await lchown(folder, account.uid, account.gid);
}

/** Gives files that root restored or copied to the account of the server. */
async function handOver(folder: string, account: Account | null): Promise<void> {
  if (account === null) return;
  const found = await lstat(folder).catch(ignoring("ENOENT"));
  if (found === undefined || found.uid === account.uid) return;
  for (const entry of await readdir(folder, { recursive: true })) {
    await lchown(path.join(folder, entry), account.uid, account.gid).catch(ignoring("ENOENT"));
  }
  // The folder itself comes last: as long as root owns it, an interrupted hand-over is repeated.
  await lchown(folder, account.uid, account.gid);
}
