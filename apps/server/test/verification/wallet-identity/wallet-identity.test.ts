import "reflect-metadata";
import assert from "node:assert/strict";
import { createHash, createPrivateKey, X509Certificate } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after } from "node:test";
import { Pkcs10CertificateRequest } from "@peculiar/x509";
import type { CryptoKey } from "jose";
import { makeCertificate } from "../../../../../packages/credential/test/support/make-certificate.ts";
import { judge } from "../../../src/operations/operator/judge-concerns.ts";
import { openDb } from "../../../src/platform/db/db.ts";
import { sql } from "../../../src/platform/db/sql.ts";
import { dayMs } from "../../../src/platform/kernel/clock.ts";
import { KeyRing, parseRing } from "../../../src/platform/lib/key-ring.ts";
import {
  currentWalletIdentity,
  walletIdentityByClientId,
} from "../../../src/verification/wallet-identity/current-identity.ts";
import { summarizeWallet } from "../../../src/verification/wallet-identity/summarize-wallet.ts";
import { assay, assayHere } from "../../support/process.ts";
import { startTestService } from "../../support/service.ts";
import { testRing } from "../../support/test-ring.ts";
import { certify, pem, registration, trustWalletAuthority } from "../../support/wallet-authority.ts";

const folder = mkdtempSync(join(tmpdir(), "assay-identity-"));
after(() => rmSync(folder, { recursive: true }));

const validity = { notBefore: new Date("2026-01-01T00:00:00Z"), notAfter: new Date("2036-01-01T00:00:00Z") };
const root = await makeCertificate({ subject: "CN=Access Root", ...validity });
const authority = await makeCertificate({
  subject: "CN=Access Authority",
  ...validity,
  issuer: root,
  isAuthority: true,
});

function write(name: string, content: string): string {
  writeFileSync(join(folder, name), content);
  return join(folder, name);
}

async function start() {
  const service = await startTestService({ env: { PUBLIC_URL: "https://verify.example.org" } });
  const env = {
    DATABASE_URL: service.databaseUrl,
    SECRET_KEYS: testRing,
    PUBLIC_URL: "https://verify.example.org",
    DATA_DIR: service.dataDir,
  };
  const wallet = async (...args: readonly string[]) => {
    const { code, stdout, stderr } = await assayHere(["wallet", ...args], env);
    return { code, text: stdout + stderr };
  };
  const newIdentity = async (name: string) => {
    const out = join(folder, name);
    const made = await wallet(
      "identity",
      "new",
      ...["--name", "Example GmbH", "--identifier", "VATDE-123456789", "--country", "de", "--out", out],
    );
    assert.equal(made.code, 0, made.text);
    return { out, id: /identity (\S+)\./.exec(made.text)?.[1] ?? assert.fail(made.text) };
  };
  return { ...service, env, wallet, newIdentity };
}

async function signsFor(identity: { privateKey: CryptoKey; chain: readonly Uint8Array[] } | null) {
  assert.ok(identity);
  const algorithm = { name: "ECDSA", hash: "SHA-256" };
  const data = Buffer.from("a request");
  const signature = await crypto.subtle.sign(algorithm, identity.privateKey, data);
  const leaf = new X509Certificate(identity.chain[0] ?? new Uint8Array());
  const spki = leaf.publicKey.export({ type: "spki", format: "der" });
  const key = await crypto.subtle.importKey("spki", spki, { name: "ECDSA", namedCurve: "P-256" }, false, [
    "verify",
  ]);
  return crypto.subtle.verify(algorithm, key, signature, data);
}

