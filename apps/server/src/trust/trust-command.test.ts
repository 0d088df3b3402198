import assert from "node:assert/strict";
import { mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { toBase64 } from "@assay/emrtd/base64";
import { toHex } from "@assay/emrtd/bytes";
import { readSignedData } from "@assay/emrtd/cms/signed-data";
import { createNodeSignatureChecker } from "@assay/emrtd/node/signature-checker";
import { signMasterList } from "@assay/emrtd/node/test-country/sign-message";
import { signerProfile } from "@assay/emrtd/node/test-country/signer-profiles";
import { createTestCountry } from "@assay/emrtd/node/test-country/test-country";
import { auditTrustFolder, importTrustFile, listTrust } from "./trust-command.ts";
import { openTrustFolder, saveTrustRecord, trustFolderPath } from "./trust-folder.ts";

const today = new Date("2026-05-05T00:00:00Z");
const country = createTestCountry("trust command", today);

function authority(id: "brainpool" | "nist" | "rsa"): Uint8Array {
  const certificate = country.authorityCertificates.get(id);
  assert.ok(certificate);
  return certificate;
}

function pem(label: string, bytes: Uint8Array): string {
  return `-----BEGIN ${label}-----\n${toBase64(bytes).replace(/.{64}/g, "$&\n")}\n-----END ${label}-----\n`;
}

async function setUp(context: TestContext) {
  const dataDir = await mkdtemp(join(tmpdir(), "trust-"));
  context.after(() => rm(dataDir, { recursive: true }));
  const folder = trustFolderPath(dataDir);
  const lines: string[] = [];
  const print = (line: string) => lines.push(line);
  const write = async (name: string, content: Uint8Array | string) => {
    await writeFile(join(dataDir, name), content);
    return join(dataDir, name);
  };
  const bring = async (
    name: string,
    content: Uint8Array | string,
    roots: readonly string[] = [],
    pins: readonly string[] = [],
  ) =>
    importTrustFile(
      { folder, file: await write(name, content), rootFiles: roots, pinnedSha256: pins, now: today },
      print,
    );
  return { folder, lines, print, write, bring };
}

test("a master list is imported when a given root vouches for its signer, and refused otherwise", async (context) => {
  const { folder, lines, write, bring } = await setUp(context);
  assert.equal(await bring("list.ml", country.masterList()), 1);
  assert.match(lines.join("\n"), /No trusted root vouches/);
  assert.deepEqual(await readdir(folder).catch(() => []), []);

  const root = await write("root.pem", pem("CERTIFICATE", authority("brainpool")));
  assert.equal(await bring("list.ml", country.masterList(), [root]), 0);
  assert.match(lines.at(-1) ?? "", /Imported 5 certificates .* signed by C=UT/);
});

test("a root that is already trusted, or a pinned fingerprint, vouches as well", async (context) => {
  const { bring } = await setUp(context);
  const checker = createNodeSignatureChecker();
  const other = createTestCountry("another", today);
  assert.equal(await bring("root.cer", authority("brainpool")), 0);
  assert.equal(await bring("list.ml", country.masterList()), 0);
  assert.equal(await bring("other.ml", other.masterList()), 1);
  const [signer = new Uint8Array()] = readSignedData(other.masterList(), {
    maxBytes: 1_000_000,
  }).certificates;
  const pin = toHex(checker.hash("SHA-256", signer));
  assert.equal(await bring("other.ml", other.masterList(), [], [pin]), 0);
  assert.equal(await bring("other.ml", other.masterList(), [], ["abc"]), 1, "a pin must be a fingerprint");
});

test("a new edition of a list needs no root, and an authority that a list names cannot bring a list of its own", async (context) => {
  const { write, bring } = await setUp(context);
  const root = await write("root.cer", authority("brainpool"));
  assert.equal(await bring("list.ml", country.masterList(), [root]), 0);
  assert.equal(await bring("next.ml", country.masterList()), 0);

  // A foreign list, vouched for by a pin, names the authority of the test country; that alone must not let it vouch.
  const { bring: bringOther } = await setUp(context);
  const foreign = createTestCountry("foreign", today);
  const options = { signedAt: country.signedAt, identifySignerBy: "subject_key_id" } as const;
  const list = signMasterList([authority("brainpool")], foreign.masterListSigner(), options);
  const pin = toHex(createNodeSignatureChecker().hash("SHA-256", foreign.masterListSigner().certificate));
  assert.equal(await bringOther("foreign.ml", list, [], [pin]), 0);
  assert.equal(await bringOther("list.ml", country.masterList()), 1);
});

test("an import made twice is there once, and its file is readable by its owner alone", async (context) => {
  const { folder, bring } = await setUp(context);
  await bring("root.cer", authority("rsa"));
  await bring("root.cer", authority("rsa"));
  const names = await readdir(folder);
  assert.equal(names.length, 1);
  assert.equal((await stat(join(folder, names[0] ?? ""))).mode & 0o777, 0o600);
});

test("what cannot be trusted is left out, with the reason, and the rest is imported", async (context) => {
  const { lines, bring } = await setUp(context);
  const spoilt = authority("rsa").slice();
  spoilt[spoilt.length - 1] = (spoilt.at(-1) ?? 0) ^ 1;
  const content =
    pem("CERTIFICATE", authority("nist")) +
    pem("CERTIFICATE", spoilt) +
    pem("X509 CRL", country.revocationLists[0] ?? new Uint8Array());
  assert.equal(await bring("mixed.pem", content), 0);
  assert.match(lines.join("\n"), /Left out block 2: The signature of .* does not hold/);
  assert.match(lines.at(-1) ?? "", /Imported 1 certificates and 1 revocation lists/);
});

test("a long list of what was left out is cut short", async (context) => {
  const { lines, bring } = await setUp(context);
  const { certificate } = country.documentSigner(signerProfile("secp256r1-sha256-named"));
  assert.equal(await bring("signers.pem", pem("CERTIFICATE", certificate).repeat(30)), 1);
  assert.equal(lines.length, 21);
  assert.match(lines[0] ?? "", /block 1: .* is not a signing authority/);
  assert.equal(lines.at(-1), "Left out 10 more.");
});

test("a file with nothing in it says so", async (context) => {
  const { lines, bring } = await setUp(context);
  assert.equal(await bring("notes.txt", "nothing here"), 1);
  assert.match(lines.join("\n"), /holds no master list, certificate or revocation list/);
});

test("list shows each authority with the reason it is trusted for", async (context) => {
  const { folder, lines, print, bring } = await setUp(context);
  assert.equal(await listTrust({ folder }, print), 0);
  assert.match(lines.join("\n"), /Nothing is trusted/);
  await bring("root.cer", authority("brainpool"));
  await bring("link.cer", country.linkCertificate);
  lines.length = 0;
  await listTrust({ folder, country: "ut" }, print);
  assert.match(lines.join("\n"), /CSCA Utopia brainpool\n.*imported by the operator; from root.cer/);
  assert.match(lines.join("\n"), /CSCA Utopia nist\n.*linked from [0-9a-f]{64}/);
});

test("audit names expired authorities, links without a parent, and revocation lists that are missing or stale", async (context) => {
  const { folder, lines, print, bring } = await setUp(context);
  assert.equal(await auditTrustFolder({ folder, now: today }, print), 1, "an empty store is a finding");
  await bring("link.cer", country.linkCertificate);
  await bring("rsa.cer", authority("rsa"));
  await bring("rsa.crl", country.revocationLists[0] ?? new Uint8Array());
  lines.length = 0;
  assert.equal(await auditTrustFolder({ folder, now: today }, print), 0);
  const text = lines.join("\n");
  assert.match(text, /UT {2}2 authorities, 1 valid now; revocation list fresh of 2026-01-01/);
  assert.match(text, /Without parent \(not trusted\): 1/);
  assert.match(text, /Expired: none/);
  lines.length = 0;
  await auditTrustFolder({ folder, now: new Date("2060-01-01T00:00:00Z") }, print);
  assert.match(lines.join("\n"), /Expired: 2/);
  assert.match(lines.join("\n"), /revocation list stale/);
});

test("a revocation list that is refused, or counts for nothing, is named with the reason", async (context) => {
  const { folder, lines, print, bring } = await setUp(context);
  const [list = new Uint8Array()] = country.revocationLists;
  const [future = new Uint8Array()] = createTestCountry(
    "trust command",
    new Date("2028-01-01"),
  ).revocationLists;
  assert.equal(await bring("future.crl", future), 1);
  assert.match(
    lines.join("\n"),
    /Left out the file: The revocation list of C=UT.* dated in the future, 2028-01-01/,
  );
  lines.length = 0;
  assert.equal(await bring("early.crl", list), 0);
  assert.match(
    lines.join("\n"),
    /Without effect: the revocation list of C=UT.* rsa, 2026-01-01, from early.crl: No trusted authority of its name/,
  );
  lines.length = 0;
  await auditTrustFolder({ folder, now: today }, print);
  assert.match(
    lines.join("\n"),
    /Revocation lists without effect: 1\n.*from early.crl: No trusted authority/,
  );
  lines.length = 0;
  await bring("rsa.cer", authority("rsa"));
  assert.equal(await bring("again.crl", list), 0);
  assert.doesNotMatch(lines.join("\n"), /Without effect/);
  lines.length = 0;
  await auditTrustFolder({ folder, now: today }, print);
  assert.match(lines.join("\n"), /Revocation lists without effect: none/);
  lines.length = 0;
  await auditTrustFolder({ folder, now: new Date("2025-12-01T00:00:00Z") }, print);
  assert.match(lines.join("\n"), /from again.crl: It is dated in the future/);
});

test("a list in the folder that cannot be used is named, and takes nothing else away", async (context) => {
  const { folder, lines, print, bring } = await setUp(context);
  await bring("rsa.cer", authority("rsa"));
  const source = {
    type: "der",
    label: "old.crl",
    sha256: "00",
    importedAt: today.toISOString(),
    signedBy: null,
  } as const;
  await saveTrustRecord(folder, { source, certificates: [], revocationLists: [Uint8Array.of(0x30, 0)] }, 0);
  const trust = openTrustFolder(folder, createNodeSignatureChecker(), assert.fail);
  assert.equal((await trust.current()).authorities.length, 1);
  lines.length = 0;
  assert.equal(await auditTrustFolder({ folder, now: today }, print), 0);
  assert.match(lines.join("\n"), /Revocation lists without effect: 1\n.*the revocation list, from old.crl: /);
});

test("a running service follows the folder, and keeps its last good store when a file is broken", async (context) => {
  const { folder, bring } = await setUp(context);
  const problems: Error[] = [];
  const trust = openTrustFolder(folder, createNodeSignatureChecker(), (error) => problems.push(error));
  assert.equal((await trust.current()).isEmpty, true);
  await bring("root.cer", authority("rsa"));
  const loaded = await trust.current();
  assert.equal(loaded.authorities.length, 1);
  assert.equal(await trust.current(), loaded, "an unchanged folder is not read again");
  await writeFile(join(folder, `zzz.trust.json`), "{");
  assert.equal(await trust.current(), loaded);
  assert.equal(await trust.current(), loaded);
  assert.equal(problems.length, 1);
  assert.match(problems[0]?.message ?? "", /zzz\.trust\.json cannot be used/);
  await rm(join(folder, `zzz.trust.json`));
  await bring("second.cer", authority("nist"));
  assert.equal((await trust.current()).authorities.length, 2);
  await assert.rejects(async () => {
    await writeFile(join(folder, `zzz.trust.json`), "{");
    await openTrustFolder(folder, createNodeSignatureChecker(), () => undefined).current();
  }, /cannot be used/);
});
