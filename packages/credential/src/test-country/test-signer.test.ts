import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import test from "node:test";
import { purposes } from "../trust-anchor.ts";
import { testCountryAnchors, testIssuer, testStatusSigner } from "./test-signer.ts";

const anchors = testCountryAnchors();
const rootOf = (purpose: string) =>
  new X509Certificate(anchors.find((anchor) => anchor.purpose === purpose)?.certificate ?? new Uint8Array());
const leafOf = ({ chain }: { chain: readonly Uint8Array[] }) =>
  new X509Certificate(chain[0] ?? new Uint8Array());

for (const purpose of purposes)
  test(`what the test country signs for ${purpose} chains to its root of that purpose, and to no other`, async () => {
    for (const signer of [await testIssuer(purpose), await testStatusSigner(purpose)]) {
      const leaf = leafOf(signer);
      for (const other of purposes)
        assert.equal(leaf.verify(rootOf(other).publicKey), other === purpose, other);
      assert.ok(leaf.validToDate > new Date("2070-01-01"));
      const data = new TextEncoder().encode("signed");
      const algorithm = { name: "ECDSA", hash: "SHA-256" };
      const signature = await crypto.subtle.sign(algorithm, signer.privateKey, data);
      const spki = leaf.publicKey.export({ type: "spki", format: "der" });
      const key = await crypto.subtle.importKey(
        "spki",
        new Uint8Array(spki),
        { name: "ECDSA", namedCurve: "P-256" },
        false,
        ["verify"],
      );
      assert.ok(
        await crypto.subtle.verify(algorithm, key, signature, data),
        "the key is that of the certificate",
      );
    }
  });

test("the unknown issuer chains to no root of the test country", async () => {
  const leaf = leafOf(await testIssuer("unknown"));
  assert.deepEqual(
    purposes.map((purpose) => leaf.verify(rootOf(purpose).publicKey)),
    [false, false, false],
  );
});