test("a key is made, its certificate imported and retired; a second one lives beside it meanwhile", async () => {
  const { core, wallet, newIdentity } = await start();
  assert.equal(await currentWalletIdentity(core, "live"), null);
  const first = await newIdentity("first.pem");
  const request = new Pkcs10CertificateRequest(readFileSync(first.out, "utf8"));
  assert.match(request.subject, /C=DE, O=Example GmbH, 2\.5\.4\.97=VATDE-123456789, CN=Example GmbH/);
  assert.equal(await currentWalletIdentity(core, "live"), null, "it waits for its certificate");

  const leaf = await certify(authority, first.out, 90);
  const chain = write("chain.pem", pem(leaf.certificate, authority.certificate, root.certificate));
  const imported = await wallet("identity", "import", chain);
  assert.equal(imported.code, 0, imported.text);
  assert.match(imported.text, /self-signed root was left out/);
  const current = await currentWalletIdentity(core, "live");
  const hash = createHash("sha256").update(leaf.certificate).digest("base64url");
  assert.equal(current?.clientId, `x509_hash:${hash}`);
  assert.deepEqual(
    current?.chain.map((der) => new X509Certificate(der).subject),
    [new X509Certificate(leaf.certificate).subject, "CN=Access Authority"],
  );
  assert.ok(await signsFor(current));
  assert.match((await wallet("identity", "import", chain)).text, /imported already/);

  const jwt = registration({ sub: "VATDE-123456789", exp: Math.floor(Date.now() / 1000) + 86_400 });
  assert.equal((await wallet("registration", "import", write("rc.jwt", `${jwt}\n`))).code, 0);
  assert.deepEqual((await currentWalletIdentity(core, "live"))?.registration, [jwt]);

  const second = await newIdentity("second.pem");
  const renewed = await certify(authority, second.out, 365);
  await wallet("identity", "import", write("renewed.pem", pem(renewed.certificate, authority.certificate)));
  const after = await currentWalletIdentity(core, "live");
  assert.equal(after?.id, second.id);
  assert.deepEqual(after?.registration, [jwt], "it has the same owner, so it keeps the registration");
  const listed = (await wallet("identity", "list", "--json")).text.trim().split("\n");
  assert.deepEqual(
    listed.map((line) => JSON.parse(line)).map(({ id, state }) => [id, state]),
    [
      [first.id, "side by side"],
      [second.id, "in use"],
    ],
  );
  assert.equal((await wallet("identity", "retire", first.id)).code, 0);
  assert.equal((await wallet("identity", "retire", first.id)).code, 1);
  assert.ok(
    await signsFor(await walletIdentityByClientId(core, current?.clientId ?? "")),
    "requests of the retired one are still served",
  );
  assert.match((await wallet("identity", "retire", second.id)).text, /No identity is left/);
  assert.equal(await currentWalletIdentity(core, "live"), null);
});

test("a certificate renewed for the same key is a second identity beside the first", async () => {
  const { core, wallet, newIdentity } = await start();
  const { out } = await newIdentity("same-key.pem");
  for (const days of [30, 60]) {
    const leaf = await certify(authority, out, days);
    const file = write(`same-${days}.pem`, pem(leaf.certificate, authority.certificate));
    assert.equal((await wallet("identity", "import", file)).code, 0);
    const current = await currentWalletIdentity(core, "live");
    assert.deepEqual(current?.chain[0], leaf.certificate);
    assert.ok(await signsFor(current));
  }
  assert.equal((await wallet("identity", "list", "--json")).text.trim().split("\n").length, 2);
});

