import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { checker, flipBit, today, utopia } from "../../test/support/test-country.ts";
import { fromBase64, toBase64 } from "../base64.ts";
import { latin1, toHex, utf8 } from "../bytes.ts";
import { readSignedData } from "../cms/signed-data.ts";
import { isEmrtdError } from "../emrtd-error.ts";
import { issueCertificate } from "../node/test-country/issue-certificate.ts";
import { signMasterList } from "../node/test-country/sign-message.ts";
import { signerProfile } from "../node/test-country/signer-profiles.ts";
import { ecSigningKey } from "../node/test-country/signing-key.ts";
import { createTestCountry } from "../node/test-country/test-country.ts";
import { readCertificate } from "../x509/certificate.ts";
import { auditTrust } from "./audit-trust.ts";
import { importTrust } from "./import-trust.ts";
import { deserialiseTrustRecord, serialiseTrustRecord } from "./trust-record.ts";
import { TrustStore } from "./trust-store.ts";

function authority(id: "rsa" | "rsa_pss" | "nist" | "brainpool"): Uint8Array {
  const certificate = utopia.authorityCertificates.get(id);
  assert.ok(certificate);
  return certificate;
}

const options = {
  label: "test",
  checker,
  roots: [readCertificate(authority("brainpool"))],
  pinnedSha256: [],
  now: today,
};

function bring(bytes: Uint8Array, changes: Partial<typeof options> = {}) {
  return importTrust(bytes, { ...options, ...changes });
}

test("a master list is imported with who signed it", () => {
  const { records, rejected } = bring(utopia.masterList());
  const [record] = records;
  assert.deepEqual(rejected, []);
  assert.equal(record?.certificates.length, 5);
  assert.equal(record?.source.type, "master_list");
  assert.match(record?.source.signedBy?.signer ?? "", /Master List Signer/);
  assert.equal(record?.source.signedBy?.anchorSha256, toHex(checker.hash("SHA-256", authority("brainpool"))));
  assert.equal(
    new TrustStore(records, checker).authorities.every(({ basis }) => basis === "named"),
    true,
  );
});

test("a master list is refused when nobody vouches for its signer, or an impostor does", () => {
  const impostor = createTestCountry("another", today).authorityCertificates.get("brainpool");
  assert.ok(impostor);
  for (const roots of [[], [readCertificate(impostor)]]) {
    const { records, rejected } = bring(utopia.masterList(), { roots });
    assert.deepEqual(records, []);
    assert.match(rejected[0]?.reason ?? "", /No trusted root/);
  }
});

test("a pinned signer needs no root", () => {
  const [signer] = readSignedData(utopia.masterList(), { maxBytes: 1_000_000 }).certificates;
  assert.ok(signer);
  const pin = toHex(checker.hash("SHA-256", signer))
    .toUpperCase()
    .replace(/(..)(?=.)/g, "$1:");
  const changes = { roots: [], pinnedSha256: [pin] as never[] };
  assert.equal(bring(utopia.masterList(), changes).records.length, 1);
});

test("a master list with any bit flipped is refused, or says the same as before", () => {
  const list = utopia.masterList();
  const before = bring(list).records[0]?.certificates.map(toBase64);
  for (let bit = 3; bit < list.length * 8; bit += 509) {
    const { records } = bringOrNothing(flipBit(list, bit));
    for (const { certificates } of records) assert.deepEqual(certificates.map(toBase64), before);
  }
});

function bringOrNothing(bytes: Uint8Array): ReturnType<typeof bring> {
  try {
    return bring(bytes);
  } catch (error) {
    assert.ok(isEmrtdError(error));
    return { records: [], rejected: [] };
  }
}

test("a master list of the future, or signed by a signer of documents, is refused", () => {
  const { rejected } = bring(utopia.masterList(), { now: new Date("2024-01-01T00:00:00Z") });
  assert.match(rejected[0]?.reason ?? "", /signed in the future/);
  const signer = utopia.documentSigner(signerProfile("brainpoolP256r1-sha256-explicit"));
  const list = signMasterList([authority("rsa")], signer, {
    signedAt: utopia.signedAt,
    identifySignerBy: "subject_key_id",
  });
  assert.match(bring(list).rejected[0]?.reason ?? "", /is not for master lists/);
});

test("loose certificates must be authorities and hold together", () => {
  assert.equal(bring(authority("rsa")).records.length, 1);
  const signer = utopia.documentSigner({
    id: "x",
    authority: "nist",
    key: { kind: "ec", curve: "secp256r1", explicitParameters: false },
    scheme: { kind: "ecdsa", hash: "SHA-256" },
    groupHash: "SHA-256",
  }).certificate;
  assert.match(bring(signer).rejected[0]?.reason ?? "", /is not a signing authority/);
  const spoilt = flipBit(authority("rsa"), authority("rsa").length * 8 - 9);
  assert.match(bring(spoilt).rejected[0]?.reason ?? "", /does not hold/);
});

