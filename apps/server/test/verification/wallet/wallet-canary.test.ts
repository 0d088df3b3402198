import assert from "node:assert/strict";
import { randomBytes, randomInt } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { answerAsWallet } from "@assay/credential/openid4vp/answer-as-wallet";
import { testStatusUri } from "@assay/credential/test-country/test-status";
import { readRequest } from "@assay/credential/test-wallet/read-request";
import { sql } from "../../../src/platform/db/sql.ts";
import { createPartner, expectData } from "../../support/api.ts";
import { createAuthority } from "../../support/certificate.ts";
import { startCollector } from "../../support/collector.ts";
import { disguisesOf } from "../../support/disguises.ts";
import { createReceivingEndpoint, decrypt, startReceiver } from "../../support/receiver.ts";
import { startTestService } from "../../support/service.ts";
import { tally } from "../../support/tally.ts";
import { agree } from "../../support/verify.ts";
import { pidSdJwt } from "../../support/wallet-credentials.ts";

const authority = createAuthority();
const collector = await startCollector();
const service = await startTestService({
  env: { WEBHOOK_ALLOWED_PRIVATE_HOSTS: "127.0.0.1", OTEL_EXPORTER_OTLP_ENDPOINT: collector.url },
  webhooks: { ca: authority.certificate },
});
const { api, core, clock } = service;

const letters = (length: number) =>
  [...randomBytes(length)].map((byte) => String.fromCharCode(65 + (byte % 26))).join("");

/** Of the test list, which has 1,024 entries. Numbers occur everywhere, so the reference is searched. */
const statusIndex = randomInt(200, 1_000);

/** What must be found nowhere: the person's values, the wallet's additions, parts of the presentation. */
type Canary = { name: string; value: string };

async function present(path: string, familyName: string, breaks: boolean) {
  const made = await api.post(`${path}/wallet`, { channel: "redirect" });
  const { link } = expectData(made, 201);
  const cookie = made.headers.getSetCookie()[0]?.split(";")[0] ?? "";
  const request = await readRequest(link, (url, init) => fetch(url, init));
  const claims = {
    family_name: familyName,
    given_name: `ZJ${letters(10)}`,
    document_number: `K${letters(8)}`,
    birthdate: `19${randomInt(60, 99)}-0${randomInt(1, 9)}-${randomInt(10, 28)}`,
    picture: `data:image/jpeg;base64,${randomBytes(60).toString("base64url")}`,
    date_of_expiry: "2031-06-30",
  };
  const { presentation, holderKey } = await pidSdJwt({
    claims,
    discloses: Object.keys(claims),
    status: { uri: testStatusUri(service.url, "pid"), idx: statusIndex },
    audience: request.clientId,
    nonce: breaks ? "another" : request.nonce,
    now: clock.now(),
  });
  const parts = presentation.split("~").filter((part) => part !== "");
  const canaries: Canary[] = [
    ...Object.entries(claims)
      .filter(([name]) => name !== "date_of_expiry")
      .map(([name, value]) => ({ name, value })),
    ...parts.map((part, at) => ({ name: `part ${at} of the presentation`, value: part.slice(-40) })),
    { name: "the holder's key", value: holderKey.x ?? "" },
    { name: "the index in the status list", value: `"idx":${statusIndex}` },
    { name: "the index in the status list", value: `"index":${statusIndex}` },
  ];
  const answer = { kind: "presented", id: "pid_sd", presentation } as const;
  const body = new URLSearchParams(await answerAsWallet(answer, request));
  const response = await fetch(request.responseUri, { method: "POST", body });
  const { redirect_uri: redirectUri } = (await response.json()) as { redirect_uri: string };
  const code = new URLSearchParams(new URL(redirectUri).hash.slice(1)).get("response_code");
  return { claims, canaries, code, cookie };
}

function assertFree(where: string, bytes: Buffer, canaries: readonly Canary[]): void {
  for (const [what, disguise] of canaries.flatMap(({ name, value }) => disguisesOf(name, value)))
    assert.equal(bytes.includes(disguise), false, `${what} was found in ${where}`);
  tally("bytes searched for canaries", bytes.length);
}

function* filesUnder(folder: string): Generator<string> {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    // Files of a database that others use come and go.
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat?.isDirectory()) yield* filesUnder(path);
    else if (stat?.isFile()) yield path;
  }
}

