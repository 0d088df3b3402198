import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import { utopia } from "../../test/support/test-country.ts";
import { readWhole } from "../ber/read.ts";
import { tags } from "../ber/tag.ts";
import { oid, printableString, sequence, setOf, tlv, utf8String } from "../ber/write.ts";
import { latin1 } from "../bytes.ts";
import { readSignedData } from "../cms/signed-data.ts";
import { isEmrtdError } from "../emrtd-error.ts";
import { signerProfile } from "../node/test-country/signer-profiles.ts";
import { readCertificate } from "./certificate.ts";
import { readCrl } from "./crl.ts";
import { readName } from "./name.ts";

function name(...parts: readonly (readonly [string, Uint8Array])[]) {
  return readName(readWhole(sequence(...parts.map(([type, value]) => setOf(sequence(oid(type), value))))));
}

const C = "2.5.4.6";
const O = "2.5.4.10";

test("names are equal whatever their string types, case and spaces, and different in another order", () => {
  const one = name([C, printableString("GB")], [O, utf8String("HM  Passport Office ")]);
  const other = name([C, utf8String("gb")], [O, tlv(tags.teletexString, latin1("hm passport office"))]);
  assert.equal(one.key, other.key);
  assert.equal(other.country, "gb");
  assert.notEqual(one.key, name([O, utf8String("HM Passport Office")], [C, utf8String("GB")]).key);
});

test("a value cannot pretend to be two parts", () => {
  const sly = name([C, utf8String('gb","2.5.4.10=x')]);
  assert.notEqual(sly.key, name([C, utf8String("gb")], [O, utf8String("x")]).key);
  assert.ok(!name([C, utf8String("g\u001b[2Jb")]).display.includes("\u001b"));
});

const signerCertificate = utopia.documentSigner(signerProfile("secp256r1-sha256-named")).certificate;

test("a certificate says what node:crypto says of it", () => {
  for (const der of [signerCertificate, ...utopia.authorityCertificates.values()]) {
    const ours = readCertificate(der);
    const theirs = new X509Certificate(der);
    assert.equal(BigInt(`0x${ours.serial}`), BigInt(`0x${theirs.serialNumber}`));
    assert.equal(ours.notBefore.getTime(), Date.parse(theirs.validFrom));
    assert.equal(ours.notAfter.getTime(), Date.parse(theirs.validTo));
    assert.equal(ours.basicConstraints?.ca ?? false, theirs.ca);
  }
});

test("key usage, key ids and the period of the private key are read", () => {
  const certificate = readCertificate(signerCertificate);
  assert.deepEqual(certificate.keyUsage, { digitalSignature: true, keyCertSign: false });
  assert.equal(certificate.privateKeyUsagePeriod?.notAfter?.toISOString(), "2027-01-01T00:00:00.000Z");
  const authority = utopia.authorityCertificates.get("nist");
  assert.ok(authority);
  assert.deepEqual(certificate.authorityKeyId, readCertificate(authority).subjectKeyId);
  assert.deepEqual(readCertificate(authority).basicConstraints, { ca: true, pathLength: 0 });
});

test("a revocation list gives who was revoked and when", () => {
  const [bytes] = utopia.revocationLists;
  assert.ok(bytes);
  const list = readCrl(bytes);
  const revoked = utopia.documentSigner(signerProfile("rsa-2048-sha256"), { revoked: true }).certificate;
  assert.equal(
    list.revokedAt.get(readCertificate(revoked).serial)?.toISOString(),
    "2025-06-01T00:00:00.000Z",
  );
  assert.equal(list.revokedAt.get(readCertificate(signerCertificate).serial), undefined);
  assert.equal(list.number, "07ea");
  assert.equal(list.nextUpdate?.toISOString(), "2027-03-01T00:00:00.000Z");
});

test("whatever the bytes, readers of certificates, lists and messages give their own error or an answer", () => {
  const sources = [signerCertificate, utopia.revocationLists[0] ?? new Uint8Array(), utopia.masterList()];
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    fc
      .tuple(
        fc.constantFrom(...sources),
        fc.array(fc.tuple(fc.nat(20_000), fc.integer({ min: 0, max: 255 })), { maxLength: 3 }),
        fc.nat(30),
      )
      .map(([source, changes, cut]) => {
        const changed = source.slice(0, source.length - cut);
        for (const [position, value] of changes) changed[position % changed.length] = value;
        return changed;
      }),
  );
  const readers = [
    (input: Uint8Array) => {
      const certificate = readCertificate(input);
      return [certificate.publicKey, certificate.signatureScheme];
    },
    readCrl,
    (input: Uint8Array) => readSignedData(input, { maxBytes: 1_000_000 }),
  ];
  fc.assert(
    fc.property(bytes, (input) => {
      for (const read of readers) {
        try {
          read(input);
        } catch (error) {
          assert.ok(isEmrtdError(error), String(error));
        }
      }
    }),
    { numRuns: 800 },
  );
});
