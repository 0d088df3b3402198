import assert from "node:assert/strict";
import { access, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
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
import { serialiseTrustRecord, type TrustRecord } from "@assay/emrtd/trust/trust-record";
import { TrustStore } from "@assay/emrtd/trust/trust-store";
import { parsePolicy } from "@assay/emrtd/verify/parse-policy";
import { defaultPolicy, policySwitches } from "@assay/emrtd/verify/policy";
import { openDb } from "../../../src/platform/db/db.ts";
import { sql } from "../../../src/platform/db/sql.ts";
import { CurrentTrust } from "../../../src/verification/trust/current-trust.ts";
import { summarizeTrust } from "../../../src/verification/trust/summarize-trust.ts";
import { takeOverTrustFolder } from "../../../src/verification/trust/take-over-folder.ts";
import {
  changeTrust,
  insertImport,
  listTrustActs,
  readTrust,
} from "../../../src/verification/trust/trust.store.ts";
import {
  importTrustFile,
  keepTrustImport,
  listTrust,
  listTrustImports,
  printTrustAudit,
  printTrustLog,
  printTrustStatus,
  refreshTrustNow,
  removeTrustImport,
} from "../../../src/verification/trust/trust-command.ts";
import { TrustReader } from "../../../src/verification/trust/trust-reader.ts";
import { unpackTrust } from "../../../src/verification/trust/trust-snapshot.ts";
import { createTestDatabase } from "../../support/database.ts";

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
  const database = await createTestDatabase();
  const db = openDb({ url: database.url, poolSize: 4, onError: () => {} });
  context.after(async () => {
    await db.close();
    await database.drop();
    await rm(dataDir, { recursive: true });
  });
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
      db,
      { file: await write(name, content), rootFiles: roots, pinnedSha256: pins, now: today },
      print,
    );
  return { db, dataDir, lines, print, write, bring };
}