function ldif(entries: readonly (readonly [string, Uint8Array])[]): Uint8Array {
  const fold = (line: string) => line.replace(/(.{76})(?=.)/g, "$1\n ");
  const text = entries.map(
    ([name, bytes]) => `dn: c=UT,dc=data\nobjectClass: top\n${fold(`${name}:: ${toBase64(bytes)}`)}\n`,
  );
  return utf8(`version: 1\n\n${text.join("\n")}`);
}

test("LDIF brings certificates, revocation lists and master lists", () => {
  const [crl] = utopia.revocationLists;
  assert.ok(crl);
  const file = ldif([
    ["cACertificate;binary", authority("rsa")],
    ["certificateRevocationList;binary", crl],
    ["pkdMasterListContent", utopia.masterList()],
    ["userCertificate;binary", utf8("not a certificate")],
  ]);
  const { records, rejected } = bring(file);
  assert.deepEqual(
    records.map(({ source }) => source.type),
    ["master_list", "ldif"],
  );
  assert.equal(records[1]?.certificates.length, 1);
  assert.equal(records[1]?.revocationLists.length, 1);
  assert.match(rejected[0]?.item ?? "", /the value in line \d+/);
});

test("PEM brings several at once, with Windows line ends as well", () => {
  const block = (bytes: Uint8Array) =>
    `-----BEGIN CERTIFICATE-----\r\n${toBase64(bytes)}\r\n-----END CERTIFICATE-----\r\n`;
  const { records } = bring(utf8(`A comment.\r\n${block(authority("rsa"))}${block(authority("nist"))}`));
  assert.equal(records[0]?.certificates.length, 2);
  assert.throws(() => bring(utf8("-----BEGIN CERTIFICATE-----\nAAAA")), /does not end/);
});

test("a link certificate counts once its predecessor is trusted, in whatever order they came", () => {
  const link = bring(utopia.linkCertificate).records;
  const orphan = new TrustStore(link, checker);
  assert.equal(orphan.isEmpty, true);
  assert.equal(auditTrust(orphan, today).withoutParent.length, 1);
  const parent = bring(authority("brainpool")).records;
  for (const records of [
    [...link, ...parent],
    [...parent, ...link],
  ]) {
    const store = new TrustStore(records, checker);
    const linked = store.authorities.find(({ basis }) => basis === "linked");
    assert.equal(linked?.linkedFrom, toHex(checker.hash("SHA-256", authority("brainpool"))));
    assert.equal(auditTrust(store, today).withoutParent.length, 0);
  }
  const forged = flipBit(utopia.linkCertificate, utopia.linkCertificate.length * 8 - 9);
  const withForged = new TrustStore([...parent, ...bring(forged).records], checker);
  assert.deepEqual(
    withForged.authorities.map(({ basis }) => basis),
    ["named", "none"],
  );
});

test("two authorities that vouch for each other are not thereby trusted", () => {
  const side = (label: string) => ({
    name: { country: "UT", organization: "Circle", commonName: label },
    key: ecSigningKey("circle", label, "secp256r1", { explicitParameters: false }),
    scheme: { kind: "ecdsa", hash: "SHA-256" } as const,
  });
  const [left, right] = [side("left"), side("right")];
  const link = (issuer: typeof left, subject: typeof left) =>
    issueCertificate({
      issuer,
      subject: subject.name,
      subjectKey: subject.key,
      serial: Uint8Array.of(1),
      validity: { notBefore: new Date("2020-01-01T00:00:00Z"), notAfter: new Date("2040-01-01T00:00:00Z") },
      use: "authority",
    });
  const records = [...bring(link(left, right)).records, ...bring(link(right, left)).records];
  const store = new TrustStore(records, checker);
  assert.equal(store.authorities.length, 2);
  assert.equal(store.isEmpty, true);
});

