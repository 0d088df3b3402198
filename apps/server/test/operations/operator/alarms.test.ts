import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import test, { after } from "node:test";
import pg from "pg";
import { SMTPServer } from "smtp-server";
import { listMigrations } from "../../../src/platform/db/migrate.ts";
import { minuteMs } from "../../../src/platform/kernel/clock.ts";
import { sessionLifetimeMs } from "../../../src/verification/sessions/session.ts";
import { createPartner } from "../../support/api.ts";
import { createAuthority } from "../../support/certificate.ts";
import { startTestService } from "../../support/service.ts";
import { createSession } from "../../support/sessions.ts";

const authority = createAuthority();
const identity = authority.issue(["localhost"]);
const received: string[] = [];
/** Takes mails only after STARTTLS. */
const smtp = new SMTPServer({
  ...identity,
  authOptional: true,
  onMailFrom: (_address, session, done) =>
    done(session.secure ? null : new Error("Must issue a STARTTLS command first")),
  onData(stream, session, done) {
    stream.resume();
    stream.on("end", () => {
      received.push(...session.envelope.rcptTo.map(({ address }) => address));
      done();
    });
  },
});
await new Promise<void>((resolve) => smtp.listen(0, "127.0.0.1", () => resolve()));
after(() => new Promise<void>((resolve) => smtp.close(() => resolve())));

const watched = { METRICS_TOKEN: "let me see" };
const { api, databaseUrl, clock, runJob } = await startTestService({ env: watched });

async function series(name: string, of = api): Promise<number | null> {
  const { text } = await of.call("GET", "/metrics", { headers: { authorization: "Bearer let me see" } });
  const line = text.split("\n").find((candidate) => candidate.startsWith(`${name} `));
  return line === undefined ? null : Number(line.slice(name.length + 1));
}

test("the holder of an old transaction, and an expiry that no job handles, are in /metrics", async () => {
  const partner = await createPartner(api);
  const sessionId = await createSession(partner.api);
  const admin = new pg.Client({ connectionString: databaseUrl });
  await admin.connect();
  try {
    // It keeps the session from being expired, too.
    await admin.query("begin");
    await admin.query("select from sessions where id = $1 for update", [sessionId]);
    await admin.query("select pg_current_xact_id()");
    clock.advance(sessionLifetimeMs + 7 * minuteMs);
    const { rows } = await admin.query(
      "select extract(epoch from clock_timestamp() - xact_start)::float8 as seconds from pg_stat_activity where pid = pg_backend_pid()",
    );
    await runJob("measure-queues");
    assert.ok(((await series('assay_db_horizon_seconds{holder="session"}')) ?? -1) >= rows[0].seconds);
    assert.ok(((await series('assay_db_horizon_transactions{holder="session"}')) ?? -1) >= 1);
    assert.equal(await series('assay_db_horizon_transactions{holder="slot"}'), 0);
    assert.equal(await series('assay_oldest_due_seconds{queue="expiries"}'), (7 * minuteMs) / 1000);
    assert.equal(await series('assay_oldest_due_seconds{queue="mail_requests"}'), 0);
  } finally {
    await admin.query("rollback");
    await admin.end();
  }
  await runJob("expire-sessions");
  await runJob("measure-queues");
  assert.equal(await series('assay_oldest_due_seconds{queue="expiries"}'), 0);
  assert.ok(((await series("assay_measured_seconds_ago")) ?? 99) < 60);
});

test("the schema of the database and the one that the code wants are in /metrics", async () => {
  await runJob("measure-queues");
  const newest = Number.parseInt(listMigrations().at(-1)?.name ?? "", 10);
  assert.equal(await series('assay_schema_version{of="database"}'), newest);
  assert.equal(await series('assay_schema_version{of="code"}'), newest);
});

test("when the mail server's certificate expires is known once a mail was handed over", async () => {
  const { port } = smtp.server.address() as AddressInfo;
  const ca = encodeURIComponent(authority.certificate);
  const mailing = await startTestService({
    env: { ...watched, SMTP_URL: `smtp://localhost:${port}?tls.ca=${ca}` },
  });
  const name = "assay_mail_certificate_expiry_timestamp_seconds";
  assert.equal(await series(name, mailing.api), null);
  const email = "ada@example.com";
  await mailing.api.post("/v1/auth/sign-up/email", { name: "Ada", email, password: "correct horse battery" });
  await mailing.runJob("send-mails");
  assert.deepEqual(received, [email]);
  const expiry = Date.parse(new X509Certificate(identity.cert).validTo) / 1000;
  assert.equal(await series(name, mailing.api), expiry);
});

