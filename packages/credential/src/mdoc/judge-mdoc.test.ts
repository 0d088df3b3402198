import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { before, describe, test } from "node:test";
import {
  type CertificateOrder,
  type Identity,
  makeCertificate,
} from "../../test/support/make-certificate.ts";
import type { AskedCredential } from "../asked.ts";
import { concat, digest } from "../bytes.ts";
import { decode } from "../cbor/decode.ts";
import { encode } from "../cbor/encode.ts";
import { type CborKey, CborTag, type CborValue, embedded, isArray, isMap } from "../cbor/value.ts";
import type { HolderBinding } from "../holder-binding.ts";
import type { JudgeContext } from "../judge-context.ts";
import type { Purpose, TrustAnchor } from "../trust-anchor.ts";
import type { RefusalReason } from "../verdict.ts";
import { fullDate, type IssuedMdoc, issueMdoc, type MdocOrder } from "./issue-mdoc.ts";
import { judgeMdoc } from "./judge-mdoc.ts";
import { type HolderProof, type Presentation, presentMdoc } from "./present-mdoc.ts";
import { sessionTranscript } from "./session-transcript.ts";

const now = new Date("2026-11-18T12:00:00Z");
const pid = "eu.europa.ec.eudi.pid.1";
const mdl = "org.iso.18013.5.1";
const av = "eu.europa.ec.av.1";
const binding: HolderBinding = {
  kind: "redirect",
  clientId: "x509_hash:abc",
  nonce: "n-0S6_WzA2Mj",
  responseUri: "https://assay.example/oid4vp/response/1",
  keyThumbprint: new Uint8Array(32).fill(7),
};
const elements = {
  family_name: "Müller",
  given_name: "Ida",
  birth_date: fullDate("1990-02-28"),
  nationality: ["DE", "FR"],
  sex: 2,
  expiry_date: fullDate("2030-01-01"),
  issuing_country: "DE",
};
const asked = (purpose: Purpose, ...sets: readonly (readonly string[])[]): AskedCredential => ({
  id: "a",
  purpose,
  format: "mso_mdoc",
  claimSets: sets.map((set) => set.map((name) => [{ pid, mdl, age: av }[purpose], name])),
});
const askedOfPid = asked(
  "pid",
  ["family_name", "birth_date", "nationality", "expiry_date"],
  ["family_name", "birth_date"],
);

let authority: Identity;
let signer: Identity;
let device: { privateKey: CryptoKey; publicKey: CryptoKey };
type CryptoKey = Identity["privateKey"];

const validity = { notBefore: new Date("2026-01-01T00:00:00Z"), notAfter: new Date("2028-01-01T00:00:00Z") };
const makeSigner = (order: Partial<CertificateOrder> = {}) =>
  makeCertificate({
    subject: "C=DE, CN=Signer",
    ...validity,
    issuer: authority,
    extendedKeyUsage: ["1.0.18013.5.1.2"],
    ...order,
  });
const newKey = () =>
  crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, ["sign", "verify"]);
const signerOf = (identity: Identity) => ({ ...identity, chain: [identity.certificate] });
const anchors = (): TrustAnchor[] =>
  (["pid", "mdl", "age"] as const).map((purpose) => ({
    purpose,
    certificate: authority.certificate,
    list: "operator",
    stale: false,
  }));

before(async () => {
  authority = await makeCertificate({ subject: "C=DE, CN=Authority", ...validity });
  signer = await makeSigner();
  device = await newKey();
});

const issue = (order: Partial<MdocOrder> = {}) =>
  issueMdoc({
    docType: pid,
    nameSpaces: { [pid]: elements },
    signer: signerOf(signer),
    deviceKey: device.publicKey,
    signed: new Date("2026-11-01T00:00:00Z"),
    validFrom: new Date("2026-11-01T00:00:00Z"),
    validUntil: new Date("2026-12-01T00:00:00Z"),
    ...order,
  });
