import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { median } from "@assay/face/median";
import { startEmbeddedPostgres } from "../apps/server/src/installation/postgres/embedded-postgres.ts";
import { load, type Request } from "./support/load.ts";
import { newOwner } from "./support/new-partner.ts";
import { ServerProcess } from "./support/server-process.ts";

const rounds = 5;
const seconds = 3;
const connections = 32;
/** Half: code that V8 has not optimized yet is measured in the first rounds, of which the service has more than the ceiling. */
const warmSeconds = 15;

/** An authenticated GET with one indexed SELECT, beside the bare ceiling. */
export async function run(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), "assay-bench-"));
  const postgres = await startEmbeddedPostgres({ dataDir, env: process.env, log: () => {} });
  const env = {
    DATABASE_URL: postgres.adminUrl,
    SECRET_KEYS: `1:${Buffer.alloc(32, 1).toString("base64")}`,
    PORT: "0",
    DATA_DIR: dataDir,
    DATABASE_POOL_SIZE: "10",
  };
  try {
    const assay = await ServerProcess.start(new URL("./support/assay-server.ts", import.meta.url), env);
    const bare = await ServerProcess.start(new URL("./support/bare-http-server.ts", import.meta.url), env);
    try {
      const { token } = await newOwner(assay.url, { name: "Bench", slug: "bench" });
      const headers = { authorization: `Bearer ${token}` };
      const requests: [string, Request][] = [
        ["GET, one SELECT", { method: "GET", path: "/v1/auth/orgs/audit-logs?limit=1", headers }],
      ];
      for (const [name, request] of requests) await compare(name, request, bare, assay);
    } finally {
      await assay.stop();
      await bare.stop();
    }
  } finally {
    await postgres.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** Rounds of the two are interleaved, so that a slow moment of the machine hits both; medians are compared. */
async function compare(
  name: string,
  request: Request,
  bare: ServerProcess,
  assay: ServerProcess,
): Promise<void> {
  for (const server of [bare, assay]) await load(server.url, request, { connections, seconds: warmSeconds });
  const results = new Map<ServerProcess, { rate: number[]; cpu: number[]; p99: number[] }>();
  for (const server of [bare, assay]) results.set(server, { rate: [], cpu: [], p99: [] });
  for (let round = 0; round < rounds; round++) {
    for (const [server, result] of results) {
      const before = await server.usage();
      const { requestsPerSecond, p99Ms } = await load(server.url, request, { connections, seconds });
      const after = await server.usage();
      result.rate.push(requestsPerSecond);
      result.p99.push(p99Ms);
      result.cpu.push((after.cpuMicroseconds - before.cpuMicroseconds) / (requestsPerSecond * seconds));
    }
  }
  const of = (server: ServerProcess, what: "rate" | "cpu" | "p99") =>
    median(results.get(server)?.[what] ?? []);
  console.log(`${name}, ${connections} connections, ${rounds} rounds of ${seconds} s each`);
  for (const [label, server] of [
    ["bare node:http", bare],
    ["assay", assay],
  ] as const) {
    const rss = Math.round((await server.usage()).rssBytes / 2 ** 20);
    console.log(
      `  ${label.padEnd(16)} ${of(server, "rate").toFixed(0).padStart(6)} req/s  ${of(server, "cpu").toFixed(0).padStart(5)} µs CPU  p99 ${of(server, "p99").toFixed(1)} ms  ${rss} MB`,
    );
  }
  console.log(
    `  ratio            ${(of(assay, "rate") / of(bare, "rate")).toFixed(2)} of the ceiling's requests (goal 0.8); CPU ${(of(bare, "cpu") / of(assay, "cpu")).toFixed(2)}`,
  );
}
