import "reflect-metadata";
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  type Extension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509CertificateGenerator,
} from "@peculiar/x509";
import type { Identity } from "../../test/support/make-certificate.ts";
import type { TrustAnchor } from "../trust-anchor.ts";
import { parseCertificate } from "./certificate.ts";
import { type ChainOptions, checkChain } from "./chain.ts";

const now = new Date("2026-11-18T12:00:00Z");
const newKeys = () =>
  crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, ["sign", "verify"]);

type Order = {
  subject: string;
  issuer?: Identity;
  keys?: { privateKey: Identity["privateKey"]; publicKey: Identity["publicKey"] };
  extensions?: readonly Extension[];
  hash?: string;
  notBefore?: Date;
  notAfter?: Date;
};

/** A certificate with exactly these extensions. */
async function made(order: Order): Promise<Identity> {
  const keys = order.keys ?? (await newKeys());
  const signer = order.issuer ?? { ...keys, subject: order.subject };
  const certificate = await X509CertificateGenerator.create({
    subject: order.subject,
    issuer: signer.subject,
    notBefore: order.notBefore ?? new Date("2026-01-01T00:00:00Z"),
    notAfter: order.notAfter ?? new Date("2027-01-01T00:00:00Z"),
    publicKey: keys.publicKey,
    signingKey: signer.privateKey,
    signingAlgorithm: { name: "ECDSA", hash: order.hash ?? "SHA-256" },
    extensions: [...(order.extensions ?? [])],
  });
  return {
    ...keys,
    algorithm: "ES256",
    certificate: new Uint8Array(certificate.rawData),
    subject: order.subject,
  };
}

const ca = (pathLength?: number) => new BasicConstraintsExtension(true, pathLength, true);
const usage = (flags: number) => new KeyUsagesExtension(flags, true);
const authority = (more: Partial<Order> = {}) =>
  made({ subject: "CN=Authority", extensions: [ca()], ...more });
const below = (issuer: Identity, subject: string, ...extensions: Extension[]) =>
  made({ subject, issuer, extensions });
const anchor = (identity: Identity, more: Partial<TrustAnchor> = {}): TrustAnchor => ({
  purpose: "pid",
  certificate: identity.certificate,
  list: "operator",
  stale: false,
  ...more,
});

async function check(
  chain: readonly Identity[],
  anchors: readonly TrustAnchor[],
  more: Partial<ChainOptions> = {},
) {
  const certificates = chain.map(({ certificate }) => certificate);
  const options = { purpose: "pid", now, leaf: "credential_signer", ...more } as const;
  const verdict = await checkChain(certificates, anchors, options);
  return verdict.kind === "trusted" ? verdict.anchor.list : verdict.reason;
}

test("a key that may not sign certificates vouches for nobody, whatever else its certificate says", async () => {
  for (const [flags, expected] of [
    [KeyUsageFlags.keyCertSign, "operator"],
    [KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, "operator"],
    [KeyUsageFlags.digitalSignature | KeyUsageFlags.cRLSign, "issuer_not_valid"],
  ] as const) {
    const root = await authority({ extensions: [ca(), usage(flags)] });
    assert.equal(await check([await below(root, "CN=Signer")], [anchor(root)]), expected, String(flags));
  }
});

test("a key that may not sign data signs no credential and no status list", async () => {
  const root = await authority();
  for (const [flags, expected] of [
    [KeyUsageFlags.digitalSignature, "operator"],
    [KeyUsageFlags.keyAgreement, "issuer_not_valid"],
  ] as const) {
    const signer = await below(root, "CN=Signer", usage(flags));
    for (const leaf of ["credential_signer", "status_signer", "mdl_signer"] as const)
      assert.equal(await check([signer], [anchor(root)], { leaf }), expected, `${flags} ${leaf}`);
    assert.equal(await check([signer], [anchor(root)], { leaf: "any" }), "operator");
  }
});

test("certificates that do not restrict their keys may be used for all that they are", async () => {
  const root = await authority();
  assert.equal(await check([await below(root, "CN=Signer")], [anchor(root)]), "operator");
  const plain = await made({ subject: "CN=Authority" });
  assert.equal(await check([await below(plain, "CN=Signer")], [anchor(plain)]), "issuer_not_valid");
});

test("an authority below a trusted one signs no credential itself, unless a list names it", async () => {
  const root = await authority();
  const middle = await below(root, "CN=Middle", ca());
  assert.equal(await check([middle], [anchor(root)]), "issuer_not_valid");
  assert.equal(await check([middle], [anchor(middle)]), "operator");
});

test("a signature over SHA-1 counts for nothing", async () => {
  const root = await authority();
  for (const [hash, expected] of [
    ["SHA-256", "operator"],
    ["SHA-384", "operator"],
    ["SHA-512", "operator"],
    ["SHA-1", "issuer_unknown"],
  ] as const) {
    const signer = await made({ subject: "CN=Signer", issuer: root, hash });
    assert.equal(await check([signer], [anchor(root)]), expected, hash);
  }
});