const proof = (): HolderProof => ({ kind: "signature", privateKey: device.privateKey, algorithm: "ES256" });
const disclosed = (...names: readonly string[]) => names.map((name) => [pid, name] as const);
const present = async (mdoc: IssuedMdoc, more: Partial<Presentation> = {}) =>
  presentMdoc(mdoc, {
    transcript: await sessionTranscript(binding),
    disclose: disclosed("family_name", "birth_date", "nationality", "expiry_date"),
    proof: proof(),
    ...more,
  });
const judge = (response: Uint8Array, more: Partial<JudgeContext> = {}) =>
  judgeMdoc(response, {
    asked: askedOfPid,
    binding,
    anchors: anchors(),
    now,
    holderProof: "required",
    ...more,
  });

async function accepts(response: Uint8Array, more: Partial<JudgeContext> = {}) {
  const verdict = await judge(response, more);
  assert.equal(verdict.kind, "accepted", JSON.stringify(verdict));
  if (verdict.kind !== "accepted") throw new Error("refused");
  return verdict;
}

async function refuses(reason: RefusalReason, response: Uint8Array, more: Partial<JudgeContext> = {}) {
  const verdict = await judge(response, more);
  assert.equal(verdict.kind === "refused" ? verdict.reason : "accepted", reason);
}

type Change = (value: CborValue) => CborValue;

/** Changes the value at a path of keys and positions, and encodes again. */
function changed(bytes: Uint8Array, path: readonly CborKey[], change: Change): Uint8Array {
  const walk = (value: CborValue, [first, ...rest]: readonly CborKey[]): CborValue => {
    if (first === undefined) return change(value);
    if (isArray(value)) return value.map((item, index) => (index === first ? walk(item, rest) : item));
    if (isMap(value))
      return new Map([...value].map(([key, item]) => [key, key === first ? walk(item, rest) : item]));
    if (value instanceof CborTag && value.content instanceof Uint8Array && first === "cbor") {
      return new CborTag(value.tag, encode(walk(decode(value.content, { maxBytes: 1e6 }), rest)));
    }
    throw new Error("no such path");
  };
  return encode(walk(decode(bytes, { maxBytes: 1e6 }), path));
}
const withEntry =
  (key: CborKey, entry: CborValue): Change =>
  (value) =>
    new Map([...(isMap(value) ? value : []), [key, entry]]);
const without =
  (key: CborKey): Change =>
  (value) =>
    new Map([...(isMap(value) ? value : [])].filter(([name]) => name !== key));
const document = ["documents", 0] as const;
const issuerAuth = [...document, "issuerSigned", "issuerAuth"] as const;
const nameSpaces = [...document, "issuerSigned", "nameSpaces"] as const;
const deviceSigned = [...document, "deviceSigned"] as const;
const flipped: Change = (value) => {
  assert.ok(value instanceof Uint8Array);
  return value.map((byte, index) => (index === 40 ? byte ^ 1 : byte));
};

/** Issues with a security object that was changed before the issuer signed it. */
async function issueChanged(
  path: readonly CborKey[],
  change: Change,
  issued: IssuedMdoc | null = null,
): Promise<IssuedMdoc> {
  const { signSign1 } = await import("../cose/sign1.ts");
  const mdoc = issued ?? (await issue());
  const payload = mdoc.issuerAuth[2];
  assert.ok(payload instanceof Uint8Array);
  const unprotectedHeaders = mdoc.issuerAuth[1];
  assert.ok(isMap(unprotectedHeaders));
  const issuerAuth = await signSign1({
    key: signer,
    payload: changed(payload, ["cbor", ...path], change),
    unprotectedHeaders,
  });
  return { ...mdoc, issuerAuth };
}

/** An embedded value whose tag number is encoded in more bytes than necessary (RFC 8949, 4.1). */
function withLongerTag(bytes: Uint8Array): Uint8Array {
  return concat(Uint8Array.of(0xda, 0, 0, 0, 24), encode(embedded(bytes)).subarray(2));
}

function replaced(response: Uint8Array, part: Uint8Array, by: Uint8Array): Uint8Array {
  const at = Buffer.from(response).indexOf(part);
  assert.ok(at >= 0);
  return concat(response.subarray(0, at), by, response.subarray(at + part.length));
}

