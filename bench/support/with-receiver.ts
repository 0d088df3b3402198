import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { createAuthority } from "../../apps/server/test/support/certificate.ts";
import { type System, startSystem, type Wanted } from "./system.ts";
import { type Ground, withPostgres } from "./with-postgres.ts";

export type Rig = Ground & {
  receiver: ChildProcess;
  /** The address of the receiver, and a port that accepts connections and stays silent. */
  hook: string;
  silentPort: number;
  /** Starts a service, which ends with the work. */
  start: (wanted: Wanted) => Promise<System>;
};

/** A partner's receiver beside PostgreSQL, whose authority is in `ca.pem`. */
export function withReceiver(
  work: (rig: Rig) => Promise<unknown>,
  settings: Record<string, string> = {},
): Promise<void> {
  return withPostgres(async (ground) => {
    const authority = createAuthority();
    writeFileSync(join(ground.folder, "ca.pem"), authority.certificate);
    const { cert, key } = authority.issue(["127.0.0.1"]);
    const receiver = await forked("webhook-receiver.ts", { CERT: cert, KEY: key });
    const systems: System[] = [];
    try {
      const { port, silentPort } = await ask<{ port: number; silentPort: number }>(receiver, {
        ask: "ports",
      });
      const hook = `https://127.0.0.1:${port}/hook`;
      const start = async (wanted: Wanted) => {
        const system = await startSystem(ground, hook, wanted);
        systems.push(system);
        return system;
      };
      await work({ ...ground, receiver, hook, silentPort, start });
    } finally {
      for (const { processes } of systems) for (const one of processes) await one.stop();
      receiver.kill("SIGKILL");
    }
  }, settings);
}

/** Waits for this many more than `before`, and returns when each arrived. */
export async function received(
  receiver: ChildProcess,
  before: number,
  count: number,
): Promise<[string, number][]> {
  const deadline = Date.now() + 60_000;
  while ((await countOf(receiver)) < before + count) {
    if (Date.now() > deadline) throw new Error(`${(await countOf(receiver)) - before} of ${count} arrived`);
    await wait(20);
  }
  return (await ask<{ receipts: [string, number][] }>(receiver, { ask: "receipts" })).receipts;
}

export async function countOf(receiver: ChildProcess): Promise<number> {
  return (await ask<{ count: number }>(receiver, { ask: "count" })).count;
}

export async function forked(file: string, env: Record<string, string>): Promise<ChildProcess> {
  const child = fork(new URL(file, import.meta.url), { env: { PATH: process.env.PATH ?? "", ...env } });
  await once(child, "message");
  return child;
}

export async function ask<T>(child: ChildProcess, message: object): Promise<T> {
  const answer = once(child, "message");
  child.send(message);
  const [value] = await answer;
  return value as T;
}
