import { type ChildProcess, execFile, spawn } from "node:child_process";
import { chmod, lchown, mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { after } from "node:test";
import { promisify } from "node:util";
import pg from "pg";
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from "../../src/platform/installation/postgres/embedded-postgres.ts";
import { asOrdinaryUser, canBecomeOrdinary, ordinaryUser } from "./ordinary-user.ts";
import { killServer } from "./postgres-processes.ts";

export const helper = path.join(import.meta.dirname, "embedded-postgres.ts");
export const scratch: string[] = [];
export const children: ChildProcess[] = [];

/** Every file that uses this module calls it first: files share a process, and a hook is one file's. */
export function cleanUpAfterFile(): void {
  after(async () => {
    prepared.clear();
    for (const child of children.splice(0)) child.kill("SIGKILL");
    for (const folder of scratch.splice(0)) {
      killServer(path.join(folder, "data"));
      // A process that has not stopped yet may restart its server meanwhile.
      await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
    }
  });
}

export async function newFolder(parent = tmpdir(), mode = 0o755): Promise<string> {
  const folder = await mkdtemp(path.join(parent, "assay-faults-"));
  await chmod(folder, mode);
  scratch.push(folder);
  return folder;
}

const prepared = new Map<(dataDir: string) => Promise<void>, Promise<string>>();

/** A copy of a data folder that `make` makes once for a file: much quicker than making another. */
export async function copiedDataDir(
  make: (dataDir: string) => Promise<void>,
  place?: string,
): Promise<string> {
  const made =
    prepared.get(make) ??
    newFolder().then(async (folder) => {
      const dataDir = path.join(folder, "data");
      await make(dataDir);
      return dataDir;
    });
  prepared.set(make, made);
  const dataDir = place ?? path.join(await newFolder(), "data");
  await mkdir(path.dirname(dataDir), { recursive: true });
  // Node's own copy of a thousand files takes five times the processor time.
  await promisify(execFile)("cp", ["-Rp", await made, dataDir]);
  return dataDir;
}

async function useOnce(dataDir: string): Promise<void> {
  await (await startEmbeddedPostgres({ dataDir, env: process.env, log: () => {}, durable: false })).stop();
}

/** A data folder that was used before. */
export function usedDataDir(place?: string): Promise<string> {
  return copiedDataDir(useOnce, place);
}

export function start(dataDir: string): Promise<EmbeddedPostgres> {
  return startEmbeddedPostgres({ dataDir, env: process.env, log: () => {} });
}

export async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

export type Held = {
  child: ChildProcess;
  url: string;
  notes: string[];
  wrote: number[];
  ended: Promise<void>;
};

/**
 * As on macOS and other systems without setpriv: nothing ends the server with its owner. Root first gives the
 * data to an ordinary user, because without setpriv root cannot start a server below a closed folder.
 */
export async function withoutSetpriv(dataDir: string): Promise<HoldOptions> {
  const env = { PATH: await newFolder() };
  if (!canBecomeOrdinary) return { env };
  await mkdir(dataDir, { recursive: true });
  const { uid, gid } = ordinaryUser;
  for (const file of [
    dataDir,
    ...(await readdir(dataDir, { recursive: true })).map((name) => path.join(dataDir, name)),
  ])
    await lchown(file, uid, gid);
  return { env, asOrdinaryUser: true };
}

export type HoldOptions = { asOrdinaryUser?: boolean; env?: NodeJS.ProcessEnv };

/** The helper in a separate process, as soon as its server is ready. */
export async function hold(
  dataDir: string,
  mode: "hold" | "write" = "hold",
  options: HoldOptions = {},
): Promise<Held> {
  const command = [process.execPath, helper, mode, dataDir];
  const [program = "", ...args] = options.asOrdinaryUser ? asOrdinaryUser(command) : command;
  const child = spawn(program, args, {
    stdio: ["ignore", "pipe", "pipe"],
    ...(options.env === undefined ? {} : { env: options.env }),
  });
  children.push(child);
  const wrote: number[] = [];
  const notes: string[] = [];
  let errors = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    errors += chunk.toString("utf8");
  });
  const ended = new Promise<void>((resolve) => child.on("close", () => resolve()));
  const url = await new Promise<string>((resolve, reject) => {
    if (child.stdout === null) return reject(new Error("no output"));
    createInterface({ input: child.stdout }).on("line", (line) => {
      const [word = "", rest = ""] = [line.slice(0, line.indexOf(" ")), line.slice(line.indexOf(" ") + 1)];
      if (word === "wrote") wrote.push(Number(rest));
      else if (word === "note") notes.push(rest);
      else if (word === "ready") resolve(rest);
    });
    void ended.then(() => reject(new Error(`the helper ended early:\n${errors}`)));
  });
  return { child, url, notes, wrote, ended };
}
