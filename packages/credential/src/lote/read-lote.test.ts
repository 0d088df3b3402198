import "reflect-metadata";
import assert from "node:assert/strict";
import { test } from "node:test";
import { X509CertificateGenerator } from "@peculiar/x509";
import { CompactSign, type CryptoKey } from "jose";
import { newAuthority, newSigner, now } from "../../test/support/pid.ts";
import { toBase64, toBase64Url } from "../base64url.ts";
import { digest, utf8 } from "../bytes.ts";
import { CredentialError } from "../credential-error.ts";
import type { ListSigner } from "../trusted-list.ts";
import { readLote } from "./read-lote.ts";

const publisher = await newAuthority("C=EU, CN=Publisher of lists");
const signer = await newSigner(publisher, { subject: "C=EU, CN=List signer" });
const pidAuthority = await newAuthority("C=UT, CN=PID");
const pidStatus = await newAuthority("C=UT, CN=PID status");
const mdlAuthority = await newAuthority("C=UT, CN=IACA");
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");
const fingerprint = hex(await digest("SHA-256", signer.certificate));

const service = (type: string, certificate: Uint8Array, more: object = {}) => ({
  ServiceInformation: {
    ServiceName: [{ lang: "en", value: "Service" }],
    ServiceDigitalIdentity: { X509Certificates: [{ val: toBase64(certificate) }] },
    ServiceTypeIdentifier: type,
    ...more,
  },
});
const entity = (...services: readonly object[]) => ({
  TrustedEntityInformation: {
    TEName: [{ lang: "en", value: "Provider" }],
    TEAddress: {},
    TEInformationURI: [{ lang: "en", uriValue: "https://provider.example" }],
  },
  TrustedEntityServices: services,
});
const scheme = {
  LoTEVersionIdentifier: 1,
  LoTESequenceNumber: 7,
  LoTEType: "http://uri.etsi.org/19602/LoTEType/EUPIDProvidersList",
  SchemeOperatorName: [{ lang: "en", value: "European Commission" }],
  ListIssueDateTime: "2026-11-01T00:00:00Z",
  NextUpdate: "2027-05-01T00:00:00Z",
};
const pid = "http://uri.etsi.org/19602/SvcType/PID/Issuance";
const listOf = (entities: readonly object[], more: object = {}) => ({
  LoTE: { ListAndSchemeInformation: { ...scheme, ...more }, TrustedEntitiesList: entities },
});
const whole = listOf([
  entity(
    service(pid, pidAuthority.certificate),
    service("http://uri.etsi.org/19602/SvcType/PID/Revocation", pidStatus.certificate),
  ),
  entity(service(pid, pidAuthority.certificate)),
  entity(service("http://trust.ec.europa.eu/lists/mDL/SvcType/Issuance", mdlAuthority.certificate)),
  entity(service("http://uri.etsi.org/19602/SvcType/WalletSolution/Issuance", publisher.certificate)),
]);

async function signed(
  list: object,
  header: object = {},
  key: CryptoKey = signer.privateKey,
  critical: readonly string[] = [],
): Promise<string> {
  return new CompactSign(utf8(JSON.stringify(list)))
    .setProtectedHeader({ alg: "ES256", x5c: [toBase64(signer.certificate)], ...header })
    .sign(key, { crit: Object.fromEntries(critical.map((name) => [name, true])) });
}

async function codeOf(list: string, signers: readonly ListSigner[] = [fingerprint]): Promise<string> {
  try {
    await readLote(list, { signers, now });
    return "read";
  } catch (error) {
    assert.ok(error instanceof CredentialError, String(error));
    return error.code;
  }
}

test("issuers become anchors of their purpose, and signers of status lists stay apart", async () => {
  assert.deepEqual(await readLote(await signed(whole), { signers: [fingerprint], now }), {
    issuedAt: new Date("2026-11-01T00:00:00Z"),
    nextUpdate: new Date("2027-05-01T00:00:00Z"),
    sequence: 7,
    anchors: [
      { purpose: "pid", certificate: new Uint8Array(pidAuthority.certificate) },
      { purpose: "mdl", certificate: new Uint8Array(mdlAuthority.certificate) },
    ],
    statusAnchors: [{ purpose: "pid", certificate: new Uint8Array(pidStatus.certificate) }],
    signer: new Uint8Array(signer.certificate),
  });
});

