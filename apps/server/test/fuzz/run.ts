// `npm run fuzz -- http`: starts a service and sends it requests made from its OpenAPI document. Seed and
// number reproduce a request; see `--replay` in CONTRIBUTING.md.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { startEmbeddedPostgres } from "../../src/platform/installation/postgres/embedded-postgres.ts";
import { DnsServer } from "../support/dns-server.ts";
import { tally as count } from "../support/tally.ts";
import { type Failure, fuzz, type Tally } from "./fuzz.ts";
import { isFault, takeMails } from "./watch-service.ts";

const main = new URL("../../src/main.ts", import.meta.url).pathname;

type Service = { url: string; child: ChildProcess; faults: string[] };

async function startService(env: Record<string, string>): Promise<Service> {
  const { PATH = "", HOME = "/tmp", NODE_COMPILE_CACHE } = process.env;
  const child = spawn(process.execPath, [main, "start"], {
    env: { PATH, HOME, ...(NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }), ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const faults: string[] = [];
  const listening = Promise.withResolvers<string>();
  for (const stream of [child.stdout, child.stderr])
    createInterface({ input: stream }).on("line", (line) => {
      const address = /"message":"started".*?"address":"([^"]+)"/.exec(line)?.[1];
      if (address !== undefined) listening.resolve(address);
      if (isFault(line)) faults.push(line);
    });
  child.once("close", (code, signal) => {
    faults.push(`the service ended: ${code ?? signal}`);
    listening.reject(new Error(faults.join("\n")));
  });
  return { url: await listening.promise, child, faults };
}

function show(failure: Failure, lanes: number, seed: number): string {
  return [
    `\n${failure.problem}`,
    `  request ${failure.index}${failure.request === null ? "" : ` (${failure.request.kind}, by ${failure.request.who})`}`,
    `  again: npm run fuzz -- http --seed ${seed} --lanes ${lanes} --replay ${failure.from}-${failure.index}`,
    ...(failure.curl === "" ? [] : [`  ${shorten(failure.curl)}`, `  → ${failure.answer}`]),
  ].join("\n");
}

/** Very long ones say nothing more; `--replay` sends the whole. */
function shorten(text: string): string {
  return text.length <= 3000 ? text : `${text.slice(0, 1500)} … ${text.slice(-500)}`;
}

function wholeNumber(text: string, name: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number) || number < 1) throw new Error(`--${name} must be a whole number from 1`);
  return number;
}

function summary(tally: Tally): string {
  const statuses = [...tally.byStatus]
    .sort(([a], [b]) => a - b)
    .map(([status, count]) => `${status} ${count}`);
  return `${tally.sent} requests, ${tally.lives} lives, ${tally.failures.length} failures; ${statuses.join(", ")}`;
}

async function run(): Promise<number> {
  const { values } = parseArgs({
    options: {
      requests: { type: "string", default: "20000" },
      seed: { type: "string", default: "1" },
      lanes: { type: "string", default: "8" },
      replay: { type: "string" },
    },
  });
  const seed = wholeNumber(values.seed, "seed");
  const lanes = wholeNumber(values.lanes, "lanes");
  const [from = 0, to = 0] = values.replay?.split("-").map(Number) ?? [];
  const dataDir = mkdtempSync(join(tmpdir(), "assay-fuzz-"));
  const postgres = await startEmbeddedPostgres({ dataDir, env: process.env, log: () => {}, durable: false });
  const dns = await new DnsServer().start();
  dns.set("hook.example", "A", "127.0.0.1");
  let service: Service | null = null;
  const startedAt = performance.now();
  try {
    service = await startService({
      PORT: "0",
      LOG_FORMAT: "json",
      DATA_DIR: dataDir,
      DATABASE_URL: postgres.url,
      SECRET_KEYS: `1:${Buffer.alloc(32, 1).toString("base64")}`,
      DNS_RESOLVERS: dns.address,
      TRUST_PROXY: "127.0.0.1",
      WEBHOOK_ALLOWED_PRIVATE_HOSTS: "hook.example",
    });
    const { url, faults } = service;
    let printedAt = performance.now();
    const tally = await fuzz({
      url,
      seed,
      lanes,
      requests: wholeNumber(values.requests, "requests"),
      ...(values.replay === undefined ? {} : { replay: { from, to } }),
      takeFaults: () => faults.splice(0),
      takeMails: () => takeMails(dataDir),
      publish: (name, value) => dns.set(name, "TXT", value),
      onProgress: (so) => {
        if (performance.now() - printedAt < 5000) return;
        printedAt = performance.now();
        console.log(summary(so));
      },
      onFailure: (failure) => console.error(show(failure, lanes, seed)),
      onReplayed: (request, answer) =>
        console.log(request.method, request.target, answer?.status, answer?.body.toString("utf8")),
    });
    const seconds = (performance.now() - startedAt) / 1000;
    const kinds = [...tally.kinds].sort(([, a], [, b]) => b - a).map(([kind, count]) => `${kind} ${count}`);
    const successes = [...tally.succeeded]
      .sort(([, a], [, b]) => b - a)
      .map(([id, count]) => `${id} ${count}`);
    console.log(`\nKinds: ${kinds.join(", ")}\nSuccesses: ${successes.join(", ")}`);
    console.log(
      `\n${summary(tally)}\nseed ${seed}, ${seconds.toFixed(0)} s, ${(tally.sent / seconds).toFixed(0)} a second, asked to retry later: ${tally.busy}`,
    );
    count("hostile requests", tally.sent);
    return tally.failures.length > 0 ? 1 : 0;
  } finally {
    if (service !== null && service.child.exitCode === null) {
      service.child.kill("SIGTERM");
      await once(service.child, "close");
    }
    await dns.close();
    await postgres.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

process.exitCode = await run();
