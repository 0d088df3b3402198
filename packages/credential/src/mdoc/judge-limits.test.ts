import assert from "node:assert/strict";
import { test } from "node:test";
import { makeCertificate } from "../../test/support/make-certificate.ts";
import type { AskedCredential } from "../asked.ts";
import { decode } from "../cbor/decode.ts";
import { encode } from "../cbor/encode.ts";
import { type CborKey, type CborValue, embedded, isArray, isMap } from "../cbor/value.ts";
import { signSign1 } from "../cose/sign1.ts";
import type { HolderBinding } from "../holder-binding.ts";
import type { JudgeContext } from "../judge-context.ts";
import { deviceAuthenticationBytes } from "./device-authentication.ts";
import { issueMdoc, type MdocOrder } from "./issue-mdoc.ts";
import { judgeMdoc } from "./judge-mdoc.ts";
import { presentMdoc } from "./present-mdoc.ts";
import { sessionTranscript } from "./session-transcript.ts";

const now = new Date("2026-11-18T12:00:00Z");
const later = (ms: number) => new Date(now.getTime() + ms);
const pid = "eu.europa.ec.eudi.pid.1";
const binding: HolderBinding = {
  kind: "redirect",
  clientId: "x509_hash:abc",
  nonce: "n-0S6_WzA2Mj",
  responseUri: "https://assay.example/oid4vp/response/1",
  keyThumbprint: null,
};
const transcript = await sessionTranscript(binding);
const asked: AskedCredential = {
  id: "a",
  purpose: "pid",
  format: "mso_mdoc",
  claimSets: [[[pid, "family_name"]]],
};
const validity = { notBefore: new Date("2026-11-01T00:00:00Z"), notAfter: new Date("2028-01-01T00:00:00Z") };
const authority = await makeCertificate({ subject: "C=DE, CN=Authority", ...validity });
const signer = await makeCertificate({ subject: "C=DE, CN=Signer", ...validity, issuer: authority });
const keysOn = (namedCurve: string) =>
  crypto.subtle.generateKey({ name: "ECDSA", namedCurve }, true, ["sign", "verify"]);
const device = await keysOn("P-256");
const proof = { kind: "signature", privateKey: device.privateKey, algorithm: "ES256" } as const;

const issue = (order: Partial<MdocOrder> = {}) =>
  issueMdoc({
    docType: pid,
    nameSpaces: { [pid]: { family_name: "Müller" } },
    signer: { ...signer, chain: [signer.certificate] },
    deviceKey: device.publicKey,
    signed: later(-86_400_000),
    validFrom: later(-86_400_000),
    validUntil: later(86_400_000),
    ...order,
  });
const context = (more: Partial<JudgeContext> = {}): JudgeContext => ({
  asked,
  binding,
  anchors: [{ purpose: "pid", certificate: authority.certificate, list: "operator", stale: false }],
  now,
  holderProof: "required",
  ...more,
});
const outcome = async (response: Uint8Array, more: Partial<JudgeContext> = {}) => {
  const verdict = await judgeMdoc(response, context(more));
  return verdict.kind === "accepted" ? "accepted" : verdict.reason;
};
const outcomeOf = async (order: Partial<MdocOrder>) =>
  outcome(await presentMdoc(await issue(order), { transcript, disclose: "all", proof }));

test("a credential counts up to the second of its end, and a minute before its beginning", async () => {
  assert.equal(await outcomeOf({ validUntil: now }), "accepted");
  assert.equal(await outcomeOf({ validUntil: later(-1000) }), "credential_expired");
  for (const name of ["validFrom", "signed"] as const) {
    assert.equal(await outcomeOf({ [name]: later(60_000) }), "accepted", name);
    assert.equal(await outcomeOf({ [name]: later(61_000) }), "not_yet_valid", name);
  }
});

test("a credential is signed while the certificate of its signer is valid", async () => {
  assert.equal(await outcomeOf({ signed: validity.notBefore }), "accepted");
  const before = new Date(validity.notBefore.getTime() - 1000);
  assert.equal(await outcomeOf({ signed: before }), "issuer_not_valid");
  const ending = await makeCertificate({
    subject: "C=DE, CN=Ending",
    notBefore: validity.notBefore,
    notAfter: later(10_000),
    issuer: authority,
  });
  const signedAt = (signed: Date) =>
    outcomeOf({ signer: { ...ending, chain: [ending.certificate] }, signed });
  assert.equal(await signedAt(later(10_000)), "accepted");
  assert.equal(await signedAt(later(11_000)), "issuer_not_valid");
});

test("what the device says of itself is reported as more, and never read", async () => {
  const mdoc = await issue();
  const nameSpaces = encode(new Map([[pid, new Map([["family_name", "Schmidt"]])]]));
  const content = deviceAuthenticationBytes(transcript, pid, encode(embedded(nameSpaces)));
  const signature = await signSign1({ key: proof, payload: content, isDetached: true });
  const document = new Map<CborKey, CborValue>([
    ["docType", pid],
    [
      "issuerSigned",
      new Map<CborKey, CborValue>([
        ["nameSpaces", new Map([[pid, mdoc.items.map(({ bytes }) => embedded(bytes))]])],
        ["issuerAuth", mdoc.issuerAuth],
      ]),
    ],
    [
      "deviceSigned",
      new Map<CborKey, CborValue>([
        ["nameSpaces", embedded(nameSpaces)],
        ["deviceAuth", new Map([["deviceSignature", signature]])],
      ]),
    ],
  ]);
  const response = encode(
    new Map<CborKey, CborValue>([
      ["version", "1.0"],
      ["documents", [document]],
      ["status", 0],
    ]),
  );
  const verdict = await judgeMdoc(response, context());
  assert.equal(verdict.kind === "accepted" && verdict.attributes.familyName, "Müller");
  assert.equal(verdict.kind === "accepted" && verdict.disclosedMore, true);
});

test("a MAC of a device whose key is on another curve than ours is refused", async () => {
  const ecdh = (namedCurve: string) =>
    crypto.subtle.generateKey({ name: "ECDH", namedCurve }, true, ["deriveBits"]);
  const reader = await ecdh("P-256");
  const { kty = "", ...readerKey } = await crypto.subtle.exportKey("jwk", reader.privateKey);
  const ours = await ecdh("P-256");
  const mac = { kind: "mac", privateKey: ours.privateKey, readerKey: reader.publicKey } as const;
  const other = await issue({ deviceKey: (await keysOn("P-384")).publicKey });
  const response = await presentMdoc(other, { transcript, disclose: "all", proof: mac });
  const more = { binding: { ...binding, readerKey: { kty, ...readerKey } } };
  assert.equal(await outcome(response, more), "holder_signature");
});

test("namespaces of another form are malformed, and never a fault of ours", async () => {
  const response = await presentMdoc(await issue(), { transcript, disclose: "all", proof });
  const withNameSpaces = (nameSpaces: CborValue): Uint8Array => {
    const replaced = (value: CborValue): CborValue => {
      if (isArray(value)) return value.map(replaced);
      if (!isMap(value)) return value;
      const isIssuers = value.has("issuerAuth");
      return new Map(
        [...value].map(([key, item]) => [
          key,
          isIssuers ? (key === "nameSpaces" ? nameSpaces : item) : replaced(item),
        ]),
      );
    };
    return encode(replaced(decode(response, { maxBytes: 1e6 })));
  };
  for (const odd of [1, null, true, "text", [], [[pid, []]], new Map([[1, []]]), new Map([[pid, 1]])])
    assert.equal(await outcome(withNameSpaces(odd)), "malformed", JSON.stringify(odd));
});
