import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after } from "node:test";
import pg from "pg";
import { Api, createPartner, expectError, signUp } from "../../support/api.ts";
import { startTestService } from "../../support/service.ts";
import { until } from "../../support/until.ts";

const { api, url, databaseUrl, machines } = await startTestService({
  env: { METRICS_TOKEN: "let me see" },
});

test("/healthz answers, and /readyz says whether the database has every migration", async () => {
  assert.equal((await api.get("/healthz")).status, 200);
  assert.equal((await api.get("/readyz")).status, 200);
  const admin = new pg.Client({ connectionString: databaseUrl });
  await admin.connect();
  try {
    await admin.query("update schema_migrations set name = 'x' || name where name like '0001%'");
    const answer = await api.get("/readyz");
    assert.equal(answer.status, 503);
    assert.match(answer.text, /migrations are missing: 0001_foundation.sql/);
    assert.equal((await api.get("/healthz")).status, 200);
  } finally {
    await admin.query("update schema_migrations set name = substr(name, 2) where name like 'x%'");
    await admin.end();
  }
});

test("/metrics needs the token, and its labels hold no identifier or secret", async () => {
  const { owner, key, organizationId } = await createPartner(api);
  await owner.api.patch(`/v1/auth/api-keys/${key.id}`, { enabled: true });
  assert.equal((await api.get("/metrics")).status, 401);
  assert.equal((await api.as("wrong").get("/metrics")).status, 401);
  let text = "";
  for (const machine of machines) {
    const metrics = await new Api(machine.url).as("let me see").get("/metrics");
    assert.equal(metrics.status, 200);
    text += metrics.text;
  }
  assert.match(text, /^assay_http_request_seconds_count\{route="updateApiKey",status="200"\} [1-9]/m);
  for (const secret of [key.id, key.secret, organizationId, owner.token, owner.email])
    assert.ok(!text.includes(secret));
  const lines = text.split("\n").filter((line) => line !== "");
  for (const line of lines) {
    assert.match(line, /^(# (HELP|TYPE) \w+ .+|\w+(\{(\w+="[^"]*",?)+\})? ([0-9.e+-]+|Na[Nn]))$/, line);
    // Names from our code, of Node or of a version. Our ids have digits and more than 20 characters.
    for (const [, label] of line.startsWith("#") ? [] : line.matchAll(/="([^"]*)"/g))
      assert.match(label ?? "", /^(?!.*\d.{20})[\w .:/+-]{1,60}$/, line);
  }
});

/** The series that alarms use; operators' own alarms rely on their names. */
const alarmSeries = [
  "process_cpu_seconds_total",
  "process_resident_memory_bytes",
  "process_start_time_seconds",
  "process_open_fds",
  "process_max_fds",
  "nodejs_heap_size_used_bytes",
  "nodejs_eventloop_lag_p99_seconds",
  "nodejs_gc_duration_seconds_count",
  "nodejs_version_info",
  "assay_build_info",
  "assay_db_pool_limit",
  "assay_db_pool_open",
  "assay_db_pool_idle",
  "assay_db_pool_waiting",
  "assay_db_listener_connected",
  "assay_admission_placed",
  "assay_admission_waiting",
  "assay_admission_overloaded",
  "assay_admission_refused_total",
];

test("the series for alarms are in /metrics, once each and documented, also on a separate port", async () => {
  const free = createServer().listen(0, "127.0.0.1");
  await once(free, "listening");
  const { port } = free.address() as { port: number };
  free.close();
  await once(free, "close");
  // A port has one process.
  await startTestService({ machines: 1, env: { METRICS_PORT: String(port), DATABASE_POOL_SIZE: "7" } });
  // The series about garbage collection exists once some was collected.
  for (let i = 0; i < 200; i++) new Array(50_000).fill(i);
  const answer = await fetch(`http://127.0.0.1:${port}/metrics`);
  assert.equal(answer.status, 200);
  const text = await answer.text();
  const guide = readFileSync(new URL("../../../../../docs/metrics.md", import.meta.url), "utf8");
  for (const name of alarmSeries) {
    assert.match(text, new RegExp(`^${name}(\\{.*\\})? `, "m"));
    assert.ok(guide.includes(name.replace(/_count$/, "")), `${name} is not in docs/metrics.md`);
  }
  const helped = [...text.matchAll(/^# HELP (\w+) /gm)].map(([, name]) => name);
  assert.equal(new Set(helped).size, helped.length);
  assert.match(text, /^assay_db_pool_limit 7$/m);
  assert.match(text, /^assay_db_listener_connected 1$/m);
  assert.match(text, /^assay_build_info\{version="\d+\.\d+\.\d+"\} 1$/m);
  assert.equal((await fetch(`http://127.0.0.1:${port}/`)).status, 404);
});

test("a connection that never sent a request does not hold up the end", async () => {
  const other = await startTestService();
  const { hostname, port } = new URL(other.url);
  const silent = connect(Number(port), hostname);
  const closed = once(silent, "close");
  await once(silent, "connect");
  silent.resume();
  await other.api.get("/healthz");
  await other.close();
  await closed;
});

/** Blocks reads of accounts until `release`; `waiting` resolves when a statement of the service waits. */
async function holdUpAccounts(databaseAddress: string) {
  const admin = new pg.Client({ connectionString: databaseAddress });
  await admin.connect();
  await admin.query("begin");
  await admin.query("lock table users in access exclusive mode");
  const waiters = async () =>
    (
      await admin.query(
        "select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      )
    ).rows.map((row) => row.pid as number);
  return {
    admin,
    waiting: async () => {
      let pids: number[] = [];
      await until("a statement waits for the lock", async () => {
        pids = await waiters();
        return pids.length > 0;
      });
      return pids;
    },
    release: async () => {
      await admin.query("rollback");
      await admin.end();
    },
  };
}

test("while it shuts down, a request in flight is finished", async () => {
  const other = await startTestService();
  const user = await signUp(other.api);
  const hold = await holdUpAccounts(other.databaseUrl);
  const inFlight = user.api.get("/v1/auth/account");
  await hold.waiting();
  const ended = other.close();
  await hold.release();
  const answer = await inFlight;
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get("connection"), "close");
  await ended;
});

test("a request whose database connection is lost gets a 503 with Retry-After, and the next one succeeds", async () => {
  const user = await signUp(api);
  const hold = await holdUpAccounts(databaseUrl);
  const inFlight = user.api.get("/v1/auth/account");
  const pids = await hold.waiting();
  await hold.admin.query("select pg_terminate_backend(pid) from unnest($1::int[]) as pid", [pids]);
  const answer = await inFlight;
  expectError(answer, 503, "SERVICE_UNAVAILABLE");
  assert.ok(answer.headers.get("retry-after"));
  await hold.release();
  assert.equal((await user.api.get("/v1/auth/account")).status, 200);
});

test("without a token there is no /metrics on the public port", async () => {
  const plain = await startTestService();
  assert.equal((await plain.api.get("/metrics")).status, 404);
});

test("the first steps in the README work as they are written, a second time too, and a step that fails says why and stops", async () => {
  const readme = readFileSync(new URL("../../../../../README.md", import.meta.url), "utf8");
  const script = /```sh first-steps\n([\s\S]*?)```/.exec(readme)?.[1] ?? "";
  assert.ok(script.includes("curl"));
  const folder = mkdtempSync(join(tmpdir(), "assay-readme-"));
  after(() => rmSync(folder, { recursive: true, force: true }));
  // Without curl on the machine, a stand-in with the few options of the script is used.
  const curl = join(folder, "curl");
  symlinkSync(process.execPath, join(folder, "node"));
  writeFileSync(join(folder, "curl.mjs"), standInForCurl);
  writeFileSync(
    curl,
    `#!/bin/sh\nreal=$(PATH="$REAL_PATH" command -v curl) && exec "$real" "$@"\nexec node "${folder}/curl.mjs" "$@"\n`,
  );
  chmodSync(curl, 0o755);
  const path = process.env.PATH ?? "";
  const run = async (base: string) => {
    const child = spawn("sh", ["-eu", "-c", script], {
      env: { PATH: `${folder}:${path}`, REAL_PATH: path, BASE: base },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let [output, problem] = ["", ""];
    child.stdout.on("data", (chunk) => {
      output += chunk;
    });
    child.stderr.on("data", (chunk) => {
      problem += chunk;
    });
    const [code] = await once(child, "close");
    return { code, output, problem };
  };
  // The second time the account and its organization are there already.
  for (const time of ["first", "second"]) {
    const { code, output, problem } = await run(url);
    assert.deepEqual([code, problem], [0, ""], time);
    const [organization = "", sessions = ""] = output.trim().split("\n");
    assert.equal(organization, "acme-bank");
    assert.deepEqual(JSON.parse(sessions), {
      data: [],
      error: null,
      pagination: { limit: 10, has_more: false, next_cursor: null },
    });
  }
  const closed = await startTestService({ env: { SIGN_UP: "invited" } });
  const refused = await run(closed.url);
  assert.equal(refused.code, 1);
  assert.match(refused.problem, /^[^\n]*invit[^\n]*\n$/, "the service's own message");
  assert.equal(refused.output, "");
});

const standInForCurl = `
const args = process.argv.slice(2);
let url, body; const headers = {};
for (let i = 0; i < args.length; i++) {
  if (/^-sS?$/.test(args[i])) continue;
  else if (args[i] === "-H") { const [name, ...value] = args[++i].split(":"); headers[name] = value.join(":").trim(); }
  else if (args[i] === "-d") body = args[++i];
  else url = args[i];
}
const response = await fetch(url, { method: body === undefined ? "GET" : "POST", headers, body });
process.stdout.write(await response.text());
`;
