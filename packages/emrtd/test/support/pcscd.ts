import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { PcscdClient } from "../../src/node/pcscd-client.ts";
import { insertIntoVpcd } from "../../src/node/vpcd.ts";
import type { VirtualChip } from "../../src/virtual/virtual-chip.ts";

const daemonPath = "/usr/sbin/pcscd";
const driverPath = "/usr/lib/pcsc/drivers/serial/libifdvpcd.so";

/** The reason why tests over PC/SC cannot run here, or false. */
export const skipWithoutPcscd: string | false =
  process.platform !== "linux" || !existsSync(daemonPath) || !existsSync(driverPath)
    ? "pcscd and vsmartcard-vpcd are not installed (Debian packages of these names)"
    : process.getuid?.() !== 0
      ? "pcscd can be started by root only"
      : false;

export type TestPcscd = {
  readonly socketPath: string;
  /** The port where the virtual reader waits for its card. */
  readonly vpcdPort: number;
  /** Puts a chip into the reader and waits until the daemon sees it; closing waits until it is gone. */
  insert(chip: VirtualChip): Promise<{ close(): Promise<void> }>;
  stop(): Promise<void>;
};

const pollMilliseconds = 50;
/** Far more than the daemon needs, so that a busy machine does not fail the test. */
const deadlineMilliseconds = 60_000;
const maxStarts = 5;

/** A port that was free a moment ago; the virtual reader takes its neighbour too. */
async function freePort(): Promise<number> {
  return await new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}

/**
 * A separate daemon with its own socket, passed as systemd does, and its own reader configuration. It shares
 * nothing with a daemon that may run on the machine. Resolves when its virtual reader waits for a card.
 */
export async function startPcscd(): Promise<TestPcscd> {
  for (let start = 1; ; start++) {
    const daemon = await spawnPcscd();
    try {
      // The daemon answers once it has opened its readers.
      // It continues without one whose port was taken meanwhile.
      const client = await PcscdClient.open({
        socketPath: daemon.socketPath,
        timeoutMilliseconds: deadlineMilliseconds,
      });
      const readers = await client.readers();
      await client.close();
      if (readers.length > 0) return daemon;
      if (start >= maxStarts) throw new Error(`pcscd has no virtual reader: ${daemon.log()}`);
    } catch (error) {
      await daemon.stop();
      throw error;
    }
    await daemon.stop();
  }
}

async function spawnPcscd(): Promise<TestPcscd & { log(): string }> {
  const folder = mkdtempSync(path.join(tmpdir(), "pcscd-"));
  const vpcdPort = await freePort();
  const channel = `0x${vpcdPort.toString(16).toUpperCase()}`;
  const configuration = path.join(folder, "readers");
  writeFileSync(
    configuration,
    `FRIENDLYNAME "Virtual PCD"\nDEVICENAME /dev/null:${channel}\nLIBPATH ${driverPath}\nCHANNELID ${channel}\n`,
  );
  const boundPath = path.join(folder, "bound");
  const socketPath = path.join(folder, "pcscd.comm");
  const listener = createServer();
  await new Promise<void>((resolve, reject) => {
    listener.once("error", reject);
    listener.listen(boundPath, resolve);
  });
  const handle = (listener as unknown as { _handle: { fd: number } })._handle;
  const daemon: ChildProcess = spawn(
    "/bin/sh",
    ["-c", `LISTEN_PID=$$ LISTEN_FDS=1 exec ${daemonPath} --foreground --error --config ${configuration}`],
    { stdio: ["ignore", "pipe", "pipe", handle.fd] },
  );
  // Our copy must not take connections from the daemon.
  // Closing it removes the bound path, so the socket is renamed first.
  renameSync(boundPath, socketPath);
  listener.close();
  const output: string[] = [];
  daemon.stdout?.on("data", (piece) => output.push(String(piece)));
  daemon.stderr?.on("data", (piece) => output.push(String(piece)));
  return {
    socketPath,
    vpcdPort,
    log: () => output.join(""),
    insert: async (chip) => {
      const link = await insertIntoVpcd(chip, { port: vpcdPort });
      await untilCard(socketPath, true);
      return {
        close: async () => {
          await link.close();
          await untilCard(socketPath, false);
        },
      };
    },
    stop: async () => {
      const exited = new Promise<void>((resolve) => {
        if (daemon.exitCode !== null || daemon.signalCode !== null) resolve();
        else daemon.once("exit", () => resolve());
      });
      daemon.kill("SIGTERM");
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The daemon polls its readers about twice a second and reports the last result. */
async function untilCard(socketPath: string, present: boolean): Promise<void> {
  const client = await PcscdClient.open({ socketPath, timeoutMilliseconds: deadlineMilliseconds });
  try {
    const deadline = Date.now() + deadlineMilliseconds;
    while ((await client.readers()).some(({ cardPresent }) => cardPresent) !== present) {
      if (Date.now() > deadline)
        throw new Error(`the daemon did not notice that the card ${present ? "came" : "left"}`);
      await delay(pollMilliseconds);
    }
  } finally {
    await client.close();
  }
}
