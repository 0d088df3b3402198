import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { createNodeSignatureChecker } from "@assay/emrtd/node/signature-checker";
import { signMasterList } from "@assay/emrtd/node/test-country/sign-message";
import { createTestCountry } from "@assay/emrtd/node/test-country/test-country";
import { importTrust } from "@assay/emrtd/trust/import-trust";
import { defaultPolicy } from "@assay/emrtd/verify/policy";
import { loadConfig } from "../../../src/load-config.ts";
import { sql } from "../../../src/platform/db/sql.ts";
import { dayMs, hourMs } from "../../../src/platform/kernel/clock.ts";
import { createSafeFetch } from "../../../src/platform/lib/safe-fetch.ts";
import { CurrentTrust } from "../../../src/verification/trust/current-trust.ts";
import { describeImport } from "../../../src/verification/trust/describe-import.ts";
import { refreshTrust } from "../../../src/verification/trust/refresh-trust.job.ts";
import { changeTrust, insertImport, readTrust } from "../../../src/verification/trust/trust.store.ts";
import {
  keepTrustImport,
  printTrustAudit,
  printTrustLog,
  printTrustStatus,
} from "../../../src/verification/trust/trust-command.ts";
import { TrustReader } from "../../../src/verification/trust/trust-reader.ts";
import { createAuthority } from "../../support/certificate.ts";
import { readMails } from "../../support/mails.ts";
import { startReceiver } from "../../support/receiver.ts";
import { startTestService, type TestService } from "../../support/service.ts";
import { createTestAuthority } from "../../support/test-authority.ts";
import { testRing } from "../../support/test-ring.ts";

const webAuthority = createAuthority();
const country = createTestCountry("sources", new Date("2026-03-01T00:00:00Z"));
const stranger = createTestCountry("stranger", new Date("2026-03-01T00:00:00Z"));
type AuthorityName = "brainpool" | "nist" | "rsa" | "rsa_pss";

function certificate(id: AuthorityName): Uint8Array {
  return country.authorityCertificates.get(id) ?? assert.fail(id);
}

/** An edition of the list, signed by the pinned signer. */
function edition(day: string | null, ids: readonly AuthorityName[], signedBy = country): Buffer {
  return Buffer.from(
    signMasterList(ids.map(certificate), signedBy.masterListSigner(), {
      signedAt: day === null ? null : new Date(`${day}T00:00:00Z`),
      identifySignerBy: "subject_key_id",
    }),
  );
}

const pin = createHash("sha256").update(country.masterListSigner().certificate).digest("hex");

function pem(label: string, bytes: Uint8Array): string {
  return `-----BEGIN ${label}-----\n${Buffer.from(bytes).toString("base64")}\n-----END ${label}-----\n`;
}

