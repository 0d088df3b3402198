import { createHash, randomBytes } from "node:crypto";
import {
  chmodSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { homedir, platform } from "node:os";
import path from "node:path";

/** State with which a killed listener continues as the same endpoint. */
export type ListenerState = {
  /** The name of the key pair; its private half is in the file beside this one. */
  keyId: string;
  endpointId: string | null;
  signingSecret: string | null;
  /** Part of the idempotency key of a registration that may have gone through without our hearing of it. */
  registration: string | null;
};

/** The state of a listener, and where its private key is. */
export type Prepared = ListenerState & { keyFile: string };

const maxSlots = 20;
const touchEveryMs = 20_000;
/** A lock this old is left over from before a reboot, even if another process has its process id now. */
const staleAfterMs = 90_000;

/** The folder for state of commands on this system. */
export function stateFolder(env: NodeJS.ProcessEnv): string {
  if (env.ASSAY_STATE_DIR) return path.resolve(env.ASSAY_STATE_DIR);
  if (platform() === "win32")
    return path.join(env.LOCALAPPDATA ?? path.join(homedir(), "AppData", "Local"), "assay");
  return path.join(env.XDG_STATE_HOME || path.join(homedir(), ".local", "state"), "assay");
}

/**
 * The state of one listener, locked against other processes. Listeners that run at the same time with one key
 * have a slot each. A new one takes the first free slot, so a restart continues the state of a killed
 * listener. Only the owner can read the files.
 */
export class Slot {
  readonly #base: string;
  readonly #timer: NodeJS.Timeout;

  private constructor(base: string) {
    this.#base = base;
    this.#timer = setInterval(() => touch(`${base}.lock`), touchEveryMs);
    this.#timer.unref();
  }

  /** `running` is the state of a listener that has the first slot now, or null. */
  static take(folder: string, url: string, key: string): { slot: Slot; running: Prepared | null } {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const name = createHash("sha256").update(`${url}\n${key}`).digest("hex").slice(0, 16);
    let running: Prepared | null = null;
    for (let at = 1; at <= maxSlots; at++) {
      const base = path.join(folder, `listen-${name}-${at}`);
      if (lock(`${base}.lock`)) return { slot: new Slot(base), running };
      const state = readState(`${base}.json`);
      if (state !== null) running ??= { ...state, keyFile: `${base}.pem` };
    }
    throw new Error(`${maxSlots} listeners run with this key already.`);
  }

  get keyFile(): string {
    return `${this.#base}.pem`;
  }

  read(): ListenerState | null {
    return readState(`${this.#base}.json`);
  }

  write(state: ListenerState): void {
    writePrivately(`${this.#base}.json`, `${JSON.stringify(state, null, 2)}\n`);
  }

  readKey(): string | null {
    try {
      return readFileSync(this.keyFile, "utf8");
    } catch {
      return null;
    }
  }

  writeKey(pem: string): void {
    writePrivately(this.keyFile, pem);
  }

  release(): void {
    clearInterval(this.#timer);
    rmSync(`${this.#base}.lock`, { force: true });
  }
}

function readState(file: string): ListenerState | null {
  try {
    const state = JSON.parse(readFileSync(file, "utf8")) as ListenerState;
    return typeof state.keyId === "string" ? state : null;
  } catch {
    return null;
  }
}

/** All of it or nothing: a process that is killed in the middle must not leave half a key. */
function writePrivately(file: string, text: string): void {
  const beside = `${file}.${process.pid}-${randomBytes(4).toString("hex")}`;
  writeFileSync(beside, text, { mode: 0o600 });
  // The mask of the process may have taken more away, never less.
  chmodSync(beside, 0o600);
  renameSync(beside, file);
}

function lock(file: string): boolean {
  for (let tries = 0; tries < 3; tries++) {
    try {
      writeFileSync(file, String(process.pid), { mode: 0o600, flag: "wx" });
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
    if (isHeld(file)) return false;
    rmSync(file, { force: true });
  }
  return false;
}

function isHeld(file: string): boolean {
  try {
    const pid = Number(readFileSync(file, "utf8"));
    if (Date.now() - statSync(file).mtimeMs > staleAfterMs) return false;
    // Another process has just created the file and not written to it yet.
    return pid === 0 || isAlive(pid);
  } catch {
    return false;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function touch(file: string): void {
  try {
    const now = new Date();
    utimesSync(file, now, now);
  } catch {
    // The file was removed meanwhile:
    // the next start sees the slot as free, and the service resolves a conflict.
  }
}