const root = new URL("../../../../../", import.meta.url);
const textOf = (file: string) => readFileSync(new URL(file, root), "utf8");
/** Names of series in a text: ours, and those of the process. */
const seriesIn = (text: string) => new Set(text.match(/\b(?:assay|process|nodejs)_[a-z0-9_]*[a-z0-9]\b/g));
/** Series that exporters have, which `deploy/prometheus/scrape.yaml` names. */
const ofExporters = new Set(["probe_ssl_earliest_cert_expiry", "kube_cronjob_status_last_successful_time"]);
const ruleTexts = textOf("deploy/prometheus/rules.yaml")
  .split("- alert: ")
  .slice(1)
  .map((text) => ({
    name: /^\w+/.exec(text)?.[0] ?? "",
    expr: JSON.parse(/^ +expr: (".*")$/m.exec(text)?.[1] ?? '""') as string,
    runbook: /^ +runbook_url: ".*\/docs\/runbooks\/([a-z-]+)"$/m.exec(text)?.[1] ?? "",
  }));

test("every series that a rule or the dashboard asks for is one that the service has", async () => {
  const { text } = await api.call("GET", "/metrics", { headers: { authorization: "Bearer let me see" } });
  // Exists once a mail was sent, which the test above waits for.
  const known = new Set(["assay_mail_certificate_expiry_timestamp_seconds"]);
  for (const [, name = "", kind] of text.matchAll(/^# TYPE (\w+) (\w+)$/gm)) {
    known.add(name);
    if (kind === "histogram") for (const part of ["bucket", "sum", "count"]) known.add(`${name}_${part}`);
  }
  const dashboard = JSON.parse(textOf("deploy/grafana/assay.json"));
  const asked = dashboard.panels.flatMap((panel: { targets?: { expr: string }[] }) =>
    (panel.targets ?? []).map(({ expr }) => expr),
  );
  assert.ok(asked.length > 40);
  const rules = ruleTexts.map(({ expr }) => expr).join("\n");
  const tests = textOf("deploy/prometheus/rules.test.yaml");
  for (const name of seriesIn([rules, tests, ...asked].join("\n")))
    assert.ok(known.has(name), `${name} is not in /metrics`);
  const scraped = textOf("deploy/prometheus/scrape.yaml");
  for (const name of ofExporters) assert.ok(scraped.includes(name), `${name} is not in scrape.yaml`);
  for (const { name, expr } of ruleTexts) {
    // Without labels and what is grouped by, each word with an underscore is a series or a function.
    const bare = expr.replaceAll(/\{[^}]*\}|\b(?:by|on) \([^)]*\)/g, "");
    const named = bare.match(/\b[a-z]+_[a-z0-9_]+\b(?! *\()/g) ?? [];
    assert.ok(named.length > 0, name);
    for (const series of named)
      assert.ok(known.has(series) || ofExporters.has(series), `${name} asks for ${series}`);
  }
});

test("every alarm leads to a runbook, and every runbook is short, says what to type and is in the index", () => {
  const index = textOf("docs/runbooks/README.md");
  const pages = readdirSync(new URL("docs/runbooks/", root)).filter((file) => file !== "README.md");
  for (const { name, runbook } of ruleTexts)
    assert.ok(pages.includes(`${runbook}.md`), `${name}: ${runbook}`);
  for (const page of pages) {
    const text = textOf(`docs/runbooks/${page}`);
    const words = text.replaceAll(/^ *```[\s\S]*?^ *```$/gm, "").split(/\s+/).length;
    assert.ok(words >= 100 && words <= 400, `${page} has ${words} words`);
    assert.match(text, /^## How you notice$/m, page);
    assert.match(text, /^ *```sh$/m, page);
    assert.ok(index.includes(`(${page})`), `${page} is not in the index`);
  }
});

test("every alarm has a separate test", () => {
  const tests = textOf("deploy/prometheus/rules.test.yaml");
  const alarms = [...textOf("deploy/prometheus/rules.yaml").matchAll(/- alert: (\w+)/g)].map(
    ([, name]) => name ?? "",
  );
  assert.ok(alarms.length > 20);
  const untested = alarms.filter((name) => !tests.includes(`alertname: ${name}\n        exp_alerts`));
  assert.deepEqual(untested, []);
});
