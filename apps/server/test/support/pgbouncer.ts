import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { freePort } from "./free-port.ts";
import { SilentProxy } from "./silent-proxy.ts";
import { until } from "./until.ts";

type Program = { path: string; keepsNames: boolean };

/** PgBouncer, and whether it supports prepared statements (1.21); null if there is none. */
export function findPgbouncer(): Program | null {
  const path = process.env.PGBOUNCER_PATH ?? "pgbouncer";
  const { PATH = "" } = process.env;
  const { stdout } = spawnSync(path, ["--version"], {
    encoding: "utf8",
    env: { PATH: `${PATH}:/usr/sbin:/usr/local/sbin` },
  });
  const version = /PgBouncer (\d+)\.(\d+)/.exec(stdout ?? "");
  if (version === null) return null;
  return { path, keepsNames: Number(version[1]) > 1 || Number(version[2]) >= 21 };
}

/** The configuration that the guide recommends. */
function documentedConfiguration(): string {
  const guide = readFileSync(new URL("../../../../docs/database.md", import.meta.url), "utf8");
  const [, configuration] = /```ini\n(\[databases\][\s\S]*?)```/.exec(guide) ?? [];
  if (configuration === undefined) throw new Error("the guide has no configuration of PgBouncer");
  return configuration;
}

/** PgBouncer as in the guide. Returns the address through it and the direct one. */
export async function startPgbouncer(
  databaseUrl: string,
  program: Program,
): Promise<{ pooledUrl: string; directUrl: string }> {
  // It connects to the server over the network, as in production, under any account.
  const proxy = await new SilentProxy().start(databaseUrl);
  const opened = await openPgbouncer(proxy.url, program);
  after(opened.close);
  return { pooledUrl: opened.url, directUrl: proxy.url };
}

/** The same in front of a server on the network, for a script that closes it itself. */
export async function openPgbouncer(serverUrl: string, program: Program) {
  const target = new URL(serverUrl);
  const folder = mkdtempSync(join(tmpdir(), "assay-pgbouncer-"));
  chmodSync(folder, 0o755);
  const port = await freePort();
  const name = target.pathname.slice(1);
  const settings: Record<string, string> = {
    assay:
      `host=127.0.0.1 port=${target.port} dbname=${name} user=${target.username}` +
      (target.password === "" ? "" : ` password=${target.password}`),
    listen_addr: "127.0.0.1",
    listen_port: String(port),
    // It knows the password of the server, and asks for none itself.
    auth_type: "any",
    auth_file: "",
    unix_socket_dir: "",
  };
  let text = `${documentedConfiguration()}unix_socket_dir =\n`;
  for (const [key, value] of Object.entries(settings))
    text = text.replace(new RegExp(`^${key} *=.*$`, "m"), `${key} = ${value}`);
  if (!program.keepsNames) text = text.replace(/^max_prepared_statements.*$/m, "");
  const file = join(folder, "pgbouncer.ini");
  writeFileSync(file, text);
  let child: ChildProcess | null = null;
  const kill = () => child?.kill("SIGKILL");
  const start = async () => {
    const { PATH = "" } = process.env;
    const started = spawn(
      program.path,
      ["-q", ...(process.geteuid?.() === 0 ? ["-u", "nobody"] : []), file],
      {
        env: { PATH: `${PATH}:/usr/sbin:/usr/local/sbin` },
        stdio: ["ignore", "ignore", "pipe"],
      },
    );
    child = started;
    let errors = "";
    started.stderr?.on("data", (chunk: Buffer) => {
      errors += chunk;
    });
    await until("pgbouncer answers", async () => {
      if (started.exitCode !== null) throw new Error(`pgbouncer ended:\n${errors}`);
      return answers(port);
    });
  };
  await start();
  return {
    url: `postgresql://${target.username}@127.0.0.1:${port}/assay`,
    kill,
    /** After `kill`, at the same address. */
    start,
    close(): void {
      kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(port, "127.0.0.1");
    socket.once("connect", () => resolve(true));
    socket.once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}
