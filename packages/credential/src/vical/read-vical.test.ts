import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import {
  type CertificateOrder,
  type Identity,
  makeCertificate,
} from "../../test/support/make-certificate.ts";
import { decode } from "../cbor/decode.ts";
import { encode } from "../cbor/encode.ts";
import { type CborKey, CborTag, type CborValue } from "../cbor/value.ts";
import { label, readSingle, x5chainOf } from "../cose/headers.ts";
import { signSign1 } from "../cose/sign1.ts";
import { CredentialError } from "../credential-error.ts";
import { readVical } from "./read-vical.ts";

const { vical: aamva } = JSON.parse(
  readFileSync(new URL("../../test/vectors/aamva-vical.json", import.meta.url), "utf8"),
);
const real = Uint8Array.from(Buffer.from(aamva, "base64"));
const chain = x5chainOf(readSingle(decode(real, { maxBytes: 1e6 })));
const root = chain.at(-1) ?? new Uint8Array();
const then = new Date("2024-09-25T12:00:00Z");
const code = (expected: CredentialError["code"]) => (error: unknown) =>
  error instanceof CredentialError && error.code === expected;

test("AAMVA's list leads to its root, and names the authorities of the states for a day", async () => {
  const list = await readVical(real, { signers: [root], now: then });
  assert.deepEqual(list.issuedAt, new Date("2024-09-24T17:37:31Z"));
  assert.deepEqual(list.nextUpdate, new Date("2024-09-25T17:37:31Z"));
  assert.equal(list.sequence, 616575);
  assert.deepEqual(list.signer, chain[0]);
  assert.equal(list.anchors.length, 3);
  assert.ok(list.anchors.every(({ purpose }) => purpose === "mdl"));
});

test("a list past its next update is returned, so that the caller decides", async () => {
  const list = await readVical(real, { signers: [root], now: new Date("2025-01-01T00:00:00Z") });
  assert.ok(list.nextUpdate !== null && list.nextUpdate < new Date("2025-01-01T00:00:00Z"));
});

test("a signer can be pinned by fingerprint; another root, no root and an expired chain are refused", async () => {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", Uint8Array.from(root)));
  const pin = Buffer.from(hash).toString("hex");
  assert.equal((await readVical(real, { signers: [pin], now: then })).anchors.length, 3);
  const other = await makeCertificate({ subject: "CN=Other", ...valid });
  await assert.rejects(readVical(real, { signers: [other.certificate], now: then }), code("signature"));
  await assert.rejects(readVical(real, { signers: [], now: then }), code("signature"));
  await assert.rejects(
    readVical(real, { signers: [root], now: new Date("2030-01-01T00:00:00Z") }),
    code("signature"),
  );
});

test("one changed bit in the list, its signature or its chain is noticed", async () => {
  for (let index = 0; index < real.length; index += 97) {
    const damaged = real.map((byte, at) => (at === index ? byte ^ 4 : byte));
    await assert.rejects(
      readVical(damaged, { signers: [root], now: then }),
      CredentialError,
      `byte ${index}`,
    );
  }
});

const valid = { notBefore: new Date("2024-01-01T00:00:00Z"), notAfter: new Date("2026-01-01T00:00:00Z") };

async function list(
  certificateInfos: CborValue,
  order: Partial<CertificateOrder> = {},
  version: CborValue = "1.0",
) {
  const authority = await makeCertificate({ subject: "CN=Lists", ...valid });
  const signer = await makeCertificate({
    subject: "CN=Signer of lists",
    ...valid,
    issuer: authority,
    extendedKeyUsage: ["1.0.18013.5.1.8"],
    ...order,
  });
  const payload = encode(
    new Map<CborKey, CborValue>([
      ["version", version],
      ["vicalProvider", "Test"],
      ["date", new CborTag(0, "2024-09-25T00:00:00Z")],
      ["certificateInfos", certificateInfos],
    ]),
  );
  const unprotectedHeaders = new Map([[label.x5chain, signer.certificate]]);
  const vical = encode(new CborTag(18, await signSign1({ key: signer, payload, unprotectedHeaders })));
  return { vical, options: { signers: [authority.certificate], now: then } };
}

const entry = ({ certificate }: Identity, ...docType: readonly string[]) =>
  new Map<CborKey, CborValue>([
    ["certificate", certificate],
    ["docType", docType],
    ["ski", new Uint8Array(20)],
  ]);

test("authorities of other documents are left out, and one that stands twice counts once", async () => {
  const licences = await makeCertificate({ subject: "CN=Licences", ...valid });
  const cars = await makeCertificate({ subject: "CN=Cars", ...valid });
  const broken = { ...cars, certificate: Uint8Array.of(1, 2, 3) };
  const mdl = "org.iso.18013.5.1.mDL";
  const infos = [
    entry(cars, "org.iso.7367.1.mVRC"),
    entry(licences, "other", mdl),
    entry(licences, mdl),
    entry(broken, mdl),
  ];
  const { vical, options } = await list(infos);
  const read = await readVical(vical, options);
  assert.deepEqual(read.anchors, [{ purpose: "mdl", certificate: licences.certificate }]);
  assert.equal(read.nextUpdate, null);
  assert.equal(read.sequence, null);
});

test("a key for another use, another version and a list without certificates are refused", async () => {
  const other = await list([], { extendedKeyUsage: ["1.0.18013.5.1.2"] });
  await assert.rejects(readVical(other.vical, other.options), code("signature"));
  const later = await list([], {}, "2.0");
  await assert.rejects(readVical(later.vical, later.options), code("not_supported"));
  const empty = await list(null);
  await assert.rejects(readVical(empty.vical, empty.options), code("malformed"));
  await assert.rejects(readVical(Uint8Array.of(0x80), empty.options), code("malformed"));
});
