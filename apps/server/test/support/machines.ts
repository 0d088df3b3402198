import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { createTestDatabase } from "./database.ts";
import { freePort } from "./free-port.ts";
import { startAssay } from "./process.ts";
import { startRoundRobin } from "./round-robin.ts";
import { testRing } from "./test-ring.ts";

/** Processes with one database and separate, empty data folders behind a load balancer. */
export async function openMachines(env: Record<string, string> = {}) {
  const folder = mkdtempSync(join(tmpdir(), "assay-machines-"));
  after(() => rmSync(folder, { recursive: true, force: true }));
  const database = await createTestDatabase();
  const balancer = await startRoundRobin();
  after(() => balancer.close());

  const startMachine = async (name: string) => {
    const port = await freePort();
    const { stop } = await startAssay({
      PORT: String(port),
      DATABASE_URL: database.url,
      SECRET_KEYS: testRing,
      DATA_DIR: join(folder, name),
      PUBLIC_URL: balancer.url,
      FACE_WORKERS: "1",
      ...env,
    });
    // It uses the public address as its own.
    return { url: `http://127.0.0.1:${port}`, stop };
  };
  /** The load balancer sends everything to these from now on. */
  const reach = (...machines: readonly { url: string }[]) => {
    balancer.targets.splice(0, balancer.targets.length, ...machines.map(({ url }) => url));
  };
  return { database, balancer, startMachine, reach };
}