async function searchEverywhere(canaries: readonly Canary[]): Promise<void> {
  const { db } = core;
  const tables = await db.rows<{ name: string }>(
    sql`select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`,
  );
  assert.ok(tables.some(({ name }) => name === "wallet_requests"));
  for (const { name } of tables) {
    const rows = await db.withConnection((client) =>
      client.query(`select to_jsonb(t)::text as row from "${name}" t`),
    );
    assertFree(`table ${name}`, Buffer.from(rows.rows.map(({ row }) => row).join("\n")), canaries);
  }
  for (const path of filesUnder(service.dataDir)) assertFree(path, readFileSync(path), canaries);
  searchWal(await walFolder(), canaries);
  assertFree("the log", Buffer.from(service.logLines.join("")), canaries);
  assertFree("the metrics", Buffer.from(core.metrics.render()), canaries);
}

/** Null if the database is not on this machine, or does not say. */
async function walFolder(): Promise<string | null> {
  try {
    const { folder } = await core.db.one<{ folder: string }>(
      sql`select current_setting('data_directory') || '/pg_wal' as folder`,
    );
    return existsSync(folder) ? folder : null;
  } catch {
    return null;
  }
}

/** It also contains what was written and erased by every test of the server. So a date is no canary there. */
function searchWal(folder: string | null, canaries: readonly Canary[]): void {
  if (folder === null) return;
  const texts = canaries.filter(({ name }) => name !== "birthdate").map(({ value }) => value);
  for (const path of filesUnder(folder)) {
    const bytes = readFileSync(path);
    assert.deepEqual(
      texts.filter((text) => bytes.includes(text)),
      [],
    );
  }
}

test("what a wallet presents is in no table, log of the database, file, log line or trace, neither during a hold nor after", async () => {
  const partner = await createPartner(api);
  const receiver = await startReceiver(authority);
  await createReceivingEndpoint(partner.api, receiver.url);
  const keys = ["family_name", "given_names", "document_number", "age_over_18"];
  const share = Object.fromEntries(keys.map((key) => [key, { required: true, reason: "To test." }]));
  const begin = async () => {
    const body = { methods: ["wallet_pid"], share_fields: share };
    const { id } = expectData(await partner.api.post("/v1/sessions", body), 201);
    await agree(api, id, [...keys, "service_document_id"]);
    return `/v1/verify/session/${id}`;
  };

  const refused = await present(await begin(), `QX${letters(10)}`, true);
  assert.equal(refused.code, null);
  const path = await begin();
  const held = await present(path, `QX${letters(10)}`, false);
  assert.ok(held.code);
  const canaries = [...refused.canaries, ...held.canaries];
  const { count } = await core.db.one<{ count: number }>(
    sql`select count(*) from wallet_requests where held is not null`,
  );
  assert.equal(count, 1, "it is held now");
  await searchEverywhere([...canaries, { name: "the code", value: held.code }]);

  const outcome = await api.post(
    `${path}/wallet/complete`,
    { response_code: held.code },
    { cookie: held.cookie },
  );
  assert.equal(expectData(outcome).status, "succeeded");
  await service.runJob("deliver-webhooks");
  // The partner, and only the partner, has them: what was agreed to, and nothing else.
  const [event] = await Promise.all(receiver.received.map(async ({ body }) => (await decrypt(body)).event));
  assert.equal(event.data.claims.family_name, held.claims.family_name);
  assert.equal(event.data.claims.document_number, held.claims.document_number);
  assert.equal(event.data.claims.age_over_18, true);
  assert.ok(!JSON.stringify(event).includes(held.claims.birthdate));
  assert.deepEqual(event.data.evidence.warnings, ["wallet_disclosed_more"]);
  await searchEverywhere(canaries);
  await service.close();
  assertFree("what a collector gets", Buffer.from(collector.bodies.join("")), canaries);

  // The search itself works: what it looks for would be found.
  for (const encoding of ["utf8", "hex", "base64"] as const)
    for (const before of ["", "x", "xy"]) {
      const probe = Buffer.from(Buffer.from(`${before}${held.claims.family_name}tail`).toString(encoding));
      assert.throws(() => assertFree("a probe", probe, canaries));
    }
});
