import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { contextTag, contextValue, sequence } from "../ber/write.ts";
import { concat, latin1 } from "../bytes.ts";
import { encodeName, type Issuer, issueCertificate } from "../node/test-country/issue-certificate.ts";
import { ecSigningKey } from "../node/test-country/signing-key.ts";
import { revocationListAddresses } from "./distribution-points.ts";

const authority: Issuer = {
  name: { country: "UT", organization: "Utopia Test Authority", commonName: "CSCA" },
  key: ecSigningKey("distribution points", "authority", "secp256r1", { explicitParameters: false }),
  scheme: { kind: "ecdsa", hash: "SHA-256" },
};
const validity = { notBefore: new Date("2020-01-01T00:00:00Z"), notAfter: new Date("2040-01-01T00:00:00Z") };

function certificate(value: Uint8Array | null): Uint8Array {
  return issueCertificate({
    issuer: authority,
    subject: authority.name,
    subjectKey: authority.key,
    serial: Uint8Array.of(1),
    validity,
    use: "authority",
    ...(value === null ? {} : { extensions: [{ type: "2.5.29.31", critical: false, value }] }),
  });
}

/** A point with these names, as RFC 5280 has it: DistributionPoint, DistributionPointName, GeneralNames. */
const point = (...names: readonly Uint8Array[]) => sequence(contextTag(0, contextTag(0, ...names)));
const uri = (address: string) => contextValue(6, latin1(address));
const addressesOf = (...points: readonly Uint8Array[]) =>
  revocationListAddresses(certificate(sequence(...points)));

test("the http and https addresses of all points are read, each once and in their order", () => {
  const [first, second] = ["http://lists.utopia.example/csca.crl", "HTTPS://lists.utopia.example/b.crl?x=1"];
  assert.deepEqual(addressesOf(point(uri(first), uri(second)), point(uri(first))), [first, second]);
});

test("a certificate without points, or with points that give no address, names none", () => {
  assert.deepEqual(revocationListAddresses(certificate(null)), []);
  const relative = sequence(contextTag(0, contextTag(1, encodeName(authority.name))));
  const byIssuer = sequence(contextTag(2, contextTag(4, encodeName(authority.name))));
  const directory = point(contextTag(4, encodeName(authority.name)));
  assert.deepEqual(addressesOf(relative, byIssuer, directory), []);
});

for (const [what, address] of [
  ["of a directory", "ldap://lists.utopia.example/c=UT?certificateRevocationList"],
  ["of a file", "file:///etc/passwd"],
  ["of a script", "javascript:alert(1)"],
  ["with a space", "http://lists.utopia.example/a b.crl"],
  ["with a line break", "http://lists.utopia.example/a\r\nX-Evil: 1"],
  ["with a zero byte", "http://lists.utopia.example/\0"],
  ["with letters beyond ASCII", "http://lists.utopia.example/\xe9"],
  ["without a scheme", "lists.utopia.example/csca.crl"],
  ["that is too long", `http://lists.utopia.example/${"a".repeat(1000)}`],
] as const) {
  test(`an address ${what} is left out, and the others are read`, () => {
    const good = "http://lists.utopia.example/good.crl";
    assert.deepEqual(addressesOf(point(uri(address), uri(good))), [good]);
  });
}

test("no certificate names more than eight addresses", () => {
  const many = Array.from({ length: 50 }, (_, index) => uri(`http://lists.utopia.example/${index}`));
  assert.equal(addressesOf(point(...many)).length, 8);
});

test("an extension that cannot be read gives none, and so do bytes that are no certificate", () => {
  assert.deepEqual(revocationListAddresses(certificate(new Uint8Array(20).fill(0x85))), []);
  assert.deepEqual(revocationListAddresses(certificate(latin1("http://lists.utopia.example"))), []);
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (noise) => {
      assert.deepEqual(revocationListAddresses(noise), []);
      assert.deepEqual(revocationListAddresses(concat(noise, certificate(null).subarray(noise.length))), []);
    }),
  );
});