test("a chain that wallets would refuse is refused, with the reason", async () => {
  const { core, wallet, newIdentity } = await start();
  const { out } = await newIdentity("refused.pem");
  const leaf = await certify(authority, out, 90);
  const over = await certify(authority, out, -0.5);
  const stranger = await makeCertificate({ subject: "CN=Stranger", ...validity, issuer: authority });
  const wide = await makeCertificate({
    subject: "CN=P-384",
    ...validity,
    issuer: authority,
    algorithm: "ES384",
  });
  const refusals: [string, RegExp][] = [
    [pem(root.certificate), /self-signed/],
    [pem(authority.certificate, root.certificate), /is an authority's/],
    [pem(leaf.certificate, root.certificate), /Certificate 2 did not issue certificate 1/],
    [pem(over.certificate, authority.certificate), /The chain ended/],
    [pem(wide.certificate, authority.certificate), /not on P-256/],
    [pem(stranger.certificate, authority.certificate), /no identity has the key/],
    ["nothing", /no certificate/],
  ];
  for (const [content, reason] of refusals) {
    const { code, text } = await wallet("identity", "import", write("bad.pem", content));
    assert.equal(code, 1, String(reason));
    assert.match(text, reason);
  }
  assert.equal(await currentWalletIdentity(core, "live"), null);
});

test("a registration certificate is checked for its form and time, and one of another owner is named", async () => {
  const { core, wallet, newIdentity } = await start();
  const importJwt = (jwt: string) => wallet("registration", "import", write("registration.jwt", jwt));
  const soon = Math.floor(Date.now() / 1000) + 86_400;
  const good = registration({ sub: "VATDE-123456789", exp: soon });
  assert.match((await importJwt(good)).text, /no identity is in use/);
  const { out } = await newIdentity("registered.pem");
  const leaf = await certify(authority, out, 90);
  await wallet("identity", "import", write("registered-chain.pem", pem(leaf.certificate)));
  for (const [jwt, reason] of [
    ["no jwt", /no registration certificate/],
    [registration({ sub: "VATDE-123456789" }, "JWT"), /no registration certificate/],
    [registration({ sub: "VATDE-123456789", exp: 1000 }), /expired/],
  ] as const) {
    const { code, text } = await importJwt(jwt);
    assert.equal(code, 1);
    assert.match(text, reason);
  }
  const byIntermediary = registration({
    sub: "LEIXG-9",
    intermediary: { sub: "VATDE-123456789" },
    exp: soon,
  });
  const foreign = registration({ sub: "VATFR-1", exp: soon });
  assert.doesNotMatch((await importJwt(byIntermediary)).text, /may refuse/);
  assert.match((await importJwt(foreign)).text, /issued to VATFR-1.*VATDE-123456789: wallets may refuse it/);
  assert.deepEqual((await currentWalletIdentity(core, "live"))?.registration, [byIntermediary, foreign]);
});

test("the doctor names what wallets would refuse without saying why", async () => {
  const { core, clock, wallet, newIdentity, env } = await start();
  clock.set(new Date());
  const config = { ...core.config, wallet: { ...core.config.wallet, methods: ["wallet_pid"] as const } };
  const examine = async () => judge("wallet", await summarizeWallet({ ...core, config }), clock.now());
  assert.match((await examine()).found, /no valid certificate to sign their requests/);
  const { out } = await newIdentity("doctor.pem");
  const leaf = await certify(authority, out, 29);
  await wallet("identity", "import", write("doctor-chain.pem", pem(leaf.certificate, authority.certificate)));
  assert.match((await examine()).found, /offers pid, but no issuer for it is trusted/);
  await trustWalletAuthority({ core, clock }, root.certificate, { purpose: "pid" });
  assert.match((await examine()).found, /certificate that signs requests to wallets ends on/);

  const renewed = await certify(authority, out, 90);
  await wallet(
    "identity",
    "import",
    write("doctor-next.pem", pem(renewed.certificate, authority.certificate)),
  );
  const soon = Math.floor(Date.now() / 1000) + 29 * 86_400;
  const importJwt = (claims: object) =>
    wallet("registration", "import", write("doctor.jwt", registration({ ...claims, exp: soon })));
  await importJwt({ sub: "VATDE-123456789" });
  assert.match((await examine()).found, /registration certificate ends within 30 days/);
  await importJwt({ sub: "VATFR-1" });
  assert.match((await examine()).found, /has another identifier/);
  const setRegistration = (jwt: string) =>
    core.db.run(sql`update wallet_identities set registration = ${[jwt]}::text[]`);
  const claim = [["given_name"], ["family_name"], ["birthdate"]].map((path) => ({ path }));
  const credentials = [{ format: "dc+sd-jwt", meta: { vct_values: ["urn:eudi:pid:1"] }, claim }];
  await setRegistration(registration({ sub: "VATDE-123456789", credentials }));
  assert.match(
    (await examine()).found,
    /does not cover nationality_code for pid, which the preset “Full identity” requires\.$/,
  );
  await setRegistration(registration({ sub: "VATDE-123456789" }));
  assert.match((await examine()).found, /requests are signed until/);
  const moved = { ...config, publicUrl: "https://elsewhere.example.org" };
  assert.match(
    judge("wallet", await summarizeWallet({ ...core, config: moved }), clock.now()).found,
    /does not name the host of PUBLIC_URL/,
  );
  await core.db.run(
    sql`update wallet_identities set chain = chain || ${Buffer.from(root.certificate)}::bytea`,
  );
  assert.match((await examine()).found, /holds a self-signed certificate/);
  const [other, ...rest] = await core.db.rows<{ privateKeySealed: Buffer }>(
    sql`select private_key_sealed from wallet_identities order by made_at`,
  );
  assert.equal(rest.length, 1);
  await core.db.run(
    sql`update wallet_identities set private_key_sealed = ${other?.privateKeySealed ?? null}`,
  );
  const { stdout } = await assay(["doctor", "--json"], { ...env, WALLET_METHODS: "wallet_pid" });
  const { checks } = JSON.parse(stdout) as { checks: { check: string; state: string; found: string }[] };
  const broken = checks.find(({ check }) => check === "Wallets") ?? assert.fail(stdout);
  assert.match(broken.found, /key of the identity in use does not match its certificate/);
  assert.equal(broken.state, "problem");
});

test("processes that need the sandbox's identity at once make one, which live sessions never use", async () => {
  const { core } = await startTestService();
  const made = await Promise.all(Array.from({ length: 8 }, () => currentWalletIdentity(core, "sandbox")));
  assert.equal(new Set(made.map((identity) => identity?.clientId)).size, 1);
  const identity = made[0] ?? assert.fail();
  assert.ok(await signsFor(identity));
  const leaf = new X509Certificate(identity.chain[0] ?? new Uint8Array());
  assert.equal(identity.chain.length, 1, "the anchor is not in the chain");
  assert.ok(!leaf.verify(leaf.publicKey), "the leaf is not self-signed");
  assert.equal(await currentWalletIdentity(core, "live"), null);
});

test("keys of identities are sealed, and a rotation moves them to the new key of the ring", async () => {
  const { core, service, databaseUrl, dataDir } = await startTestService();
  const before = await currentWalletIdentity(core, "sandbox");
  const { privateKeySealed } = await core.db.one<{ privateKeySealed: Buffer }>(
    sql`select private_key_sealed from wallet_identities`,
  );
  assert.throws(() => createPrivateKey({ key: privateKeySealed, format: "der", type: "pkcs8" }));
  await service.close();
  const newKey = `9:${Buffer.alloc(32, 9).toString("base64")}`;
  const env = { DATABASE_URL: databaseUrl, SECRET_KEYS: `${newKey},${testRing}`, DATA_DIR: dataDir };
  const rotated = await assay(["keys", "rotate"], env);
  assert.equal(rotated.code, 0, rotated.stdout + rotated.stderr);
  const db = openDb({ url: databaseUrl, poolSize: 1, onError: () => {} });
  const ring = new KeyRing(parseRing(newKey));
  const after = await currentWalletIdentity({ ...core, db, ring }, "sandbox");
  assert.equal(after?.clientId, before?.clientId);
  assert.ok(await signsFor(after));
  await db.close();
});

test("the key of a retired identity is deleted after a day", async () => {
  const { core, clock, runJob } = await startTestService();
  await currentWalletIdentity(core, "sandbox");
  const count = async () => (await core.db.rows(sql`select id from wallet_identities`)).length;
  await core.db.run(sql`update wallet_identities set retired_at = ${clock.now()}`);
  clock.advance(dayMs - 1);
  await runJob("purge-wallet-identities");
  assert.equal(await count(), 1);
  clock.advance(1);
  await runJob("purge-wallet-identities");
  assert.equal(await count(), 0);
});
