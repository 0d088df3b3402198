import "reflect-metadata";
import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after } from "node:test";
import type { Purpose } from "@assay/credential/trust-anchor";
import { BasicConstraintsExtension, X509CertificateGenerator } from "@peculiar/x509";
import { makeCertificate } from "../../../../../packages/credential/test/support/make-certificate.ts";
import { dayMs, hourMs, later } from "../../../src/platform/kernel/clock.ts";
import { hasTrustedAuthority, readTrust } from "../../../src/verification/trust/trust.store.ts";
import {
  keepTrustImport,
  printTrustLog,
  printTrustStatus,
} from "../../../src/verification/trust/trust-command.ts";
import { walletAnchors } from "../../../src/verification/trust/wallet-anchors.ts";
import { printWalletTrust } from "../../../src/verification/trust/wallet-trust-command.ts";
import { createAuthority } from "../../support/certificate.ts";
import { readMails } from "../../support/mails.ts";
import { assayHere } from "../../support/process.ts";
import { startReceiver } from "../../support/receiver.ts";
import { startTestService } from "../../support/service.ts";
import { testRing } from "../../support/test-ring.ts";
import {
  createWalletAuthority,
  pem,
  sha256,
  trustWalletAuthority,
  writeLote,
  writeVical,
} from "../../support/wallet-authority.ts";

const folder = mkdtempSync(join(tmpdir(), "assay-wallet-trust-"));
after(() => rmSync(folder, { recursive: true }));
const validity = { notBefore: new Date("2026-01-01T00:00:00Z"), notAfter: new Date("2040-01-01T00:00:00Z") };
const webAuthority = createAuthority();
const { root: first, signer: leaf } = await createWalletAuthority("First");
const { root: second } = await createWalletAuthority("Second");
const { root: third } = await createWalletAuthority("Third");
const publisher = await makeCertificate({ subject: "C=EU, CN=Publisher", ...validity });
const stranger = await makeCertificate({ subject: "C=EU, CN=Stranger", ...validity });

async function createRsaAuthority(): Promise<Uint8Array> {
  const algorithm = {
    name: "RSASSA-PKCS1-v1_5",
    hash: "SHA-256",
    modulusLength: 2048,
    publicExponent: Uint8Array.of(1, 0, 1),
  };
  const keys = await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const extensions = [new BasicConstraintsExtension(true, undefined, true)];
  const order = { name: "CN=RSA", ...validity, keys, signingAlgorithm: algorithm, extensions };
  return new Uint8Array((await X509CertificateGenerator.createSelfSigned(order)).rawData);
}

async function start(env: Record<string, string> = {}) {
  const service = await startTestService({ env, webhooks: { ca: webAuthority.certificate } });
  const { core, clock } = service;
  const settings = { DATABASE_URL: service.databaseUrl, SECRET_KEYS: testRing, DATA_DIR: service.dataDir };
  return {
    ...service,
    trust: async (...args: readonly string[]) => {
      const { code, stdout, stderr } = await assayHere(["trust", ...args], settings);
      return { code, text: stdout + stderr };
    },
    write: (name: string, content: string | Uint8Array) => {
      writeFileSync(join(folder, name), content);
      return join(folder, name);
    },
    /** The trusted authorities of a purpose by name, with the list and whether it is stale. */
    trusted: async (purpose: Purpose, environment: "live" | "sandbox" = "live") =>
      (await walletAnchors(core, environment, clock.now()))
        .filter((anchor) => anchor.purpose === purpose)
        .map(({ certificate, list, stale }) => {
          const name = /CN=(.*)$/m.exec(new X509Certificate(certificate).subject)?.[1];
          return `${name} by ${list}${stale ? ", stale" : ""}`;
        })
        .sort(),
  };
}

