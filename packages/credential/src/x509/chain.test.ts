import "reflect-metadata";
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  BasicConstraintsExtension,
  Extension,
  KeyUsageFlags,
  KeyUsagesExtension,
  X509CertificateGenerator,
} from "@peculiar/x509";
import {
  type CertificateOrder,
  type Identity,
  makeCertificate,
} from "../../test/support/make-certificate.ts";
import type { TrustAnchor } from "../trust-anchor.ts";
import { type ChainOptions, checkChain } from "./chain.ts";

const now = new Date("2026-11-18T12:00:00Z");
const valid = { notBefore: new Date("2026-01-01T00:00:00Z"), notAfter: new Date("2027-01-01T00:00:00Z") };
const authority = (order: Partial<CertificateOrder> = {}) =>
  makeCertificate({ subject: "C=UT, CN=Authority", ...valid, isAuthority: true, ...order });
const signer = (issuer: Identity, order: Partial<CertificateOrder> = {}) =>
  makeCertificate({ subject: "C=UT, CN=Signer", ...valid, issuer, ...order });
const anchor = (identity: Identity, more: Partial<TrustAnchor> = {}): TrustAnchor => ({
  purpose: "mdl",
  certificate: identity.certificate,
  list: "operator",
  stale: false,
  ...more,
});
const check = (
  chain: readonly Identity[],
  anchors: readonly TrustAnchor[],
  more: Partial<ChainOptions> = {},
) =>
  checkChain(
    chain.map((identity) => identity.certificate),
    anchors,
    { purpose: "mdl", now, leaf: "mdl_signer", ...more },
  );
const reasonOf = async (...of: Parameters<typeof check>) => {
  const verdict = await check(...of);
  return verdict.kind === "trusted" ? "trusted" : verdict.reason;
};

test("a signer counts by its authority, with keys on P-256, P-384 and P-521", async () => {
  for (const algorithm of ["ES256", "ES384", "ES512"] as const) {
    const root = await authority({ algorithm });
    const leaf = await signer(root, { algorithm, extendedKeyUsage: ["1.0.18013.5.1.2"] });
    const verdict = await check([leaf], [anchor(root)]);
    assert.equal(verdict.kind, "trusted");
    if (verdict.kind !== "trusted") return;
    assert.equal(verdict.algorithm, algorithm);
    assert.equal(verdict.leaf.country, "UT");
    assert.equal(verdict.anchor.certificate, root.certificate);
  }
});

test("an authority of one purpose says nothing about another", async () => {
  const root = await authority();
  assert.equal(await reasonOf([await signer(root)], [anchor(root, { purpose: "pid" })]), "issuer_unknown");
});

test("the chain may have authorities in between and the anchor at its end", async () => {
  const root = await authority();
  const middle = await makeCertificate({ subject: "CN=Middle", ...valid, issuer: root, isAuthority: true });
  const leaf = await signer(middle);
  assert.equal(await reasonOf([leaf, middle], [anchor(root)]), "trusted");
  assert.equal(await reasonOf([leaf, middle, root], [anchor(root)]), "trusted");
  assert.equal(await reasonOf([leaf], [anchor(root)]), "issuer_unknown");
  assert.equal(await reasonOf([leaf, middle], [anchor(middle)]), "trusted", "an anchor need not sign itself");
  const lower = await makeCertificate({ subject: "CN=Lower", ...valid, issuer: middle, isAuthority: true });
  const lowest = await makeCertificate({ subject: "CN=Lowest", ...valid, issuer: lower, isAuthority: true });
  assert.equal(await reasonOf([await signer(lower), lower, middle], [anchor(root)]), "trusted");
  assert.equal(
    await reasonOf([await signer(lowest), lowest, lower, middle], [anchor(root)]),
    "issuer_not_valid",
    "longer than a path may be",
  );
});

test("an authority that only has the name of a trusted one vouches for nothing", async () => {
  const root = await authority();
  const imposter = await authority();
  assert.equal(await reasonOf([await signer(imposter)], [anchor(root)]), "issuer_unknown");
  assert.equal(await reasonOf([await signer(imposter), imposter], [anchor(root)]), "issuer_unknown");
  assert.equal(await reasonOf([await signer(root)], []), "issuer_unknown");
});

test("signer, authority in between and anchor have to be valid now", async () => {
  const over = { notAfter: new Date("2026-11-18T11:59:59Z") };
  const early = { notBefore: new Date("2026-11-18T12:00:01Z") };
  const root = await authority();
  assert.equal(await reasonOf([await signer(root, over)], [anchor(root)]), "issuer_not_valid");
  assert.equal(await reasonOf([await signer(root, early)], [anchor(root)]), "issuer_not_valid");
  const middle = await makeCertificate({
    subject: "CN=Middle",
    ...valid,
    ...over,
    issuer: root,
    isAuthority: true,
  });
  assert.equal(await reasonOf([await signer(middle), middle], [anchor(root)]), "issuer_not_valid");
  const expired = await authority(over);
  assert.equal(await reasonOf([await signer(expired)], [anchor(expired)]), "issuer_not_valid");
});

test("only an authority that may certify, and only so many below it, vouches for a signer", async () => {
  const root = await authority();
  const plain = await signer(root, { subject: "CN=Plain" });
  assert.equal(await reasonOf([await signer(plain), plain], [anchor(root)]), "issuer_not_valid");
  const short = await authority({ pathLength: 0 });
  assert.equal(await reasonOf([await signer(short)], [anchor(short)]), "trusted");
  const middle = await makeCertificate({ subject: "CN=Middle", ...valid, issuer: short, isAuthority: true });
  assert.equal(await reasonOf([await signer(middle), middle], [anchor(short)]), "issuer_not_valid");
});

