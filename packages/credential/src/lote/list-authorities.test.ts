import "reflect-metadata";
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  BasicConstraintsExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  X509CertificateGenerator,
} from "@peculiar/x509";
import type { Identity } from "../../test/support/make-certificate.ts";
import { newSigner, now } from "../../test/support/pid.ts";
import { trustedListSigner } from "./list-signer.ts";

/** An authority whose key may be used for this; null where its certificate does not say. */
async function authority(usages: number | null): Promise<Identity> {
  const keys = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, [
    "sign",
    "verify",
  ]);
  const subject = "CN=Publisher";
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: subject,
    notBefore: new Date("2026-01-01T00:00:00Z"),
    notAfter: new Date("2028-01-01T00:00:00Z"),
    keys,
    signingAlgorithm: { name: "ECDSA", hash: "SHA-256" },
    extensions: [
      new BasicConstraintsExtension(true, undefined, true),
      ...(usages === null ? [] : [new KeyUsagesExtension(usages, true)]),
    ],
  });
  return { ...keys, algorithm: "ES256", subject, certificate: new Uint8Array(certificate.rawData) };
}

test("an authority vouches for the signer of a list only with a key that may sign certificates", async () => {
  for (const [usages, isTrusted] of [
    [KeyUsageFlags.keyCertSign, true],
    [null, true],
    [KeyUsageFlags.digitalSignature, false],
    [KeyUsageFlags.cRLSign, false],
  ] as const) {
    const root = await authority(usages);
    const signer = await newSigner(root, { subject: "CN=List signer" });
    const found = await trustedListSigner([signer.certificate], [root.certificate], now);
    assert.equal(found !== null, isTrusted, String(usages));
    const inChain = await trustedListSigner([signer.certificate, root.certificate], [root.certificate], now);
    assert.equal(inChain !== null, isTrusted, `${usages} in the chain`);
  }
});

test("a chain of more than four certificates is no chain of a list", async () => {
  const root = await authority(null);
  const signer = await newSigner(root, { subject: "CN=List signer" });
  const chain = [signer.certificate, root.certificate];
  assert.ok(await trustedListSigner([...chain, root.certificate, root.certificate], [root.certificate], now));
  const long = [...chain, root.certificate, root.certificate, root.certificate];
  assert.equal(await trustedListSigner(long, [root.certificate], now), null);
  assert.equal(await trustedListSigner([], [root.certificate], now), null);
});