test("an authority is imported for one purpose, and counts for no other and for no passport", async () => {
  const { trust, write, trusted, core } = await start();
  const rsa = await createRsaAuthority();
  const file = write("roots.pem", pem(first.certificate, leaf.certificate, rsa));
  const { code, text } = await trust("import", "--purpose", "mdl", file);
  assert.equal(code, 0, text);
  assert.match(text, /Left out certificate 2: it is not an authority's/);
  assert.match(text, /Left out certificate 3: authorities of licences have no RSA keys/);
  assert.match(text, /Imported 1 certificates for mdl/);
  assert.deepEqual(await trusted("mdl"), ["First by operator"]);
  assert.deepEqual(await trusted("pid"), []);
  assert.deepEqual((await readTrust(core.db)).records, []);
  assert.match(
    (await trust("list", "--purpose", "mdl")).text,
    /mdl {2}live {2}[0-9a-f]{64} .*CN=First; named by operator, fresh/,
  );

  // The same file may serve a second purpose.
  assert.equal((await trust("import", "--purpose", "age", file)).code, 0);
  assert.deepEqual(await trusted("age"), ["First by operator", "RSA by operator"]);
  assert.match((await trust("list", "--imports")).text, /for mdl\n.*for age/);
  assert.match((await trust("status")).text, /Wallet issuers: 0 for pid, 1 for mdl, 2 for age\./);
  const { version } = await readTrust(core.db);
  assert.equal((await trust("import", "--purpose", "age", file)).code, 0);
  assert.equal((await readTrust(core.db)).version, version, "importing it again changes nothing");
  const hash = sha256(Buffer.from(pem(first.certificate, leaf.certificate, rsa)));
  assert.equal((await trust("remove", hash.slice(0, 16))).code, 0);
  assert.deepEqual(await trusted("mdl"), []);
});

test("an authority of passports is none of wallets", async () => {
  const { trust, write, trusted, core } = await start();
  assert.equal((await trust("import", write("csca.cer", first.certificate))).code, 0);
  assert.equal(await hasTrustedAuthority(core.db), true);
  for (const purpose of ["pid", "mdl", "age"] as const) assert.deepEqual(await trusted(purpose), []);
});

test("what is imported for the sandbox counts there, beside the test country, and never in live", async () => {
  const { trust, write, trusted } = await start();
  const file = write("test-roots.der", first.certificate);
  assert.match((await trust("import", "--sandbox", file)).text, /--sandbox needs --purpose/);
  assert.equal((await trust("import", "--purpose", "pid", "--sandbox", file)).code, 0);
  assert.deepEqual(await trusted("pid"), []);
  assert.deepEqual(await trusted("pid", "sandbox"), [
    "First by sandbox",
    "Utopia Test Identity CA by sandbox",
  ]);
  assert.deepEqual(await trusted("mdl", "sandbox"), ["Utopia Test Driving Licence CA by sandbox"]);
});

test("a list of trusted entities counts if its signer is pinned, for the purpose that it has", async () => {
  const { trust, write, trusted } = await start();
  const pin = sha256(publisher.certificate);
  const file = write(
    "pid.jws",
    await writeLote(publisher, "2026-02-01T00:00:00Z", [first.certificate, second.certificate]),
  );
  assert.match((await trust("import", "--purpose", "pid", file)).text, /signer of a list must be pinned/);
  const foreign = sha256(stranger.certificate);
  const refused = await trust("import", "--purpose", "pid", "--pin", foreign, file);
  assert.equal(refused.code, 1);
  assert.match(refused.text, /^Not imported: [^\n]+\n$/, "a sentence and no stack trace");
  assert.match(
    (await trust("import", "--purpose", "mdl", "--pin", pin, file)).text,
    /no issuer for the purpose mdl/,
  );
  assert.deepEqual(await trusted("pid"), []);
  const { code, text } = await trust("import", "--purpose", "pid", "--pin", pin, file);
  assert.equal(code, 0, text);
  assert.match(text, /Imported 2 certificates for pid, signed by .*CN=Publisher/);
  assert.deepEqual(await trusted("pid"), ["First by eu_list", "Second by eu_list"]);
  assert.equal((await trust("import", "--purpose", "pid", "--pin", pin, write("x", "no list"))).code, 1);
});

test("a VICAL is recognized by its content, counts for driving licences, and says when it is stale", async () => {
  const { trust, write, trusted, clock } = await start();
  const { bytes, pin } = await writeVical(publisher, first.certificate);
  const file = write("vical.cbor", bytes);
  assert.equal(
    (await trust("import", "--purpose", "mdl", "--pin", sha256(stranger.certificate), file)).code,
    1,
  );
  assert.match(
    (await trust("import", "--purpose", "pid", "--pin", pin, file)).text,
    /no issuer for the purpose pid/,
  );
  const { code, text } = await trust("import", "--purpose", "mdl", "--pin", pin, file);
  assert.equal(code, 0, text);
  assert.match(text, /1 certificates for mdl, signed by .*VICAL signer/);
  assert.match(text, /next update was due on 2026-02-02, more than 7 days ago: it no longer counts/);
  assert.deepEqual(await trusted("mdl"), []);
  clock.set(new Date("2026-02-01T12:00:00Z"));
  assert.deepEqual(await trusted("mdl"), ["First by vical"]);
});

test("a list past its next update counts for seven days as stale, and then no longer in live", async () => {
  const service = await start();
  const { trusted, clock, core } = service;
  const nextUpdate = later(clock.now(), dayMs);
  await trustWalletAuthority(service, first.certificate, { purpose: "mdl", type: "vical", nextUpdate });
  await trustWalletAuthority(service, first.certificate, {
    purpose: "mdl",
    scope: "sandbox",
    type: "vical",
    nextUpdate,
  });
  assert.deepEqual(await trusted("mdl"), ["First by vical"]);
  clock.advance(dayMs + 1);
  assert.deepEqual(await trusted("mdl"), ["First by vical, stale"]);
  const status = async () => {
    const lines: string[] = [];
    await printWalletTrust(core.db, core.config, clock.now(), (line) => lines.push(line));
    return lines.join("\n");
  };
  assert.match(await status(), /vical of the test: Its next update was due on .*: it is stale/);
  // Where a fresh list, or the operator, names the authority as well, it is not stale.
  await trustWalletAuthority(service, second.certificate, { purpose: "age", type: "vical", nextUpdate });
  await trustWalletAuthority(service, second.certificate, { purpose: "age" });
  assert.deepEqual(await trusted("age"), ["Second by operator"]);
  clock.advance(7 * dayMs - 1);
  assert.deepEqual(await trusted("mdl"), ["First by vical, stale"]);
  clock.advance(1);
  assert.deepEqual(await trusted("mdl"), []);
  assert.match(await status(), /more than 7 days ago: it no longer counts/);
  const patient = {
    ...core,
    config: { ...core.config, wallet: { ...core.config.wallet, listGraceDays: 8 } },
  };
  const counting = async () =>
    (await walletAnchors(patient, "live", clock.now())).filter(({ purpose }) => purpose === "mdl").length;
  assert.equal(await counting(), 1, "the operator waits longer");
  clock.advance(dayMs);
  assert.equal(await counting(), 0);
  assert.deepEqual(await trusted("mdl", "sandbox"), [
    "First by sandbox, stale",
    "Utopia Test Driving Licence CA by sandbox",
  ]);
});

/** A service that follows one list of PID providers at a server that the test plays. */
async function follow() {
  const host = await startReceiver(webAuthority);
  const served = { body: "" as string | number };
  host.answerWith((_request, response) => {
    if (typeof served.body === "number") response.writeHead(served.body).end();
    else response.writeHead(200).end(served.body);
    return null;
  });
  const service = await start({
    WEBHOOK_ALLOWED_PRIVATE_HOSTS: "127.0.0.1",
    WALLET_TRUST_SOURCES: `pid=https://127.0.0.1:${host.port}/pid.jws#sha256=${sha256(publisher.certificate)}`,
    OPERATOR_EMAIL: "operator@assay.example",
    METRICS_TOKEN: "let me see",
  });
  const { core, clock, runJob } = service;
  const printed = async (print: (to: (line: string) => void) => Promise<unknown>) => {
    const lines: string[] = [];
    await print((line) => lines.push(line));
    return lines.join("\n");
  };
  return {
    ...service,
    served,
    async refresh(hours = 7) {
      clock.advance(hours * hourMs);
      await runJob("refresh-trust");
    },
    status: () => printed((print) => printTrustStatus(core.db, clock.now(), print)),
    log: () => printed((print) => printTrustLog(core.db, print)),
  };
}

test("a source's list takes effect by itself; a removal is held for seven days, announced by mail, and can be prevented", async () => {
  const service = await follow();
  const { served, refresh, trusted, status, log, core, clock } = service;
  const newestMail = async () =>
    (await readMails(service, "operator@assay.example")).at(-1)?.text ?? assert.fail("no mail came");
  served.body = await writeLote(publisher, "2026-01-20T00:00:00Z", [second.certificate]);
  await refresh();
  served.body = await writeLote(publisher, "2026-02-01T00:00:00Z", [first.certificate, second.certificate]);
  await refresh();
  assert.deepEqual(await trusted("pid"), ["First by eu_list", "Second by eu_list"]);
  assert.match(await status(), /pid=https:.*\n.*edition of 2026-02-01/);
  served.body = await writeLote(publisher, "2026-02-10T00:00:00Z", [first.certificate, third.certificate]);
  await refresh();
  const all = ["First by eu_list", "Second by eu_list", "Third by eu_list"];
  assert.deepEqual(await trusted("pid"), all);
  assert.match(await newestMail(), /lacks 1 authorities.*Second.*assay trust keep [0-9a-f]{16}/s);
  await refresh(24 * 6);
  assert.deepEqual(await trusted("pid"), all);
  await refresh(24);
  assert.deepEqual(await trusted("pid"), ["First by eu_list", "Third by eu_list"]);
  assert.match(await log(), /removal_carried_out {2}pid=https.*1 authorities/);

  served.body = await writeLote(publisher, "2026-02-20T00:00:00Z", [first.certificate]);
  await refresh();
  const held = /assay trust keep ([0-9a-f]{16})/.exec(await newestMail())?.[1] ?? assert.fail();
  assert.equal(await keepTrustImport(core.db, held, clock.now(), () => {}), 0);
  await refresh(24 * 8);
  assert.deepEqual(await trusted("pid"), ["First by eu_list", "Third by eu_list"]);
});

test("a source that lies or fails changes nothing, says why, and is forgiven when it mends", async () => {
  const { served, refresh, trusted, status } = await follow();
  served.body = await writeLote(publisher, "2026-02-10T00:00:00Z", [first.certificate]);
  await refresh();
  const both = [first.certificate, second.certificate];
  const lies: [string | number, RegExp][] = [
    [
      await writeLote(publisher, "2026-02-01T00:00:00Z", both),
      /signed at 2026-02-01.*before the current edition/,
    ],
    [await writeLote(stranger, "2026-02-20T00:00:00Z", both), /now: /],
    [pem(...both), /now: certificate 1: its fingerprint is not pinned/],
    ["<html>Sign in</html>", /neither a list of trusted entities/],
    [500, /status 500/],
  ];
  for (const [body, reason] of lies) {
    served.body = body;
    await refresh(30);
    assert.deepEqual(await trusted("pid"), ["First by eu_list"], String(reason));
    assert.match(await status(), reason);
  }
  served.body = await writeLote(publisher, "2026-02-20T00:00:00Z", both);
  await refresh(30);
  assert.deepEqual(await trusted("pid"), ["First by eu_list", "Second by eu_list"]);
});

test("what becomes stale, and a certificate that ends, are in /metrics and on the operator's list", async () => {
  const service = await follow();
  const { served, refresh, runJob, api } = service;
  served.body = await writeLote(
    publisher,
    "2026-02-01T00:00:00Z",
    [first.certificate],
    "2026-03-02T00:00:00Z",
  );
  await refresh();
  const overdue = async () => {
    await runJob("show-wallet");
    const { text } = await api.call("GET", "/metrics", { headers: { authorization: "Bearer let me see" } });
    return Number(/^assay_wallet_list_overdue_seconds\{purpose="pid"\} (\d+)$/m.exec(text)?.[1]);
  };
  assert.equal(await overdue(), 0);
  service.clock.set(new Date("2026-03-03T00:00:00Z"));
  assert.equal(await overdue(), 86_400);
});