test("a critical extension that is unknown here, or one that stands twice, is refused", async () => {
  const root = await authority();
  const unknown = (critical: boolean) => new Extension("1.2.3.4", critical, Uint8Array.of(5, 0));
  assert.equal(
    await reasonOf([await signer(root, { extensions: [unknown(true)] })], [anchor(root)]),
    "issuer_not_valid",
  );
  assert.equal(
    await reasonOf([await signer(root, { extensions: [unknown(false)] })], [anchor(root)]),
    "trusted",
  );
  const twice = new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true);
  assert.equal(
    await reasonOf([await signer(root, { extensions: [twice] })], [anchor(root)]),
    "issuer_not_valid",
  );
});

test("a key for another use signs no driving licence, and an authority's own key no credential", async () => {
  const root = await authority();
  const reader = await signer(root, { extendedKeyUsage: ["1.0.18013.5.1.6"] });
  assert.equal(await reasonOf([reader], [anchor(root)]), "issuer_not_valid");
  assert.equal(await reasonOf([reader], [anchor(root)], { leaf: "credential_signer" }), "trusted");
  assert.equal(await reasonOf([root], [anchor(root)], { leaf: "credential_signer" }), "issuer_not_valid");
  const leaf = await signer(root);
  assert.equal(await reasonOf([leaf], [anchor(leaf)]), "trusted", "a list may name the signer itself");
});

test("of two lists that name an authority the one that is up to date counts, and of two certificates the valid one", async () => {
  const root = await authority();
  const leaf = await signer(root);
  const verdict = await check([leaf], [anchor(root, { stale: true }), anchor(root, { list: "vical" })]);
  assert.equal(verdict.kind === "trusted" && verdict.anchor.list, "vical");
  const keys = { privateKey: root.privateKey, publicKey: root.publicKey };
  const former = await authority({ keys, notAfter: new Date("2026-11-01T00:00:00Z") });
  assert.equal(await reasonOf([leaf], [anchor(former)]), "issuer_not_valid");
  assert.equal(await reasonOf([leaf], [anchor(former), anchor(root)]), "trusted");
});

test("an RSA authority vouches for elliptic signers of a PID or a proof of age, and for no licence", async () => {
  const rsa = async (name: "RSASSA-PKCS1-v1_5" | "RSA-PSS", hash = "SHA-256", modulusLength = 2048) => {
    const publicExponent = Uint8Array.of(1, 0, 1);
    const algorithm = { name, hash, modulusLength, publicExponent };
    const keys = await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
    const subject = "C=UT, CN=RSA Authority";
    const signing = { name, hash, saltLength: 32 };
    const make = async (of: string, publicKey: Identity["publicKey"], extensions: Extension[] = []) => {
      const by = { issuer: subject, signingKey: keys.privateKey, signingAlgorithm: signing };
      const certificate = await X509CertificateGenerator.create({
        subject: of,
        publicKey,
        extensions,
        ...by,
        ...valid,
      });
      return new Uint8Array(certificate.rawData);
    };
    const root = await make(subject, keys.publicKey, [new BasicConstraintsExtension(true, undefined, true)]);
    const elliptic = await signer(await authority());
    const leaf = await make("C=UT, CN=Signer", elliptic.publicKey);
    const inRsa = await make("C=UT, CN=Signer", keys.publicKey);
    return { root, leaf, inRsa };
  };
  const judge = async (leaf: Uint8Array, root: Uint8Array, purpose: "pid" | "mdl" | "age") => {
    const anchors: TrustAnchor[] = [{ purpose, certificate: root, list: "operator", stale: false }];
    const verdict = await checkChain([leaf], anchors, { purpose, now, leaf: "credential_signer" });
    return verdict.kind === "trusted" ? verdict.algorithm : verdict.reason;
  };
  for (const name of ["RSASSA-PKCS1-v1_5", "RSA-PSS"] as const) {
    const { root, leaf, inRsa } = await rsa(name);
    assert.equal(await judge(leaf, root, "pid"), "ES256");
    assert.equal(await judge(leaf, root, "age"), "ES256");
    assert.equal(await judge(leaf, root, "mdl"), "issuer_not_valid");
    assert.equal(await judge(inRsa, root, "pid"), "issuer_not_valid", "the signer itself");
    assert.equal(await judge(leaf, (await rsa(name)).root, "pid"), "issuer_unknown", "another key");
  }
  const weak = await rsa("RSASSA-PKCS1-v1_5", "SHA-1");
  assert.equal(await judge(weak.leaf, weak.root, "pid"), "issuer_unknown");
  const short = await rsa("RSASSA-PKCS1-v1_5", "SHA-256", 1024);
  assert.equal(await judge(short.leaf, short.root, "pid"), "issuer_unknown");
});

test("bytes that are no certificate are no issuer", async () => {
  const options: ChainOptions = { purpose: "mdl", now, leaf: "any" };
  const notValid = { kind: "untrusted", reason: "issuer_not_valid" };
  assert.deepEqual(await checkChain([Uint8Array.of(1, 2, 3)], [], options), notValid);
  assert.deepEqual(await checkChain([], [], options), notValid);
  const root = await authority();
  const longer = Uint8Array.from([...(await signer(root)).certificate, 0]);
  assert.deepEqual(await checkChain([longer], [anchor(root)], options), notValid);
  const bad = { ...anchor(root), certificate: Uint8Array.of(1, 2, 3) };
  assert.equal(
    await reasonOf([await signer(root)], [bad, anchor(root)]),
    "trusted",
    "nor in a list of anchors",
  );
});