test("a revocation list counts only when a trusted authority signed it, and the newest counts", () => {
  const [crl] = utopia.revocationLists;
  assert.ok(crl);
  const alone = new TrustStore(bring(crl).records, checker);
  assert.equal(alone.revocationLists[0]?.issuer, null);
  assert.equal(auditTrust(alone, today).revocationListsWithoutIssuer, 1);
  const older = createTestCountry(utopia.seed, new Date("2025-05-05T00:00:00Z"));
  const [olderCrl] = older.revocationLists;
  assert.ok(olderCrl);
  const records = [...bring(authority("rsa")).records, ...bring(crl).records, ...bring(olderCrl).records];
  for (const order of [records, records.toReversed()]) {
    const store = new TrustStore(order, checker);
    const [rsa] = store.authorities;
    assert.ok(rsa);
    assert.equal(
      store.revocationOf(rsa, today).lists[0]?.thisUpdate.toISOString(),
      "2026-01-01T00:00:00.000Z",
    );
  }
  const forged = flipBit(crl, crl.length * 8 - 9);
  assert.equal(
    new TrustStore([...bring(authority("rsa")).records, ...bring(forged).records], checker).revocationLists[0]
      ?.issuer,
    null,
  );
});

test("a certificate from two sources is one authority with both", () => {
  const records = [
    ...bring(authority("rsa"), { label: "one" }).records,
    ...bring(utopia.masterList(), { label: "two" }).records,
  ];
  const store = new TrustStore(records, checker);
  assert.equal(store.authorities.length, 5);
  const fingerprint = toHex(checker.hash("SHA-256", authority("rsa")));
  const rsa = store.authorities.find((known) => known.fingerprint === fingerprint);
  assert.deepEqual(
    rsa?.sources.map(({ label }) => label),
    ["one", "two"],
  );
});

test("a certificate that cannot be read is named and left out, and takes nothing else away", () => {
  const [record] = bring(authority("brainpool")).records;
  assert.ok(record);
  const broken = flipBit(authority("rsa"), 0);
  const store = new TrustStore(
    [{ ...record, certificates: [broken, ...record.certificates, authority("nist")] }],
    checker,
  );
  assert.equal(store.authorities.length, 2);
  assert.equal(store.isEmpty, false);
  const { unreadable } = auditTrust(store, today);
  assert.deepEqual(
    unreadable.map(({ fingerprint, source }) => [fingerprint, source.label]),
    [[toHex(checker.hash("SHA-256", broken)), "test"]],
  );
  assert.match(unreadable[0]?.reason ?? "", /./);
});

test("the issuer is found by name and key id, by name alone, or by key id alone", () => {
  const store = new TrustStore(bring(utopia.masterList()).records, checker);
  const { issuer, subjectKeyId } = readCertificate(authority("nist"));
  assert.equal(store.issuersOf({ issuer, authorityKeyId: subjectKeyId }).foundBy, "name_and_key_id");
  assert.equal(store.issuersOf({ issuer, authorityKeyId: subjectKeyId }).authorities.length, 2);
  assert.equal(store.issuersOf({ issuer, authorityKeyId: null }).foundBy, "name");
  const nobody = { key: "nobody", country: null, display: "" };
  assert.equal(store.issuersOf({ issuer: nobody, authorityKeyId: subjectKeyId }).foundBy, "key_id");
  assert.deepEqual(store.issuersOf({ issuer: nobody, authorityKeyId: null }).authorities, []);
});

test("a record reads back as it was written, and nothing else reads as one", () => {
  const [record] = bring(utopia.masterList()).records;
  assert.ok(record);
  assert.deepEqual(deserialiseTrustRecord(serialiseTrustRecord(record)), record);
  for (const text of [
    "",
    "{}",
    "null",
    '{"format":"assay-trust-record-1"}',
    '{"format":"assay-trust-record-1","source":{"type":"x"}}',
  ]) {
    assert.throws(() => deserialiseTrustRecord(text), isEmrtdError);
  }
});

test("base64 reads back as it was written", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
      assert.equal(toBase64(bytes), Buffer.from(bytes).toString("base64"));
      assert.deepEqual(fromBase64(toBase64(bytes)), bytes);
    }),
  );
  for (const text of ["A", "AA=", "A===", "AA*A", "AAAA=", "AA==AA"])
    assert.throws(() => fromBase64(text), isEmrtdError);
});

test("whatever is imported, the answer is an import or the package's own error", () => {
  const list = utopia.masterList();
  const anyBytes = fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    fc
      .string({ maxLength: 300 })
      .map((text) =>
        latin1([...text].map((character) => (character.charCodeAt(0) > 255 ? "?" : character)).join("")),
      ),
    fc
      .tuple(fc.nat(list.length - 1), fc.integer({ min: 0, max: 255 }), fc.nat(40))
      .map(([position, value, cut]) => {
        const changed = list.slice(0, list.length - cut);
        changed[position % changed.length] = value;
        return changed;
      }),
  );
  fc.assert(
    fc.property(anyBytes, (bytes) => {
      bringOrNothing(bytes);
    }),
    { numRuns: 500 },
  );
});