describe("accepted", () => {
  test("a PID, with exactly what was asked for", async () => {
    const verdict = await accepts(await present(await issue()));
    assert.deepEqual(verdict.attributes, {
      familyName: "Müller",
      birthDate: "1990-02-28",
      nationalities: ["DE", "FR"],
      expiryDate: "2030-01-01",
    });
    assert.equal(verdict.holder, "key_proven");
    assert.equal(verdict.disclosedMore, false);
    assert.equal(verdict.status, null);
    assert.deepEqual(verdict.validUntil, new Date("2026-12-01T00:00:00Z"));
    assert.equal(verdict.anchor.purpose, "pid");
  });

  test("elements whose tag the issuer wrote in more bytes than it takes: the digest is over what came", async () => {
    const mdoc = await issue();
    const digests = new Map<CborKey, CborValue>();
    for (const [id, { bytes }] of mdoc.items.entries())
      digests.set(id, await digest("SHA-256", withLongerTag(bytes)));
    const longer = await issueChanged(["valueDigests", pid], () => digests, mdoc);
    const response = await present(longer, { disclose: "all" });
    await refuses("digest_mismatch", response);
    const asWritten = mdoc.items.reduce<Uint8Array>(
      (whole, { bytes }) => replaced(whole, encode(embedded(bytes)), withLongerTag(bytes)),
      response,
    );
    const { attributes } = await accepts(asWritten);
    assert.equal(attributes.familyName, "Müller");
  });

  test("an issuer with ES384 or ES512, digests of SHA-384 or SHA-512, and a device with ES384", async () => {
    for (const [algorithm, digestAlgorithm] of [
      ["ES384", "SHA-384"],
      ["ES512", "SHA-512"],
    ] as const) {
      const other = await makeSigner({ algorithm });
      await accepts(await present(await issue({ signer: signerOf(other), digestAlgorithm })));
    }
    const keys = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-384" }, true, [
      "sign",
      "verify",
    ]);
    const response = await present(await issue({ deviceKey: keys.publicKey }), {
      proof: { kind: "signature", privateKey: keys.privateKey, algorithm: "ES384" },
    });
    await accepts(response);
  });

  test("a chain of certificates as one byte string, as a list of one, and with an authority in between", async () => {
    const response = await present(await issue());
    await accepts(changed(response, [...issuerAuth, 1, 33], (leaf) => [leaf]));
    const middle = await makeCertificate({
      subject: "CN=Middle",
      ...validity,
      issuer: authority,
      isAuthority: true,
    });
    const below = await makeSigner({ issuer: middle });
    const chain = [below.certificate, middle.certificate];
    await accepts(await present(await issue({ signer: { ...below, chain } })));
  });

  test("a status reference, which the verdict hands on", async () => {
    const status = { uri: "https://issuer.example/status/1", index: 412 };
    assert.deepEqual((await accepts(await present(await issue({ status })))).status, status);
    const other = await issueChanged([], withEntry("status", new Map([["identifier_list", new Map()]])));
    assert.equal((await accepts(await present(other))).status, null, "another mechanism is left alone");
  });

  test("entries of maps in any order, and unknown members of what the issuer signed", async () => {
    const reversed: Change = (value) => new Map([...(isMap(value) ? value : [])].reverse());
    const response = await present(await issue());
    await accepts(changed(changed(response, [], reversed), document, reversed));
    await accepts(await present(await issueChanged([], withEntry("extension", 1))));
    await accepts(changed(response, [...issuerAuth, 1], withEntry(4, Uint8Array.of(1))), {});
  });

  test("errors that are reported beside a document", async () => {
    const response = await present(await issue());
    await accepts(changed(response, [], withEntry("documentErrors", [new Map([["other.type", 0]])])));
    await accepts(changed(response, document, withEntry("errors", new Map([[pid, new Map([["sex", 0]])]]))));
  });

  test("times with fractions of seconds and offsets", async () => {
    for (const time of ["2026-11-01T00:00:00.123Z", "2026-11-01T02:00:00+02:00"]) {
      await accepts(
        await present(await issueChanged(["validityInfo", "validFrom"], () => new CborTag(0, time))),
      );
    }
  });

  test("a smaller set of claims where the larger one is not disclosed", async () => {
    const verdict = await accepts(
      await present(await issue(), { disclose: disclosed("family_name", "birth_date") }),
    );
    assert.deepEqual(Object.keys(verdict.attributes), ["familyName", "birthDate"]);
  });

  test("more than was asked for, which is dropped and reported", async () => {
    const domestic = { [pid]: elements, "eu.europa.ec.eudi.pid.de.1": { tax_number: "123" } };
    const verdict = await accepts(await present(await issue({ nameSpaces: domestic }), { disclose: "all" }));
    assert.equal(verdict.disclosedMore, true);
    assert.deepEqual(Object.keys(verdict.attributes).sort(), [
      "birthDate",
      "expiryDate",
      "familyName",
      "nationalities",
    ]);
  });

  test("a MAC of the device, where we have the key that it was made with", async () => {
    const ecdh = { name: "ECDH", namedCurve: "P-256" } as const;
    const reader = await crypto.subtle.generateKey(ecdh, true, ["deriveBits"]);
    const jwk = await crypto.subtle.exportKey("jwk", device.privateKey);
    const { kty = "", crv = "", x = "", y = "", d = "" } = jwk;
    const privateKey = await crypto.subtle.importKey("jwk", { kty, crv, x, y, d }, ecdh, false, [
      "deriveBits",
    ]);
    const response = await present(await issue(), {
      proof: { kind: "mac", privateKey, readerKey: reader.publicKey },
    });
    const { kty: kind = "", ...readerKey } = await crypto.subtle.exportKey("jwk", reader.privateKey);
    const withKey = { ...binding, readerKey: { kty: kind, ...readerKey } };
    assert.equal((await accepts(response, { binding: withKey })).holder, "key_proven");
    await refuses("holder_signature", response);
    await refuses("holder_signature", response, { binding: { ...withKey, nonce: "another" } });
    const other = await crypto.subtle.generateKey(ecdh, true, ["deriveBits"]);
    const { kty: otherKind = "", ...otherKey } = await crypto.subtle.exportKey("jwk", other.privateKey);
    await refuses("holder_signature", response, {
      binding: { ...binding, readerKey: { kty: otherKind, ...otherKey } },
    });
    const wrongAlgorithm = changed(response, [...deviceSigned, "deviceAuth", "deviceMac", 0], () =>
      encode(new Map([[1, 4]])),
    );
    await refuses("holder_signature", wrongAlgorithm, { binding: withKey });
  });

  test("a driving licence, and only from an issuer of the state that it names", async () => {
    const more = { asked: asked("mdl", ["family_name", "issuing_country"]) };
    const licence = (subject: string) =>
      makeSigner({ subject }).then((identity) =>
        issue({
          docType: "org.iso.18013.5.1.mDL",
          nameSpaces: { [mdl]: elements },
          signer: signerOf(identity),
        }),
      );
    assert.equal(
      (await accepts(await present(await licence("C=DE, CN=Signer"), { disclose: "all" }), more)).purpose,
      "mdl",
    );
    await refuses(
      "issuer_not_valid",
      await present(await licence("C=FR, CN=Signer"), { disclose: "all" }),
      more,
    );
  });
});