test("a list past its next update is read: how long it counts is the operator's decision", async () => {
  const list = await readLote(await signed(listOf([], { NextUpdate: "2026-11-02T00:00:00Z" })), {
    signers: [fingerprint],
    now,
  });
  assert.equal(list.nextUpdate?.toISOString(), "2026-11-02T00:00:00.000Z");
});

test("the signer is pinned by fingerprint or certificate, or stands below an authority that is", async () => {
  const list = await signed(whole);
  const colons = fingerprint.toUpperCase().replaceAll(/(..)(?=.)/g, "$1:");
  for (const one of [fingerprint, colons, signer.certificate, publisher.certificate]) {
    assert.equal(await codeOf(list, [one]), "read");
  }
  const chain = { x5c: [toBase64(signer.certificate), toBase64(publisher.certificate)] };
  const root = hex(await digest("SHA-256", publisher.certificate));
  assert.equal(await codeOf(await signed(whole, chain), [root]), "read");
  assert.equal(await codeOf(await signed(whole, { x5c: undefined }), [signer.certificate]), "read");
  assert.equal(await codeOf(list, []), "signature");
  assert.equal(await codeOf(list, [hex(new Uint8Array(32)), pidAuthority.certificate]), "signature");
  const namesake = await newAuthority("C=EU, CN=Publisher of lists");
  assert.equal(await codeOf(list, [namesake.certificate]), "signature");
});

test("the authority in a chain has to have signed the certificate below it", async () => {
  const stranger = await newSigner(await newAuthority("CN=Other"), { subject: "CN=Other signer" });
  const x5c = [toBase64(stranger.certificate), toBase64(publisher.certificate)];
  const root = hex(await digest("SHA-256", publisher.certificate));
  assert.equal(await codeOf(await signed(whole, { x5c }, stranger.privateKey), [root]), "signature");
  const old = await newSigner(publisher, { notAfter: new Date("2026-02-01T00:00:00Z") });
  const past = await signed(whole, { x5c: [toBase64(old.certificate)] }, old.privateKey);
  assert.equal(await codeOf(past, [publisher.certificate]), "signature");
});

test("a certificate that is no authority vouches for none", async () => {
  const below = await newSigner(signer, { subject: "CN=Below" });
  const x5c = [toBase64(below.certificate), toBase64(signer.certificate)];
  assert.equal(await codeOf(await signed(whole, { x5c }, below.privateKey)), "signature");
});

test("a changed list, another key, a wrong thumbprint or algorithm is refused", async () => {
  const list = await signed(whole);
  const [header, , signature] = list.split(".");
  assert.equal(
    await codeOf(`${header}.${toBase64Url(utf8(JSON.stringify(listOf([]))))}.${signature}`),
    "signature",
  );
  assert.equal(await codeOf(await signed(whole, {}, publisher.privateKey)), "signature");
  assert.equal(
    await codeOf(await signed(whole, { "x5t#S256": toBase64Url(new Uint8Array(32)) })),
    "signature",
  );
  const right = toBase64Url(await digest("SHA-256", signer.certificate));
  assert.equal(await codeOf(await signed(whole, { "x5t#S256": right })), "read");
  const none = `${toBase64Url(utf8('{"alg":"none"}'))}.${list.split(".")[1]}.`;
  assert.equal(await codeOf(none), "not_supported");
});

test("critical parameters of JAdES are understood, unknown ones are not", async () => {
  const time = { sigT: "2026-11-01T00:00:00Z", crit: ["sigT"] };
  assert.equal(await codeOf(await signed(whole, time, signer.privateKey, ["sigT"])), "read");
  const unknown = { secret: 1, crit: ["secret"] };
  assert.equal(await codeOf(await signed(whole, unknown, signer.privateKey, ["secret"])), "signature");
  assert.equal(await codeOf(await signed(whole, { sigD: {} })), "not_supported");
});