test("a chain has three certificates at most, and so many authorities as the one above allows", async () => {
  const root = await authority({ extensions: [ca(1)] });
  const first = await below(root, "CN=First", ca());
  const second = await below(first, "CN=Second", ca());
  const signer = await below(first, "CN=Signer");
  const deep = await below(second, "CN=Deep");
  assert.equal(await check([signer, first], [anchor(root)]), "operator");
  assert.equal(await check([signer, first, root], [anchor(root)]), "operator");
  assert.equal(await check([deep, second, first], [anchor(root)]), "issuer_not_valid", "two of one");
  const free = await authority();
  const one = await below(free, "CN=First", ca());
  const two = await below(one, "CN=Second", ca());
  const leaf = await below(two, "CN=Signer");
  assert.equal(await check([leaf, two, one], [anchor(free)]), "operator");
  assert.equal(await check([leaf, two, one, free], [anchor(free)]), "issuer_not_valid", "four");
});

test("a certificate in the chain that did not sign the one before it breaks it", async () => {
  const root = await authority();
  const middle = await below(root, "CN=Middle", ca());
  const namesake = await below(root, "CN=Middle", ca());
  const signer = await below(middle, "CN=Signer");
  assert.equal(await check([signer, middle], [anchor(root)]), "operator");
  assert.equal(await check([signer, namesake], [anchor(root)]), "issuer_unknown");
  assert.equal(
    await check([signer, namesake], [anchor(namesake)]),
    "issuer_unknown",
    "also where it is listed",
  );
});

test("of two keys under one name the identifier says which one signed", async () => {
  const keys = await newKeys();
  const identifier = await SubjectKeyIdentifierExtension.create(keys.publicKey);
  const root = await authority({ keys, extensions: [ca(), identifier] });
  const other = await AuthorityKeyIdentifierExtension.create((await newKeys()).publicKey);
  const same = await AuthorityKeyIdentifierExtension.create(keys.publicKey);
  assert.equal(await check([await below(root, "CN=Signer", same)], [anchor(root)]), "operator");
  assert.equal(await check([await below(root, "CN=Signer")], [anchor(root)]), "operator");
  assert.equal(await check([await below(root, "CN=Signer", other)], [anchor(root)]), "issuer_unknown");
});

test("every certificate counts from its first to its last second", async () => {
  const end = new Date("2026-12-01T00:00:00Z");
  const start = new Date("2026-10-01T00:00:00Z");
  const root = await authority();
  const signer = await made({ subject: "CN=Signer", issuer: root, notBefore: start, notAfter: end });
  const at = (time: Date, laterMs: number) =>
    check([signer], [anchor(root)], { now: new Date(time.getTime() + laterMs) });
  assert.deepEqual(
    [await at(start, -1), await at(start, 0), await at(end, 0), await at(end, 1)],
    ["issuer_not_valid", "operator", "operator", "issuer_not_valid"],
  );
});

test("the EU's list is named before others, and a fresh list before a stale one", async () => {
  const root = await authority();
  const chain = [await below(root, "CN=Signer")];
  const operator = anchor(root);
  const eu = anchor(root, { list: "eu_list" });
  const staleEu = anchor(root, { list: "eu_list", stale: true });
  assert.equal(await check(chain, [operator, eu]), "eu_list");
  assert.equal(await check(chain, [staleEu, operator]), "operator");
  assert.equal(await check(chain, [staleEu]), "eu_list");
  const listed = [anchor(root), { ...eu, certificate: root.certificate }];
  assert.equal(await check([...chain, root], listed), "eu_list", "also where the chain holds the anchor");
});

test("the path goes over the certificate that the preferred list names", async () => {
  const keys = await newKeys();
  const narrow = await authority({ keys, extensions: [ca(0)] });
  const wide = await authority({ keys });
  const middle = await below(wide, "CN=Middle", ca());
  const chain = [await below(middle, "CN=Signer"), middle];
  assert.equal(await check(chain, [anchor(narrow)]), "issuer_not_valid");
  assert.equal(await check(chain, [anchor(narrow), anchor(wide, { list: "eu_list" })]), "eu_list");
});

test("names of hosts and addresses in a certificate are told apart", async () => {
  const names = new SubjectAlternativeNameExtension([
    { type: "dns", value: "verifier.example" },
    { type: "url", value: "https://verifier.example/a" },
    { type: "email", value: "somebody@verifier.example" },
  ]);
  const { certificate } = await made({ subject: "CN=Verifier", extensions: [names] });
  const { dnsNames, uris } = parseCertificate(certificate);
  assert.deepEqual([dnsNames, uris], [["verifier.example"], ["https://verifier.example/a"]]);
});