test("a master list is imported when a given root vouches for its signer, and refused otherwise", async (context) => {
  const { db, lines, write, bring } = await setUp(context);
  assert.equal(await bring("list.ml", country.masterList()), 1);
  assert.match(lines.join("\n"), /No trusted root vouches/);
  assert.deepEqual(await readTrust(db), { version: 0, records: [] });

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

test("a new edition of a list needs no root, and an authority that a list only names cannot sign another list", async (context) => {
  const { write, bring } = await setUp(context);
  const root = await write("root.cer", authority("brainpool"));
  assert.equal(await bring("list.ml", country.masterList(), [root]), 0);
  assert.equal(await bring("next.ml", country.masterList()), 0);

  // A foreign pinned list names the authority of the test country. That alone must not let it vouch.
  const { bring: bringOther } = await setUp(context);
  const foreign = createTestCountry("foreign", today);
  const options = { signedAt: country.signedAt, identifySignerBy: "subject_key_id" } as const;
  const list = signMasterList([authority("brainpool")], foreign.masterListSigner(), options);
  const pin = toHex(createNodeSignatureChecker().hash("SHA-256", foreign.masterListSigner().certificate));
  assert.equal(await bringOther("foreign.ml", list, [], [pin]), 0);
  assert.equal(await bringOther("list.ml", country.masterList()), 1);
});

test("an import made twice is there once, and the second one changes no version", async (context) => {
  const { db, bring } = await setUp(context);
  await bring("root.cer", authority("rsa"));
  const once = await readTrust(db);
  assert.equal(once.version, 1);
  assert.equal(await bring("copy.cer", authority("rsa")), 0);
  assert.deepEqual(await readTrust(db), once);
});

test("imports made at the same time are there both", async (context) => {
  const { db, bring } = await setUp(context);
  const ids = ["brainpool", "nist", "rsa"] as const;
  await Promise.all(ids.map((id) => bring(`${id}.cer`, authority(id))));
  const { version, records } = await readTrust(db);
  assert.equal(version, 3);
  assert.equal(new TrustStore(records, createNodeSignatureChecker()).authorities.length, 3);
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
  assert.match(lines.join("\n"), /holds no master list, certificate, revocation list or deviation list/);
});

test("list shows each authority with the reason it is trusted for", async (context) => {
  const { db, lines, print, bring } = await setUp(context);
  assert.equal(await listTrust(db, { now: today }, print), 0);
  assert.match(lines.join("\n"), /Nothing is trusted/);
  await bring("root.cer", authority("brainpool"));
  await bring("link.cer", country.linkCertificate);
  lines.length = 0;
  await listTrust(db, { country: "ut", now: today }, print);
  assert.match(lines.join("\n"), /CSCA Utopia brainpool\n.*imported by the operator; from root.cer/);
  assert.match(lines.join("\n"), /CSCA Utopia nist\n.*linked from [0-9a-f]{64}/);
});

test("audit names expired authorities, links without a parent, and revocation lists that are missing or stale", async (context) => {
  const { db, lines, print, bring } = await setUp(context);
  assert.equal(await printTrustAudit(db, defaultPolicy, today, print), 1, "an empty store is a finding");
  await bring("link.cer", country.linkCertificate);
  await bring("rsa.cer", authority("rsa"));
  await bring("rsa.crl", country.revocationLists[0] ?? new Uint8Array());
  lines.length = 0;
  assert.equal(await printTrustAudit(db, defaultPolicy, today, print), 0);
  const text = lines.join("\n");
  assert.match(text, /UT {2}2 authorities, 1 valid now; revocation list fresh of 2026-01-01/);
  assert.match(text, /Without parent \(not trusted\): 1/);
  assert.match(text, /Expired: none/);
  lines.length = 0;
  await printTrustAudit(db, defaultPolicy, new Date("2060-01-01T00:00:00Z"), print);
  assert.match(lines.join("\n"), /Expired: 2/);
  assert.match(lines.join("\n"), /revocation list stale/);
});

test("a revocation list that is refused, or counts for nothing, is named with the reason", async (context) => {
  const { db, lines, print, bring } = await setUp(context);
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
  await printTrustAudit(db, defaultPolicy, today, print);
  assert.match(
    lines.join("\n"),
    /Revocation lists without effect: 1\n.*from early.crl: No trusted authority/,
  );
  lines.length = 0;
  await bring("rsa.cer", authority("rsa"));
  assert.equal(await bring("again.crl", list), 0);
  assert.doesNotMatch(lines.join("\n"), /Without effect/);
  lines.length = 0;
  await printTrustAudit(db, defaultPolicy, today, print);
  assert.match(lines.join("\n"), /Revocation lists without effect: none/);
  lines.length = 0;
  await printTrustAudit(db, defaultPolicy, new Date("2025-12-01T00:00:00Z"), print);
  assert.match(lines.join("\n"), /from early.crl: It is dated in the future/);
});

const oldList: TrustRecord = {
  source: {
    type: "der",
    label: "old.crl",
    sha256: "0".repeat(64),
    importedAt: today.toISOString(),
    signedBy: null,
  },
  certificates: [],
  revocationLists: [Uint8Array.of(0x30, 0)],
};

test("a list that cannot be used is named, and takes nothing else away", async (context) => {
  const { db, lines, print, bring } = await setUp(context);
  await bring("rsa.cer", authority("rsa"));
  await changeTrust(db, today, "command", async (tx) => {
    await insertImport(tx, oldList, 0, "command");
    return [{ act: "imported", subject: "old.crl", detail: "" }];
  });
  const { records } = await readTrust(db);
  assert.equal(new TrustStore(records, createNodeSignatureChecker()).authorities.length, 1);
  lines.length = 0;
  assert.equal(await printTrustAudit(db, defaultPolicy, today, print), 0);
  assert.match(lines.join("\n"), /Revocation lists without effect: 1\n.*the revocation list, from old.crl: /);
});

test("an import can be taken back by the beginning of its fingerprint, and made again", async (context) => {
  const { db, lines, print, bring } = await setUp(context);
  await bring("rsa.cer", authority("rsa"));
  await bring("nist.cer", authority("nist"));
  lines.length = 0;
  await listTrustImports(db, print);
  const sha256 = (lines.find((line) => line.includes("rsa.cer")) ?? "").slice(0, 64);
  assert.equal(await removeTrustImport(db, "", today, print), 1, "nothing is taken back by an empty name");
  assert.equal(await removeTrustImport(db, sha256.slice(0, 7), today, print), 1);
  assert.equal(await removeTrustImport(db, "f".repeat(64), today, print), 1);
  assert.equal((await readTrust(db)).version, 2);
  assert.equal(await removeTrustImport(db, sha256.slice(0, 12).toUpperCase(), today, print), 0);
  assert.deepEqual(
    (await readTrust(db)).records.map(({ source }) => source.label),
    ["nist.cer"],
  );
  assert.equal(await bring("rsa.cer", authority("rsa")), 0);
  assert.equal((await readTrust(db)).records.length, 2);
  lines.length = 0;
  await printTrustLog(db, print);
  assert.match(lines[0] ?? "", /version 4 {2}command {2}imported {2}rsa.cer: 1 certificates/);
  assert.match(lines[1] ?? "", /version 3 {2}command {2}taken_back {2}rsa.cer: the file [0-9a-f]{64}/);
});

test("what a process sees is never older than the change that was made before it asked", async (context) => {
  const { db, bring } = await setUp(context);
  const trust = new CurrentTrust(db);
  const empty = await trust.snapshot();
  assert.deepEqual(unpackTrust(empty), []);
  assert.equal(await trust.snapshot(), empty, "nothing is read again while the version stays");
  for (const [index, id] of (["brainpool", "nist", "rsa"] as const).entries()) {
    const before = trust.snapshot();
    await bring(`${id}.cer`, authority(id));
    const [snapshot] = await Promise.all([trust.snapshot(), before]);
    assert.equal(snapshot.version, index + 1);
    assert.equal(unpackTrust(snapshot).length, index + 1);
  }
});

test("the folder of an older version is taken over once, and what was taken back stays away", async (context) => {
  const { db, dataDir, print, lines } = await setUp(context);
  const folder = join(dataDir, "trust");
  await mkdir(folder);
  const record: TrustRecord = {
    source: { ...oldList.source, label: "rsa.cer", sha256: "a".repeat(64) },
    certificates: [authority("rsa")],
    revocationLists: [],
  };
  const name = `${record.source.sha256}-0.trust.json`;
  await writeFile(join(folder, name), serialiseTrustRecord(record));
  await writeFile(join(folder, "broken.trust.json"), "{");
  await writeFile(join(folder, `${"b".repeat(64)}-0.trust.json`), "{");
  assert.equal(await takeOverTrustFolder(db, dataDir, today, print), 1);
  assert.match(lines.join("\n"), /broken.trust.json cannot be imported: its name/);
  assert.match(lines.join("\n"), /b{64}-0.trust.json cannot be imported: A trust record is not JSON/);
  const { records } = await readTrust(db);
  assert.deepEqual(
    records.map(({ source, certificates }) => ({ source, certificates: certificates.map(toHex) })),
    [{ source: record.source, certificates: [toHex(authority("rsa"))] }],
  );
  await access(join(folder, "taken-over", name));
  assert.ok(!(await readdir(folder)).includes(name));

  // A process that ended before it moved the file repeats this, even after the operator removed the import.
  await removeTrustImport(db, record.source.sha256, today, print);
  await writeFile(join(folder, name), serialiseTrustRecord(record));
  await takeOverTrustFolder(db, dataDir, today, print);
  assert.deepEqual((await readTrust(db)).records, []);
  assert.equal((await listTrustActs(db, 10)).length, 2);
});

test("the audit shows every switch of the policy, its value, and what it is about", async (context) => {
  const { db, lines, print } = await setUp(context);
  await printTrustAudit(db, parsePolicy("sha1=refuse"), today, print);
  const printed = lines.slice(lines.indexOf("How documents are judged (TRUST_POLICY):") + 1);
  assert.deepEqual(
    printed.map((line) => line.trim().split("=")[0]),
    Object.keys(policySwitches),
  );
  const of = (name: string) => printed.find((line) => line.includes(`${name}=`)) ?? "";
  assert.equal(of("sha1"), `    sha1=refuse (not the default, warn)  ${policySwitches.sha1.description}`);
  assert.match(of("revocation_list_missing"), /=warn \(the default\)/);
  assert.match(of("country_mismatch"), /=refuse \(cannot be set\)/);
});

/** What a command prints, and how it ends. */
async function run(work: (print: (line: string) => void) => Promise<number>) {
  const lines: string[] = [];
  return { code: await work((line) => lines.push(line)), lines, text: lines.join("\n") };
}

test("list goes by country and end, says the same to programs, and shows one country where it is asked for one", async (context) => {
  const { db, bring } = await setUp(context);
  const json = { json: true, now: today };
  assert.deepEqual((await run((print) => listTrust(db, json, print))).lines, [], "programs read nothing");
  for (const id of ["rsa", "nist", "brainpool"] as const) await bring(`${id}.cer`, authority(id));
  await bring("twice.pem", pem("CERTIFICATE", authority("rsa")));
  const printed = (await run((print) => listTrust(db, json, print))).lines.map((line) => JSON.parse(line));
  const ofRsa = printed.find(({ sources }) => sources.includes("rsa.cer"));
  assert.deepEqual(
    { ...ofRsa, fingerprint: "", subject: "" },
    {
      ...{ country: "UT", fingerprint: "", until: ofRsa.until, subject: "" },
      ...{ reason: "imported by the operator", sources: ["rsa.cer", "twice.pem"] },
    },
  );
  assert.match(ofRsa.until, /^20\d\d-\d\d-\d\d$/);
  const keys = printed.map(({ country, until, fingerprint }) => `${country} ${until} ${fingerprint}`);
  assert.deepEqual(keys, [...keys].sort());
  const people = (await run((print) => listTrust(db, { now: today }, print))).lines;
  assert.deepEqual(
    people.filter((_, index) => index % 2 === 0).map((line) => line.split("  ")[1]),
    printed.map(({ fingerprint }) => fingerprint),
  );
  assert.ok(people.some((line) => line.endsWith("from rsa.cer, twice.pem")));
  const elsewhere = await run((print) => listTrust(db, { country: "XX", now: today }, print));
  assert.match(elsewhere.text, /^Nothing is trusted/);
});

test("a file that was never imported, or whose name is too short or that of two, is not taken back or kept", async (context) => {
  const { db } = await setUp(context);
  const record = (sha256: string): TrustRecord => ({ ...oldList, source: { ...oldList.source, sha256 } });
  const [one, other] = [`abcdef01${"0".repeat(56)}`, `abcdef01${"1".repeat(56)}`];
  await changeTrust(db, today, "command", async (tx) => {
    for (const sha256 of [one, other]) await insertImport(tx, record(sha256), 0, "command");
    return [{ act: "imported", subject: "", detail: "" }];
  });
  const count = async () => (await readTrust(db)).records.length;
  const remove = (name: string) => run((print) => removeTrustImport(db, name, today, print));
  const ambiguous = await remove("abcdef01");
  assert.deepEqual([ambiguous.code, await count()], [1, 2]);
  assert.match(ambiguous.text, /^2 imported files/);
  for (const name of ["abcdef0", "%abcdef01", `${one}0`, "12345678"]) {
    const { code, text } = await remove(name);
    assert.deepEqual([code, await count()], [1, 2], name);
    assert.match(text, /^No imported file/);
  }
  const keep = (name: string) => run((print) => keepTrustImport(db, name, today, print));
  assert.deepEqual(await keep("12345678").then(({ code }) => code), 1);
  const nothing = await keep(one);
  assert.deepEqual([nothing.code, nothing.text], [1, "No authority of that file is scheduled for removal."]);
  assert.deepEqual(await remove(one.slice(0, 9)), {
    code: 0,
    lines: [`Taken back: ${one}.`],
    text: `Taken back: ${one}.`,
  });
  assert.equal((await readTrust(db)).records[0]?.source.sha256, other);
});

test("imports and the log are printed for people and for programs", async (context) => {
  const { db, bring } = await setUp(context);
  assert.equal((await run((print) => listTrustImports(db, print))).text, "Nothing was imported.");
  assert.equal((await run((print) => listTrustImports(db, print, true))).text, "");
  await bring("rsa.cer", authority("rsa"));
  const sha256 = (await readTrust(db)).records[0]?.source.sha256;
  const detail = "1 certificates and 0 revocation lists";
  const imports = await run((print) => listTrustImports(db, print));
  assert.equal(imports.text, `${sha256}  2026-05-05  rsa.cer: ${detail}`);
  const forPrograms = await run((print) => listTrustImports(db, print, true));
  assert.deepEqual(JSON.parse(forPrograms.text), {
    ...{ sha256, imported_at: "2026-05-05T00:00:00.000Z", label: "rsa.cer", detail },
  });
  const log = await run((print) => printTrustLog(db, print, true));
  assert.deepEqual(JSON.parse(log.text), {
    ...{ at: today.toISOString(), version: 1, actor: "command", act: "imported", subject: "rsa.cer", detail },
  });
});

test("a pin may have colons and capitals, and a root may be one certificate or stand among others in a file", async (context) => {
  const { bring, lines, write } = await setUp(context);
  const fingerprint = toHex(
    createNodeSignatureChecker().hash("SHA-256", country.masterListSigner().certificate),
  );
  for (const wrong of ["", fingerprint.slice(1), `${fingerprint}0`, `g${fingerprint.slice(1)}`]) {
    lines.length = 0;
    assert.equal(await bring("list.ml", country.masterList(), [], [fingerprint, wrong]), 1);
    assert.match(lines.join("\n"), /^A pin must be/);
  }
  const written = (fingerprint.toUpperCase().match(/../g) ?? []).join(":");
  assert.equal(await bring("list.ml", country.masterList(), [], [written]), 0);
  const { bring: bringElsewhere } = await setUp(context);
  const several = await write(
    "roots.pem",
    pem("X509 CRL", country.revocationLists[0] ?? new Uint8Array()) +
      pem("CERTIFICATE", authority("rsa")) +
      pem("CERTIFICATE", authority("brainpool")),
  );
  assert.equal(await bringElsewhere("list.ml", country.masterList(), [several]), 0);
});

test("status says how long ago a source answered, what it brought and what is wrong with it now", async (context) => {
  const { db, bring } = await setUp(context);
  const status = (now = today) => run((print) => printTrustStatus(db, now, print));
  const empty = await status();
  assert.equal(empty.code, 1);
  assert.match(empty.text, /^Trusted: 0 authorities of 0 countries \(version 0\)\./);
  assert.match(empty.text, /\nSources: none is followed .*\nNothing is trusted: no live document/);
  assert.doesNotMatch(empty.text, /Deviation|cannot be read|revoked since|To be removed/);
  await bring("rsa.cer", authority("rsa"));
  await db.run(sql`
    insert into trust_sources (address, due_at) values ('https://a.example/', ${today}), ('https://b.example/', ${today})`);
  const fresh = await status();
  assert.equal(fresh.code, 0);
  assert.match(fresh.text, /fresh for 0 countries, stale for 0, missing for 1\./);
  assert.match(
    fresh.text,
    /\nSources:\n {4}https:\/\/a\.example\/\n {8}nothing yet, last asked with success never\n/,
  );
  await db.run(sql`
    update trust_sources set succeeded_at = ${today}, edition_at = ${today}, problem = 'It is late' where address like '%a.example%'`);
  for (const [minutes, ago] of [
    [0, "within the hour"],
    [59, "within the hour"],
    [60, "1 hours ago"],
    [47 * 60 + 59, "47 hours ago"],
    [48 * 60, "2 days ago"],
    [71 * 60, "2 days ago"],
  ] as const) {
    const { text } = await status(new Date(today.getTime() + minutes * 60_000));
    assert.match(
      text,
      new RegExp(`edition of 2026-05-05, last asked with success ${ago}; now: It is late\\n`),
    );
  }
});

test("to refresh makes every source due now, and none that is due already later", async (context) => {
  const { db } = await setUp(context);
  const none = await run((print) => refreshTrustNow(db, today, print));
  assert.equal(none.code, 1);
  assert.match(none.text, /^No source is followed/);
  const [earlier, later] = [-1, 1].map((hours) => new Date(today.getTime() + hours * 3_600_000));
  await db.run(
    sql`insert into trust_sources (address, due_at) values ('https://a/', ${earlier}), ('https://b/', ${later})`,
  );
  const some = await run((print) => refreshTrustNow(db, today, print));
  assert.equal(some.code, 0);
  assert.match(some.text, /^2 sources will be asked/);
  const rows = await db.rows<{ dueAt: Date }>(sql`select due_at from trust_sources order by address`);
  assert.deepEqual(
    rows.map(({ dueAt }) => dueAt),
    [earlier, today],
  );
});

test("an authority whose time has not come is named, and one that has is not", async (context) => {
  const { db, bring } = await setUp(context);
  await bring("rsa.cer", authority("rsa"));
  const audit = (now: Date) => run((print) => printTrustAudit(db, defaultPolicy, now, print));
  assert.match((await audit(today)).text, /\nNot yet valid: none\n/);
  assert.match(
    (await audit(new Date("2000-01-01T00:00:00Z"))).text,
    /\nNot yet valid: 1\n {4}[0-9a-f]{64} {2}.*CSCA Utopia rsa\n/,
  );
});

test("a folder that is not there is nothing to take over, and other files in it stay", async (context) => {
  const { db, dataDir, print, lines } = await setUp(context);
  assert.equal(await takeOverTrustFolder(db, dataDir, today, print), 0);
  const folder = join(dataDir, "trust");
  await mkdir(folder);
  for (const name of [".hidden.trust.json", "notes.txt"]) await writeFile(join(folder, name), "{");
  assert.equal(await takeOverTrustFolder(db, dataDir, today, print), 0);
  assert.deepEqual([lines, (await readdir(folder)).sort()], [[], [".hidden.trust.json", "notes.txt"]]);
  const source = { ...oldList.source, sha256: "c".repeat(64) };
  for (const [part, id] of [
    [0, "rsa"],
    [12, "nist"],
  ] as const)
    await writeFile(
      join(folder, `${source.sha256}-${part}.trust.json`),
      serialiseTrustRecord({ source, certificates: [authority(id)], revocationLists: [] }),
    );
  assert.equal(await takeOverTrustFolder(db, dataDir, today, print), 2);
  assert.equal((await readTrust(db)).records.length, 2);
  await rm(folder, { recursive: true });
  await writeFile(folder, "a file in its place");
  await assert.rejects(takeOverTrustFolder(db, dataDir, today, print), { code: "ENOTDIR" });
});

test("the operator's page gets figures, and addresses without what opens them", async (context) => {
  const { db, bring } = await setUp(context);
  const reader = new TrustReader();
  context.after(() => reader.close());
  const clock = { now: () => today };
  const summary = () => summarizeTrust({ db, clock }, new CurrentTrust(db), reader);
  const empty = await summary();
  assert.deepEqual([empty.version, empty.countries, empty.authorities, empty.heldRemovals], [0, 0, 0, 0]);
  await bring("rsa.cer", authority("rsa"));
  await bring("link.cer", country.linkCertificate);
  await bring("rsa.crl", country.revocationLists[0] ?? new Uint8Array());
  await db.run(sql`
    insert into trust_sources (address, due_at, failures, problem, edition_at, succeeded_at)
    values ('https://name:secret@a.example:8443/list.ml?token=secret', ${today}, 3, 'It is late', ${today}, ${today})`);
  await db.run(sql`update trust_imports set retire_at = ${today} where label = 'rsa.crl'`);
  const { revocationLists, ...rest } = await summary();
  assert.deepEqual(rest, {
    ...{ version: 3, changedAt: today, countries: 1, authorities: 2, validAuthorities: 1, heldRemovals: 1 },
    sources: [
      {
        ...{ address: "https://a.example:8443/list.ml", editionAt: today, succeededAt: today },
        ...{ failures: 3, problem: "It is late" },
      },
    ],
  });
  const madeAt = new Date("2026-01-01T00:00:00Z");
  assert.deepEqual(revocationLists, [
    { state: "fresh", countries: 1, oldestListAt: madeAt },
    { state: "stale", countries: 0, oldestListAt: null },
    { state: "missing", countries: 0, oldestListAt: null },
  ]);
});
