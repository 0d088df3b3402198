import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";

const DAEMON = "/usr/sbin/pcscd";
const DRIVER = "/usr/lib/pcsc/drivers/serial/libifdvpcd.so";

/** The reason why tests over PC/SC cannot run here, or false. */
export const skipWithoutPcscd: string | false =
  process.platform !== "linux" || !existsSync(DAEMON) || !existsSync(DRIVER)
    ? "pcscd and vsmartcard-vpcd are not installed (Debian packages of these names)"
    : process.getuid?.() !== 0
      ? "pcscd can be started by root only"
      : false;

export interface TestPcscd {
  readonly socketPath: string;
  /** Where the virtual reader waits for its card. */
  readonly vpcdPort: number;
  log(): string;
  stop(): Promise<void>;
}

/** A port that was free a moment ago; the virtual reader takes two neighbours of it. */
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
 * A daemon of our own: its own socket, handed over the way systemd does it, its own reader configuration, and nothing
 * shared with a daemon that may be running on the machine.
 */
export async function startPcscd(): Promise<TestPcscd> {
  const folder = mkdtempSync(path.join(tmpdir(), "pcscd-"));
  const vpcdPort = await freePort();
  const channel = `0x${vpcdPort.toString(16).toUpperCase()}`;
  const configuration = path.join(folder, "readers");
  writeFileSync(
    configuration,
    `FRIENDLYNAME "Virtual PCD"\nDEVICENAME /dev/null:${channel}\nLIBPATH ${DRIVER}\nCHANNELID ${channel}\n`,
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
    ["-c", `LISTEN_PID=$$ LISTEN_FDS=1 exec ${DAEMON} --foreground --error --config ${configuration}`],
    { stdio: ["ignore", "pipe", "pipe", handle.fd] },
  );
  // Our own copy must not take connections away from the daemon. Closing it removes the path that it was bound to, so the
  // socket gets another name first.
  renameSync(boundPath, socketPath);
  listener.close();
  const output: string[] = [];
  daemon.stdout?.on("data", (piece) => output.push(String(piece)));
  daemon.stderr?.on("data", (piece) => output.push(String(piece)));
  return {
    socketPath,
    vpcdPort,
    log: () => output.join(""),
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