/** A service that follows one list and one revocation list at a server that the test plays. */
async function follow(pinned = pin) {
  const host = await startReceiver(webAuthority);
  const served = new Map<string, Buffer | number>();
  host.answerWith(({ path, headers }, response) => {
    const body = served.get(path) ?? 404;
    if (typeof body === "number") response.writeHead(body).end();
    else {
      const etag = `"${createHash("sha256").update(body).digest("hex").slice(0, 16)}"`;
      if (headers["if-none-match"] === etag) response.writeHead(304).end();
      else response.writeHead(200, { etag }).end(body);
    }
    return null;
  });
  const origin = `https://127.0.0.1:${host.port}`;
  const service = await startTestService({
    env: {
      WEBHOOK_ALLOWED_PRIVATE_HOSTS: "127.0.0.1",
      TRUST_SOURCES: `${origin}/list.ml#sha256=${pinned}, ${origin}/rsa.crl`,
      OPERATOR_EMAIL: "operator@assay.example",
      METRICS_TOKEN: "let me see",
    },
    webhooks: { ca: webAuthority.certificate },
  });
  const { db } = service.core;
  const lines: string[] = [];
  const print = (line: string) => lines.push(line);
  return {
    ...service,
    db,
    print,
    served,
    requests: () => host.received.length,
    received: () => host.received,
    closeHost: host.close,
    /** Asks every source, some hours after the last time. */
    async refresh(hours = 7) {
      service.clock.advance(hours * hourMs);
      await service.runJob("refresh-trust");
      await service.runJob("refresh-trust");
    },
    async trusted() {
      const { records } = await readTrust(db);
      const found = new Set(records.flatMap(({ certificates }) => certificates.map((der) => sha256(der))));
      return (["brainpool", "nist", "rsa", "rsa_pss"] as const).filter((id) =>
        found.has(sha256(certificate(id))),
      );
    },
    async lists() {
      return (await readTrust(db)).records.flatMap(({ revocationLists }) => revocationLists).length;
    },
    async status() {
      lines.length = 0;
      await printTrustStatus(db, service.clock.now(), print);
      return lines.join("\n");
    },
    async log() {
      lines.length = 0;
      await printTrustLog(db, print);
      return lines.join("\n");
    },
  };
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

test("a source's list and its revocation list come into force by themselves, and are fetched again only when they changed", async () => {
  const { served, refresh, trusted, lists, status, requests, db } = await follow();
  served.set("/list.ml", edition("2026-01-10", ["brainpool", "rsa"]));
  served.set("/rsa.crl", Buffer.from(country.revocationLists[0] ?? []));
  await refresh();
  assert.deepEqual(await trusted(), ["brainpool", "rsa"]);
  // The revocation list came first, without its authority; it is fetched again and then counts.
  await refresh();
  assert.equal(await lists(), 1);
  const { version } = await readTrust(db);
  const asked = requests();
  await refresh();
  assert.equal(requests(), asked + 2, "each source is asked");
  assert.equal((await readTrust(db)).version, version, "an answer that nothing changed changes nothing");
  assert.match(await status(), /2 authorities of 1 countries/);
  assert.match(await status(), /edition of 2026-01-10, last asked with success within the hour/);
});

test("an older edition is refused, and what counts stays", async () => {
  const { served, refresh, trusted, status, log } = await follow();
  served.set("/list.ml", edition("2026-02-10", ["brainpool", "rsa"]));
  await refresh();
  served.set("/list.ml", edition("2026-01-10", ["brainpool", "rsa", "nist"]));
  await refresh();
  assert.deepEqual(await trusted(), ["brainpool", "rsa"]);
  assert.match(await status(), /It was signed at 2026-01-10.*before the current edition/);
  assert.match(await log(), /source {2}refused .*signed at 2026-01-10/);
});

test("an addition counts at once; a removal is held for seven days, announced by mail, and can be prevented", async () => {
  const service = await follow();
  const { served, refresh, trusted, status, log, db, clock, print } = service;
  const newestMail = async () =>
    (await readMails(service, "operator@assay.example")).at(-1)?.text ?? assert.fail("no mail came");
  served.set("/list.ml", edition("2026-01-10", ["brainpool", "rsa"]));
  await refresh();
  served.set("/list.ml", edition("2026-01-20", ["brainpool", "nist"]));
  await refresh();
  assert.deepEqual(await trusted(), ["brainpool", "nist", "rsa"]);
  const mail = await newestMail();
  assert.match(mail, /lacks 1 authorities/);
  assert.match(mail, /CSCA Utopia rsa/);
  assert.match(mail, /assay trust keep [0-9a-f]{16}/);
  assert.match(await status(), /To be removed, unless you keep it/);
  await refresh(24 * 6);
  assert.deepEqual(await trusted(), ["brainpool", "nist", "rsa"]);
  await refresh(24);
  assert.deepEqual(await trusted(), ["brainpool", "nist"]);
  assert.match(await log(), /removal_carried_out .*1 authorities/);

  served.set("/list.ml", edition("2026-02-01", ["brainpool"]));
  await refresh();
  const held = /assay trust keep ([0-9a-f]{16})/.exec(await newestMail())?.[1];
  assert.equal(await keepTrustImport(db, held ?? "", clock.now(), print), 0);
  await refresh(8 * (dayMs / hourMs));
  assert.deepEqual(await trusted(), ["brainpool", "nist"]);
});

test("a source that lies or fails changes nothing, says why, and is forgiven when it mends", async () => {
  const { served, refresh, trusted, status, closeHost } = await follow();
  served.set("/list.ml", edition("2026-01-10", ["brainpool"]));
  await refresh();
  const genuine = edition("2026-01-20", ["brainpool", "rsa"]);
  const altered = Buffer.from(genuine);
  altered[altered.length >> 1] = (altered[altered.length >> 1] ?? 0) ^ 1;
  const lies: [Buffer | number, RegExp][] = [
    [edition("2026-01-20", ["brainpool", "rsa"], stranger), /No trusted root vouches/],
    [altered, /now: /],
    [edition(null, ["brainpool", "rsa"]), /now: It does not say when it was signed/],
    [Buffer.from("<html>Sign in</html>"), /holds no master list/],
    [Buffer.from(certificate("rsa")), /Nothing in it is signed/],
    [Buffer.from(stranger.revocationLists[0] ?? []), /Nothing in it is signed/],
    // A certificate that vouches for the list beside it.
    [
      Buffer.from(
        pem("CERTIFICATE", certificate("rsa")) + pem("X509 CRL", country.revocationLists[0] ?? assert.fail()),
      ),
      /Nothing in it is signed/,
    ],
    [Buffer.alloc(17 * 1024 * 1024, 0x30), /larger than/],
    [Buffer.alloc(0), /now: /],
    [302, /status 302/],
    [500, /status 500/],
  ];
  for (const [answer, reason] of lies) {
    served.set("/list.ml", answer);
    await refresh(30);
    assert.deepEqual(await trusted(), ["brainpool"], String(reason));
    assert.match(await status(), reason);
  }
  served.set("/list.ml", genuine);
  await refresh(30);
  assert.deepEqual(await trusted(), ["brainpool", "rsa"]);
  await closeHost();
  await refresh(30);
  assert.match(await status(), /could not be fetched: connection_failed/);
  assert.deepEqual(await trusted(), ["brainpool", "rsa"]);
});

test("the signer that is pinned to an address is the only one, even if others may vouch for lists", async () => {
  const service = await follow();
  const { served, refresh, trusted, status } = service;
  await bring(service, stranger.authorityCertificates.get("brainpool") ?? assert.fail(), "stranger.cer");
  served.set("/list.ml", edition("2026-01-10", ["brainpool"], stranger));
  await refresh();
  assert.deepEqual(await trusted(), []);
  assert.match(await status(), /list\.ml\n.*now: No trusted root vouches/);
});

test("an edition whose signer is known to be revoked is refused", async () => {
  const authority = createTestAuthority("revoked source");
  const service = await follow(sha256(authority.listSigner.certificate));
  const { served, refresh, trusted, status, clock } = service;
  served.set(
    "/list.ml",
    Buffer.from(authority.masterList([certificate("rsa")], new Date("2026-01-10T00:00:00Z"))),
  );
  await bring(service, authority.certificate, "authority.cer");
  await bring(
    service,
    authority.revocationList(new Date(clock.now().getTime() - hourMs), true),
    "revoked.crl",
  );
  await refresh();
  assert.deepEqual(await trusted(), []);
  assert.match(await status(), /list\.ml\n.*now: .*revoked/);
});

test("what the setting cannot mean is refused at start, entry by entry", () => {
  const problems = (value: string) => {
    try {
      loadConfig({ TRUST_SOURCES: value, SECRET_KEYS: testRing });
      return "";
    } catch (error) {
      return (error as Error).message;
    }
  };
  assert.equal(problems(`https://lists.example.org/all.ml#sha256=${pin}, distribution-points`), "");
  assert.match(problems("distribution-points, http://lists.example.org/all.ml"), /entry 2 .*https/);
  assert.match(problems("https://lists.example.org/all.ml#pin"), /entry 1 has a fragment other than/);
  assert.match(problems("https://10.0.0.1/all.ml"), /private or reserved/);
});

async function bring(
  { core, clock }: Pick<TestService, "core" | "clock">,
  bytes: Uint8Array,
  label: string,
  pins: readonly string[] = [],
) {
  const now = clock.now();
  const options = { label, checker: createNodeSignatureChecker(), roots: [], pinnedSha256: pins, now };
  const { records, rejected } = importTrust(bytes, options);
  assert.deepEqual(rejected, []);
  await changeTrust(core.db, now, "command", async (tx) => {
    for (const [part, record] of records.entries()) await insertImport(tx, record, part, "command");
    return records.map(describeImport);
  });
}

async function printed(work: (print: (line: string) => void) => Promise<number>): Promise<string> {
  const lines: string[] = [];
  await work((line) => lines.push(line));
  return lines.join("\n");
}

test("the operator gets one mail when the signer of a list was revoked after its import", async () => {
  const service = await startTestService({ env: { OPERATOR_EMAIL: "operator@assay.example" } });
  const { clock, core, logLines, runJob } = service;
  const mails = async () => (await readMails(service, "operator@assay.example")).map(({ text }) => text);
  const authority = createTestAuthority("revoked");
  const list = authority.masterList([authority.certificate], new Date("2026-01-10T00:00:00Z"));
  await bring(service, list, "world.ml", [sha256(authority.listSigner.certificate)]);
  const revokedAt = new Date(clock.now().getTime() - hourMs);
  await bring(service, authority.revocationList(new Date(revokedAt.getTime() - hourMs), false), "clean.crl");
  await runJob("refresh-trust");
  const audit = () => printed((print) => printTrustAudit(core.db, defaultPolicy, clock.now(), print));
  const status = () => printed((print) => printTrustStatus(core.db, clock.now(), print));
  assert.deepEqual(await mails(), []);
  assert.match(await audit(), /Master lists whose signer was revoked since: none/);
  assert.doesNotMatch(await status(), /revoked since/);

  await bring(service, authority.revocationList(revokedAt, true), "revoked.crl");
  await runJob("refresh-trust");
  const [mail = "", ...more] = await mails();
  assert.deepEqual(more, []);
  assert.match(mail, /revoked master_list_signer, which signed world\.ml, is on a revocation list/);
  assert.match(mail, new RegExp(`assay trust remove ${sha256(list).slice(0, 16)}`));
  const named = new RegExp(`revoked since: 1\\n {4}${sha256(list).slice(0, 16)} {2}world\\.ml, signed by`);
  assert.match(await audit(), named);
  assert.match(await status(), named);
  assert.match(
    await printed((print) => printTrustLog(core.db, print)),
    /source {2}signer_revoked {2}world\.ml: .*revoked master_list_signer/,
  );
  const warned = () =>
    logLines.filter((line) => line.includes("signer of a list that you trust was revoked"));
  assert.equal(warned().length, 1);
  const { records } = await readTrust(core.db);
  assert.equal(records.filter(({ certificates }) => certificates.length > 0).length, 1, "it stays trusted");

  clock.advance(2 * hourMs);
  await runJob("refresh-trust");
  assert.equal((await mails()).length, 1);
  assert.equal(warned().length, 1);
});

/** A plain server on all addresses of this machine, as an authority may have one for its revocation lists. */
async function startPlainHost(t: TestContext) {
  const asked: string[] = [];
  const served = new Map<string, Uint8Array>();
  const server = createServer((request, response) => {
    asked.push(`${request.headers.host} ${request.url}`);
    const body = served.get(request.url ?? "");
    response.writeHead(body === undefined ? 404 : 200).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "0.0.0.0", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { asked, served, port: (server.address() as AddressInfo).port };
}

test("the revocation list at an address that a trusted certificate names comes into force; hostile addresses are never asked", async (t) => {
  const { asked, served, port } = await startPlainHost(t);
  const secure = await startReceiver(webAuthority);
  const good = [`http://127.0.0.1:${port}/csca.crl`, `https://127.0.0.1:${secure.port}/csca.crl`];
  const hostile = [
    `http://127.0.0.2:${port}/private.crl`,
    `http://[::ffff:127.0.0.2]:${port}/mapped.crl`,
    `http://localhost:${port}/name.crl`,
    `http://user:secret@127.0.0.1:${port}/credentials.crl`,
    `ldap://127.0.0.1:${port}/c=UT`,
  ];
  const authority = createTestAuthority("points", [...good, ...hostile]);
  const service = await startTestService({
    env: {
      WEBHOOK_ALLOWED_PRIVATE_HOSTS: "127.0.0.1",
      METRICS_TOKEN: "let me see",
      TRUST_SOURCES: "distribution-points",
    },
    webhooks: { ca: webAuthority.certificate },
  });
  const { core, clock, runJob } = service;
  const list = authority.revocationList(new Date(clock.now().getTime() - hourMs), true);
  served.set("/csca.crl", list);
  secure.answerWith((_request, response) => {
    response.writeHead(200).end(list);
    return null;
  });
  await runJob("refresh-trust");
  assert.deepEqual(asked, [], "no authority is trusted, so no source is fetched");
  await bring(service, authority.certificate, "csca.cer");
  await runJob("refresh-trust");
  assert.deepEqual(asked, [`127.0.0.1:${port} /csca.crl`]);
  assert.deepEqual(
    secure.received.map(({ path }) => path),
    ["/csca.crl"],
  );
  const { records } = await readTrust(core.db);
  assert.deepEqual(
    records.flatMap(({ revocationLists }) => revocationLists).map(sha256),
    [sha256(list)],
    "the list is kept once, from any source",
  );
  const audit = await printed((print) => printTrustAudit(core.db, defaultPolicy, clock.now(), print));
  assert.match(audit, /^UT {2}1 authorities, 1 valid now; revocation list fresh/m);
  const status = await printed((print) => printTrustStatus(core.db, clock.now(), print));
  assert.doesNotMatch(status, /ldap:/);
  assert.match(status, /private\.crl\n.*could not be fetched: (address|url)_refused/);
  assert.match(status, /credentials\.crl\n.*could not be fetched: url_refused/);
});

test("a source that fails unexpectedly has a problem, and the others are fetched", async () => {
  const service = await follow();
  const { served, refresh, lists, status, db } = service;
  await bring(service, certificate("rsa"), "rsa.cer");
  await db.run(sql`
    create function refuse() returns trigger language plpgsql as
    $$ begin raise exception 'refused' using errcode = 'check_violation'; end $$`);
  await db.run(sql`
    create trigger refuse before insert on trust_imports for each row when (new.source like '%/list.ml') execute function refuse()`);
  served.set("/list.ml", edition("2026-01-10", ["brainpool"]));
  served.set("/rsa.crl", Buffer.from(country.revocationLists[0] ?? []));
  await refresh();
  assert.equal(await lists(), 1);
  assert.match(await status(), /list\.ml\n.*now: It could not be processed: 23514/);
});

test("sources are asked although the thread that reads them is gone, and say so", async (t) => {
  const { core, clock, status, refresh, served } = await follow();
  served.set("/list.ml", edition("2026-01-10", ["brainpool"]));
  await refresh(0);
  served.set("/list.ml", edition("2026-01-20", ["brainpool", "rsa"]));
  clock.advance(7 * hourMs);
  const reader = new TrustReader();
  await reader.close();
  const safeFetch = createSafeFetch({
    resolveAddresses: core.dns.resolveAddresses,
    exemptHosts: new Set(["127.0.0.1"]),
    resolveExempt: core.dns.resolveAddresses,
    ca: webAuthority.certificate,
  });
  t.after(() => safeFetch.close());
  const around = { ...core, safeFetch, trust: new CurrentTrust(core.db), reader };
  while ((await refreshTrust(around, "refresh-trust")) > 0);
  assert.match(await status(), /list\.ml\n.*edition of 2026-01-10.*now: It could not be processed: /);
  assert.match(await status(), /rsa\.crl\n.*status 404/);
});

test("a certificate in the database that cannot be read any more is named, and takes nothing else away", async () => {
  const { served, refresh, trusted, db, clock, core, runJob } = await follow();
  served.set("/list.ml", edition("2026-01-10", ["brainpool", "rsa"]));
  await refresh();
  const broken = Buffer.from(certificate("rsa"));
  broken[0] = 0x31;
  await db.run(sql`update trust_items set content = ${broken} where sha256 = ${sha256(certificate("rsa"))}`);
  await db.run(sql`update trust_version set version = version + 1`);
  const audit = await printed((print) => printTrustAudit(db, defaultPolicy, clock.now(), print));
  assert.match(audit, /^1 authorities of 1 countries/m);
  assert.match(
    audit,
    new RegExp(`cannot be read \\(without effect\\): 1\\n {4}${sha256(broken)} {2}from https:`),
  );
  await runJob("show-trust");
  assert.match(core.metrics.render(), /^assay_trust_authorities\{country="UT"\} 1$/m);
  // A later edition lacks it: it is reported although it cannot be read.
  served.set("/list.ml", edition("2026-01-20", ["brainpool", "nist"]));
  await refresh();
  assert.deepEqual(await trusted(), ["brainpool", "nist"]);
});

/** When a source is asked next, in minutes from now. */
async function minutesUntilDue(
  { db, clock }: Awaited<ReturnType<typeof follow>>,
  name: string,
): Promise<number> {
  const { dueAt } = await db.one<{ dueAt: Date }>(
    sql`select due_at from trust_sources where address like ${`%${name}`}`,
  );
  return (dueAt.getTime() - clock.now().getTime()) / 60_000;
}

test("a source that fails is asked again after longer and longer times, up to the usual one", async () => {
  const service = await follow();
  const { served, clock, runJob, log, requests } = service;
  served.set("/list.ml", 500);
  const waits: number[] = [];
  await runJob("refresh-trust");
  for (let time = 0; time < 9; time++) {
    const minutes = await minutesUntilDue(service, "/list.ml");
    waits.push(minutes);
    clock.advance(minutes * 60_000 - 1);
    const asked = requests();
    await runJob("refresh-trust");
    const early = requests() - asked;
    clock.advance(1);
    await runJob("refresh-trust");
    await runJob("refresh-trust");
    assert.ok(requests() - asked > early, "it was not asked in its time");
  }
  assert.deepEqual(waits, [5, 10, 20, 40, 80, 160, 320, 360, 360]);
  const refusals = (await log()).split("\n").filter((line) => line.includes("/list.ml: "));
  assert.equal(refusals.length, 1, "the same problem is written down once");
  served.set("/list.ml", edition("2026-01-10", ["brainpool"]));
  clock.advance(360 * 60_000);
  await runJob("refresh-trust");
  await runJob("refresh-trust");
  const usual = await minutesUntilDue(service, "/list.ml");
  assert.ok(usual >= 360 && usual < 390, String(usual));
  served.set("/list.ml", 500);
  clock.advance(usual * 60_000);
  await runJob("refresh-trust");
  await runJob("refresh-trust");
  assert.equal(await minutesUntilDue(service, "/list.ml"), 5, "a success forgives what was before");
});

test("a source hears what is known of it, so that it need not send the same again", async () => {
  const service = await follow();
  const { served, refresh, db } = service;
  served.set("/list.ml", edition("2026-01-10", ["brainpool"]));
  await refresh();
  await refresh();
  const of = (path: string) => service.received().filter((request) => request.path === path);
  const [first, second] = of("/list.ml");
  assert.deepEqual(
    [first?.headers["if-none-match"], first?.headers["if-modified-since"], first?.headers["user-agent"]],
    [undefined, undefined, "Assay-Trust/1"],
  );
  const etag = `"${sha256(edition("2026-01-10", ["brainpool"])).slice(0, 16)}"`;
  assert.equal(second?.headers["if-none-match"], etag);
  await db.run(sql`update trust_sources set last_modified = 'Sat, 10 Jan 2026 00:00:00 GMT'`);
  await refresh();
  assert.equal(of("/list.ml").at(-1)?.headers["if-modified-since"], "Sat, 10 Jan 2026 00:00:00 GMT");
});

test("an edition that lacks nothing replaces the one before at once, and no mail is sent", async () => {
  const service = await follow();
  const { served, refresh, trusted, db } = service;
  served.set("/list.ml", edition("2026-01-10", ["brainpool"]));
  await refresh();
  served.set("/list.ml", edition("2026-01-20", ["brainpool", "rsa"]));
  await refresh();
  assert.deepEqual(await trusted(), ["brainpool", "rsa"]);
  assert.equal((await readTrust(db)).records.length, 1);
  assert.deepEqual(await readMails(service, "operator@assay.example"), []);
});

test("a removal that is held is announced once, also when further editions lack the same", async () => {
  const service = await follow();
  const { served, refresh, trusted, log } = service;
  served.set("/list.ml", edition("2026-01-10", ["brainpool", "rsa"]));
  await refresh();
  for (const day of ["2026-01-20", "2026-01-21"]) {
    served.set("/list.ml", edition(day, ["brainpool"]));
    await refresh();
  }
  assert.deepEqual(await trusted(), ["brainpool", "rsa"]);
  assert.equal((await readMails(service, "operator@assay.example")).length, 1);
  assert.equal((await log()).split("\n").filter((line) => line.includes("removal_held")).length, 1);
});

test("a mail about many authorities names forty of them and says how many there are", async () => {
  const many = Array.from({ length: 41 }, (_, index) => createTestAuthority(`of many ${index}`).certificate);
  const service = await follow();
  const { served, refresh } = service;
  const options = { signedAt: new Date("2026-01-10T00:00:00Z"), identifySignerBy: "subject_key_id" } as const;
  served.set("/list.ml", Buffer.from(signMasterList(many, country.masterListSigner(), options)));
  await refresh();
  served.set("/list.ml", edition("2026-01-20", ["brainpool"]));
  await refresh();
  const [mail] = await readMails(service, "operator@assay.example");
  assert.match(mail?.text ?? "", /lacks 41 authorities/);
  assert.equal(mail?.text.match(/CSCA of many/g)?.length, 40);
  assert.match(mail?.text ?? "", /\n…/);
});

test("a source that is no longer named is forgotten, and what it brought stays; what is not known now is kept", async (t) => {
  const { core, served, refresh, trusted, db } = await follow();
  served.set("/list.ml", edition("2026-01-10", ["brainpool"]));
  await refresh();
  const addresses = async () =>
    (await db.rows<{ address: string }>(sql`select address from trust_sources order by address`)).map(
      ({ address }) => address.slice(address.lastIndexOf("/")),
    );
  const readers = [new TrustReader(), new TrustReader()] as const;
  const safeFetch = createSafeFetch({
    ...{ resolveAddresses: core.dns.resolveAddresses, exemptHosts: new Set<string>() },
    ...{ resolveExempt: core.dns.resolveAddresses, ca: webAuthority.certificate },
  });
  t.after(() => safeFetch.close());
  const run = (trustSources: readonly string[], reader: TrustReader = readers[1]) =>
    refreshTrust(
      {
        ...{ ...core, config: { ...core.config, trustSources: [...trustSources] } },
        ...{ safeFetch, trust: new CurrentTrust(db), reader },
      },
      "refresh-trust",
    );
  const [first = ""] = core.config.trustSources;
  await run([first, first], readers[0]);
  assert.deepEqual(await addresses(), ["/list.ml"]);
  await Promise.all(readers.map((reader) => reader.close()));
  await run(["distribution-points", "https://127.0.0.1:1/new.ml"]);
  assert.deepEqual((await addresses()).sort(), ["/list.ml", "/new.ml"], "the certificates could not be read");
  assert.deepEqual(await trusted(), ["brainpool"]);
  await run([]);
  assert.deepEqual((await addresses()).sort(), ["/list.ml", "/new.ml"], "nothing is followed at all");
});

test("without an address of the operator nothing is mailed, and the log says it", async () => {
  const service = await startTestService();
  const { clock, runJob, logLines } = service;
  const authority = createTestAuthority("unmailed");
  const list = authority.masterList([authority.certificate], new Date("2026-01-10T00:00:00Z"));
  await bring(service, list, "world.ml", [sha256(authority.listSigner.certificate)]);
  await bring(
    service,
    authority.revocationList(new Date(clock.now().getTime() - hourMs), true),
    "revoked.crl",
  );
  await runJob("refresh-trust");
  assert.deepEqual(await readMails(service), []);
  assert.ok(logLines.some((line) => line.includes("signer of a list that you trust was revoked")));
});

test("metrics show the age of sources and lists, -1 for what never was, and no authorities of a removed country", async () => {
  const service = await follow();
  const { served, clock, runJob, core, db } = service;
  const metric = (name: string) =>
    new RegExp(`^${name.replaceAll(/[{}"]/g, "\\$&")} (-?\\d+)$`, "m").exec(core.metrics.render())?.[1] ??
    null;
  served.set("/rsa.crl", Buffer.from(country.revocationLists[0] ?? []));
  await bring(service, certificate("rsa"), "rsa.cer");
  await runJob("refresh-trust");
  await runJob("show-trust");
  const age = (of: string) => metric(`assay_trust_source_age_seconds{source="${of}"}`);
  assert.deepEqual([age("1"), age("2")], ["-1", "0"]);
  clock.advance(90_400);
  await runJob("show-trust");
  assert.deepEqual([age("1"), age("2")], ["-1", "90"]);
  const madeAt = new Date("2026-01-01T00:00:00Z").getTime();
  const listAge = metric('assay_trust_revocation_list_age_seconds{country="UT"}');
  assert.equal(Number(listAge), Math.round((clock.now().getTime() - madeAt) / 1000));
  assert.equal(metric('assay_trust_authorities{country="UT"}'), "1");
  assert.equal(metric("assay_trust_version"), String((await readTrust(db)).version));
  await changeTrust(db, clock.now(), "command", async (tx) => {
    await tx.run(sql`update trust_imports set retired_at = ${clock.now()}`);
    return [{ act: "taken_back", subject: "", detail: "" }];
  });
  await runJob("show-trust");
  assert.equal(metric('assay_trust_authorities{country="UT"}'), "0");
});