describe("a proof of age", () => {
  const age = { asked: asked("age", ["age_over_18"]), holderProof: "not_required" } as const;
  const mdoc = (order: Partial<MdocOrder> = {}) =>
    issue({ docType: av, nameSpaces: { [av]: { age_over_18: true } }, ...order });

  test("may come without the holder's signature, and says so", async () => {
    const bare = await present(await mdoc(), { disclose: "all", proof: { kind: "none" } });
    const verdict = await accepts(bare, age);
    assert.equal(verdict.holder, "not_proven");
    assert.deepEqual(verdict.attributes, { ageOver: { 18: true } });
    const unbound = await present(await mdoc({ deviceKey: null }), {
      disclose: "all",
      proof: { kind: "none" },
    });
    assert.equal((await accepts(unbound, age)).holder, "not_proven");
    await refuses("holder_proof_missing", bare, { ...age, holderProof: "required" });
  });

  test("with a signature is proven, and with a wrong one refused", async () => {
    const signed = await present(await mdoc(), { disclose: "all" });
    assert.equal((await accepts(signed, age)).holder, "key_proven");
    await refuses("holder_signature", signed, { ...age, binding: { ...binding, nonce: "another" } });
    const unbound = await present(await mdoc({ deviceKey: null }), { disclose: "all" });
    await refuses("holder_signature", unbound, age);
  });

  test("is the only credential that the holder need not prove", async () => {
    const bare = await present(await issue(), { proof: { kind: "none" } });
    await refuses("holder_proof_missing", bare, { holderProof: "not_required" });
  });
});