async function rsaSigned(modulusLength: number): Promise<{ compact: string; der: Uint8Array }> {
  const algorithm = {
    name: "RSASSA-PKCS1-v1_5",
    hash: "SHA-256",
    publicExponent: Uint8Array.of(1, 0, 1),
    modulusLength,
  };
  const keys = await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: "CN=RSA",
    keys,
    signingAlgorithm: algorithm,
    notBefore: new Date("2026-01-01T00:00:00Z"),
    notAfter: new Date("2027-01-01T00:00:00Z"),
  });
  const der = new Uint8Array(certificate.rawData);
  const [head, payload] = [{ alg: "RS256", x5c: [toBase64(der)] }, whole].map((part) =>
    toBase64Url(utf8(JSON.stringify(part))),
  );
  // Signed manually: jose refuses short keys.
  const signature = await crypto.subtle.sign(algorithm.name, keys.privateKey, utf8(`${head}.${payload}`));
  return { compact: `${head}.${payload}.${toBase64Url(new Uint8Array(signature))}`, der };
}

test("a publisher may sign with RSA, not with a short key, and in the JSON forms of a JWS", async () => {
  const short = await rsaSigned(1024);
  assert.equal(await codeOf(short.compact, [short.der]), "signature");
  const { compact, der } = await rsaSigned(2048);
  assert.equal(await codeOf(compact, [der]), "read");
  const [header, payload, signature] = compact.split(".");
  const general = JSON.stringify({ payload, signatures: [{ protected: header, signature }] });
  const flattened = JSON.stringify({ payload, protected: header, signature });
  for (const form of [general, flattened]) assert.equal(await codeOf(form, [der]), "read");
  const two = {
    payload,
    signatures: [
      { protected: header, signature },
      { protected: header, signature },
    ],
  };
  assert.equal(await codeOf(JSON.stringify(two), [der]), "malformed");
});

test("a withdrawn service gives no anchor", async () => {
  const statuses = [
    ["http://uri.etsi.org/19602/PubEAAProvidersList/SvcStatus/withdrawn", 0],
    ["http://uri.etsi.org/19602/PubEAAProvidersList/SvcStatus/notified", 1],
  ] as const;
  for (const [ServiceStatus, count] of statuses) {
    const list = listOf([entity(service(pid, pidAuthority.certificate, { ServiceStatus }))]);
    const read = await readLote(await signed(list), { signers: [fingerprint], now });
    assert.equal(read.anchors.length, count, ServiceStatus);
  }
});

test("a list of another form is refused, and never half taken in", async () => {
  const broken: readonly [object, string][] = [
    [{}, "malformed"],
    [{ LoTE: {} }, "malformed"],
    [listOf([], { LoTEVersionIdentifier: 2 }), "not_supported"],
    [listOf([], { LoTESequenceNumber: "7" }), "malformed"],
    [listOf([], { ListIssueDateTime: "yesterday" }), "malformed"],
    [listOf([], { Servicestatus: "x" }), "malformed"],
    [listOf([entity(service(pid, pidAuthority.certificate), {})]), "malformed"],
    [listOf([entity(service(pid, pidAuthority.certificate, { Servicestatus: "withdrawn" }))]), "malformed"],
    [
      listOf([
        entity(
          service(pid, pidAuthority.certificate, { ServiceDigitalIdentity: { X509Certificates: [{}] } }),
        ),
      ]),
      "malformed",
    ],
    [listOf([entity(service(pid, Uint8Array.of(48, 3, 2, 1, 0)))]), "malformed"],
  ];
  for (const [list, code] of broken)
    assert.equal(await codeOf(await signed(list)), code, JSON.stringify(list));
  for (const text of ["", "{}", "[]", "a.b.c", '{"payload":"","signatures":[]}']) {
    assert.equal(await codeOf(text), "malformed", text);
  }
});