describe("refused", () => {
  test("a response without documents", async () => {
    const response = await present(await issue());
    await refuses("no_documents", changed(response, [], without("documents")));
    await refuses(
      "no_documents",
      changed(response, ["documents"], () => []),
    );
  });

  test("a status that is not 0, with documents or without", async () => {
    const response = await present(await issue());
    await refuses(
      "status_not_ok",
      changed(response, ["status"], () => 10),
    );
    await refuses(
      "status_not_ok",
      changed(
        changed(response, ["status"], () => 20),
        [],
        without("documents"),
      ),
    );
  });

  test("two documents", async () => {
    const response = await present(await issue());
    await refuses(
      "malformed",
      changed(response, ["documents"], (value) => (isArray(value) ? [...value, ...value] : value)),
    );
  });

  test("an element or a digest that stands twice", async () => {
    const response = await present(await issue());
    const twice: Change = (value) => (isArray(value) ? [...value, ...value.slice(0, 1)] : value);
    await refuses("repeated_element", changed(response, [...nameSpaces, pid], twice));
    const sameId: Change = (value) => withEntry("digestID", 3)(value);
    const both = changed(
      changed(response, [...nameSpaces, pid, 0, "cbor"], sameId),
      [...nameSpaces, pid, 1, "cbor"],
      sameId,
    );
    await refuses("repeated_element", both);
  });

  test("an unknown key, wherever the issuer did not sign it", async () => {
    const response = await present(await issue());
    const places = [
      [],
      document,
      [...document, "issuerSigned"],
      deviceSigned,
      [...deviceSigned, "deviceAuth"],
      [...nameSpaces, pid, 0, "cbor"],
    ];
    for (const place of places) await refuses("malformed", changed(response, place, withEntry("x", 1)));
  });

  test("a duplicate key", async () => {
    const response = Buffer.from(await present(await issue()));
    assert.equal(response[0], 0xa3);
    const twice = Buffer.concat([Buffer.from([0xa4]), response.subarray(1), encode("status"), encode(0)]);
    await refuses("malformed", twice);
  });

  test("an unknown version of the response or of the security object", async () => {
    await refuses(
      "malformed",
      changed(await present(await issue()), ["version"], () => "2.0"),
    );
    await refuses("malformed", await present(await issueChanged(["version"], () => "2.0")));
  });

  test("a namespaces key that was damaged: zero claims are no presentation", async () => {
    const response = await present(await issue());
    await refuses(
      "malformed",
      changed(
        response,
        [...document, "issuerSigned"],
        (value) =>
          new Map(
            [...(isMap(value) ? value : [])].map(([key, item]) => [
              key === "nameSpaces" ? "nameSpacer" : key,
              item,
            ]),
          ),
      ),
    );
    await refuses("claim_missing", changed(response, [...document, "issuerSigned"], without("nameSpaces")));
    await refuses(
      "malformed",
      changed(response, [...nameSpaces, pid], () => []),
    );
  });

  test("another type, outside or in what the issuer signed", async () => {
    const card = { docType: "org.example.library" };
    await refuses("wrong_type", await present(await issue(card)));
    const disguised = { ...(await issue(card)), docType: pid };
    await refuses("wrong_type", await present(disguised));
    await refuses("wrong_type", await present(await issue()), { asked: asked("mdl", ["family_name"]) });
    await refuses("wrong_type", await present(await issue({ docType: `${pid} ` })));
  });

  test("an issuer that is not on the list, or on the list of another purpose", async () => {
    const stranger = await makeCertificate({ subject: "C=DE, CN=Authority", ...validity });
    const response = await present(await issue({ signer: signerOf(await makeSigner({ issuer: stranger })) }));
    await refuses("issuer_unknown", response);
    const good = await present(await issue());
    await refuses("issuer_unknown", good, { anchors: anchors().filter(({ purpose }) => purpose !== "pid") });
    await refuses("issuer_unknown", good, { anchors: [] });
  });

  test("an issuer whose certificate is over, not yet valid or missing", async () => {
    const expired = await makeSigner({ notAfter: new Date("2026-11-10T00:00:00Z") });
    await refuses("issuer_not_valid", await present(await issue({ signer: signerOf(expired) })));
    const late = await makeSigner({ notBefore: new Date("2026-11-10T00:00:00Z") });
    await refuses("issuer_not_valid", await present(await issue({ signer: signerOf(late) })), {});
    await refuses("issuer_not_valid", changed(await present(await issue()), [...issuerAuth, 1], without(33)));
    await refuses(
      "issuer_not_valid",
      changed(await present(await issue()), [...issuerAuth, 1, 33], () => []),
    );
    await refuses(
      "malformed",
      changed(await present(await issue()), [...issuerAuth, 1, 33], () => "x"),
    );
  });

  test("a wrong signature of the issuer", async () => {
    const response = await present(await issue());
    await refuses("issuer_signature", changed(response, [...issuerAuth, 3], flipped));
    await refuses("issuer_signature", changed(response, [...issuerAuth, 2], flipped));
    await refuses(
      "issuer_signature",
      changed(response, [...issuerAuth, 3], () => new Uint8Array(64)),
    );
    await refuses(
      "issuer_signature",
      changed(response, [...issuerAuth, 3], () => new Uint8Array()),
    );
    const other = await makeSigner();
    await refuses(
      "issuer_signature",
      changed(response, [...issuerAuth, 1, 33], () => other.certificate),
    );
    await refuses(
      "malformed",
      changed(response, [...issuerAuth, 2], () => null),
    );
  });

  test("an algorithm that does not fit the issuer's key, is unprotected or not allowed", async () => {
    const response = await present(await issue());
    for (const algorithm of [-35, -8, -257, 5]) {
      const other = changed(response, [...issuerAuth, 0], () => encode(new Map([[1, algorithm]])));
      await refuses("algorithm_not_allowed", other);
    }
    const bare = changed(response, [...issuerAuth, 0], () => new Uint8Array());
    await refuses("algorithm_not_allowed", changed(bare, [...issuerAuth, 1], withEntry(1, -7)));
    await refuses("malformed", changed(response, [...issuerAuth, 1], withEntry(1, -7)));
    await refuses("algorithm_not_allowed", changed(response, [...issuerAuth, 1], withEntry(2, [1])));
    await refuses(
      "algorithm_not_allowed",
      await present(await issueChanged(["digestAlgorithm"], () => "SHA-1")),
    );
  });

  test("an element whose value, salt or namespace the issuer did not sign", async () => {
    const response = await present(await issue());
    const first = [...nameSpaces, pid, 0, "cbor"];
    await refuses(
      "digest_mismatch",
      changed(response, [...first, "elementValue"], () => "Schmidt"),
    );
    await refuses(
      "digest_mismatch",
      changed(response, [...first, "elementIdentifier"], () => "given_name"),
    );
    await refuses(
      "digest_mismatch",
      changed(response, [...first, "random"], () => new Uint8Array(16)),
    );
    await refuses(
      "digest_mismatch",
      changed(response, [...first, "digestID"], () => 99),
    );
    await refuses(
      "malformed",
      changed(response, [...first, "random"], () => new Uint8Array(15)),
    );
    const moved: Change = (value) =>
      new Map([...(isMap(value) ? value : [])].map(([, items]) => ["org.other", items]));
    await refuses("digest_mismatch", changed(response, nameSpaces, moved));
    const added = await issue({ nameSpaces: { "org.other": { family_name: "Schmidt" } } });
    const foreign = embedded(added.items[0]?.bytes ?? new Uint8Array());
    await refuses("digest_mismatch", changed(response, nameSpaces, withEntry("org.other", [foreign])));
  });

  test("an element or a claim of the device whose tag is not the one that was signed", async () => {
    const mdoc = await issue();
    const response = await present(mdoc);
    const item = mdoc.items[0]?.bytes ?? assert.fail();
    await refuses("digest_mismatch", replaced(response, encode(embedded(item)), withLongerTag(item)));
    const nothing = encode(new Map());
    await refuses("holder_signature", replaced(response, encode(embedded(nothing)), withLongerTag(nothing)));
  });

  test("a credential that is over, not yet valid or signed in the future", async () => {
    await refuses(
      "credential_expired",
      await present(await issue({ validUntil: new Date("2026-11-18T11:59:59Z") })),
    );
    await refuses(
      "not_yet_valid",
      await present(await issue({ validFrom: new Date("2026-11-18T12:02:00Z") })),
    );
    await refuses("not_yet_valid", await present(await issue({ signed: new Date("2026-11-19T00:00:00Z") })));
    await accepts(await present(await issue({ validFrom: new Date("2026-11-18T12:00:30Z") })), {});
    await refuses(
      "issuer_not_valid",
      await present(await issue({ signed: new Date("2025-11-19T00:00:00Z") })),
    );
  });

  test("times in another form", async () => {
    for (const time of [
      "2026-11-01T00:00:00Z",
      new CborTag(0, "2026-11-01"),
      new CborTag(1, 1_700_000_000),
      new CborTag(0, "2026-02-30T00:00:00Z"),
    ]) {
      await refuses(
        "malformed",
        await present(await issueChanged(["validityInfo", "validFrom"], () => time)),
      );
    }
  });

  test("a document that is over although the credential is not", async () => {
    const over = { [pid]: { ...elements, expiry_date: fullDate("2026-11-10") } };
    await refuses("document_expired", await present(await issue({ nameSpaces: over })));
  });

  test("a presentation for another request", async () => {
    const response = await present(await issue());
    for (const other of [
      { nonce: "another" },
      { clientId: "x509_hash:abd" },
      { responseUri: "https://evil.example" },
      { keyThumbprint: null },
    ]) {
      await refuses("holder_signature", response, { binding: { ...binding, ...other } });
    }
    const api: HolderBinding = {
      kind: "dc_api",
      origin: "https://assay.example",
      nonce: "n",
      keyThumbprint: null,
    };
    await refuses("holder_signature", response, { binding: api });
    const forApi = await present(await issue(), { transcript: await sessionTranscript(api) });
    await accepts(forApi, { binding: api });
    await refuses("holder_signature", forApi, { binding: { ...api, origin: "https://evil.example" } });
  });

  test("a holder with another key, without a signature, with a wrong one, or with two proofs", async () => {
    const response = await present(await issue());
    const other = await newKey();
    const thief: HolderProof = { kind: "signature", privateKey: other.privateKey, algorithm: "ES256" };
    await refuses("holder_signature", await present(await issue(), { proof: thief }));
    await refuses("holder_proof_missing", await present(await issue(), { proof: { kind: "none" } }));
    await refuses(
      "holder_proof_missing",
      changed(response, [...deviceSigned, "deviceAuth"], () => new Map()),
    );
    await refuses("holder_proof_missing", changed(response, deviceSigned, without("deviceAuth")));
    const signature = [...deviceSigned, "deviceAuth", "deviceSignature"];
    await refuses("holder_signature", changed(response, [...signature, 3], flipped));
    await refuses(
      "holder_signature",
      changed(response, [...signature, 3], () => new Uint8Array(64)),
    );
    await refuses(
      "holder_signature",
      changed(response, [...signature, 0], () => encode(new Map([[1, -35]]))),
    );
    await refuses(
      "malformed",
      changed(response, [...signature, 2], () => new Uint8Array(4)),
    );
    const mac: CborValue = [encode(new Map([[1, 5]])), new Map(), null, new Uint8Array(32)];
    await refuses(
      "malformed",
      changed(response, [...deviceSigned, "deviceAuth"], withEntry("deviceMac", mac)),
    );
    await refuses(
      "holder_signature",
      changed(response, [...deviceSigned, "deviceAuth"], () => new Map([["deviceMac", mac]])),
    );
    const claims = embedded(encode(new Map([[pid, new Map([["family_name", "Schmidt"]])]])));
    await refuses(
      "holder_signature",
      changed(response, [...deviceSigned, "nameSpaces"], () => claims),
    );
  });

  test("a device key of another kind, or a point that is on no curve", async () => {
    const key = ["deviceKeyInfo", "deviceKey"];
    await refuses("algorithm_not_allowed", await present(await issueChanged([...key, 1], () => 1)));
    await refuses("malformed", await present(await issueChanged([...key, -2], () => new Uint8Array(31))));
    await refuses("malformed", await present(await issueChanged([...key, -3], () => new Uint8Array(32))));
    await refuses("malformed", await present(await issueChanged(key, withEntry(-4, new Uint8Array(32)))));
    await refuses("holder_signature", await present(await issueChanged([], without("deviceKeyInfo"))));
  });

  test("a required claim that is missing or in the wrong namespace", async () => {
    await refuses(
      "claim_missing",
      await present(await issue(), { disclose: disclosed("family_name", "nationality") }),
    );
    await refuses("claim_missing", await present(await issue(), { disclose: [] }));
    const domestic = "eu.europa.ec.eudi.pid.de.1";
    const elsewhere = await issue({ nameSpaces: { [domestic]: elements } });
    await refuses("claim_missing", await present(elsewhere, { disclose: "all" }));
  });

  test("a claim of another form", async () => {
    const odd = { ...elements, birth_date: 19900228 };
    await refuses("claim_unreadable", await present(await issue({ nameSpaces: { [pid]: odd } })));
  });

  test("more data items than one response may have, spread over its elements", async () => {
    const many = Array.from({ length: 3000 }, () => new Map<CborKey, CborValue>());
    const elementsOf = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`extra_${index}`, many]));
    const few = await issue({ nameSpaces: { [pid]: { ...elements, ...elementsOf(5) } } });
    await accepts(await present(few, { disclose: "all" }));
    const lots = await issue({ nameSpaces: { [pid]: { ...elements, ...elementsOf(7) } } });
    await refuses("malformed", await present(lots, { disclose: "all" }));
  });

  test("a status reference that points nowhere", async () => {
    for (const list of [
      null,
      new Map(),
      new Map<CborKey, CborValue>([
        ["idx", -1],
        ["uri", "https://x.example"],
      ]),
    ]) {
      await refuses(
        "malformed",
        await present(await issueChanged([], withEntry("status", new Map([["status_list", list]])))),
      );
    }
  });

  test("bytes that are no response at all", async () => {
    for (const hex of ["", "00", "a0", "f6", "80", "ff", "a36776657273696f6e"]) {
      await refuses("malformed", Uint8Array.from(Buffer.from(hex, "hex")));
    }
    await refuses("malformed", new Uint8Array(256 * 1024 + 1));
  });
});

test("a flipped bit is refused, or lies where it changes nothing that the verdict says", async () => {
  const mdoc = await issue({ status: { uri: "https://issuer.example/status/1", index: 412 } });
  const response = await present(mdoc);
  const original = await accepts(response);
  let [judgedCount, refusedCount] = [0, 0];
  // Every third byte, from another one in each run: all of them took 4 s.
  for (let index = randomInt(3); index < response.length; index += 3) {
    judgedCount++;
    const verdict = await judge(
      response.map((byte, at) => (at === index ? byte ^ (1 << (index % 8)) : byte)),
    );
    if (verdict.kind === "accepted") assert.deepEqual(verdict, original, `byte ${index}`);
    else refusedCount++;
  }
  assert.ok(refusedCount > judgedCount * 0.98, `${judgedCount - refusedCount} of ${judgedCount} accepted`);
});
