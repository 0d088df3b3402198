import assert from "node:assert/strict";
import { test } from "node:test";
import { DeviceRequest, Holder, SessionTranscript } from "@owf/mdoc";
import recorded from "../../fuzz/cbor-seeds.json" with { type: "json" };
import keys from "../../fuzz/jose-seeds.json" with { type: "json" };
import { owfContext } from "../../test/owf-context.ts";
import { makeCertificate } from "../../test/support/make-certificate.ts";
import type { AskedCredential } from "../asked.ts";
import { fromBase64, fromBase64Url, toBase64Url } from "../base64url.ts";
import { decode } from "../cbor/decode.ts";
import { encode } from "../cbor/encode.ts";
import { type CborValue, isArray, isMap } from "../cbor/value.ts";
import { CredentialError } from "../credential-error.ts";
import { sessionTranscript } from "../mdoc/session-transcript.ts";
import { deviceRequest, newEncryptionInfo, openAnnexC, sealAnnexC } from "./annex-c.ts";

async function newRequest(origin = "https://assay.example") {
  const algorithm = { name: "ECDH", namedCurve: "P-256" };
  const pair = await crypto.subtle.generateKey(algorithm, true, ["deriveBits"]);
  const { kty = "", ...jwk } = await crypto.subtle.exportKey("jwk", pair.privateKey);
  const privateKey = { kty, ...jwk };
  const encryptionInfo = newEncryptionInfo(crypto.getRandomValues(new Uint8Array(32)), privateKey);
  return { privateKey, binding: { kind: "annex_c", origin, encryptionInfo } as const };
}
const malformed = (error: unknown) => error instanceof CredentialError && error.code === "malformed";

// eu-digital-identity-wallet/av-doc-technical-specification, Annex A, "W3C Digital Credentials API": a
// request of the EU's reference verifier.
const published = {
  encryptionInfo:
    "gmVkY2FwaaJlbm9uY2VQtJvGiCZ0egQII8fQgu960HJyZWNpcGllbnRQdWJsaWNLZXmkAQIgASFYIMmliVBWgs8KKpAychO3py0Eqagows-CrraFX1rVOniXIlggIMvYr_x55AY4LKiWZLHBlQJmX1R9Y5BkUfnuSddAmyE",
  deviceRequest:
    "omd2ZXJzaW9uYzEuMGtkb2NSZXF1ZXN0c4GhbGl0ZW1zUmVxdWVzdNgYWEeiZ2RvY1R5cGVxZXUuZXVyb3BhLmVjLmF2LjFqbmFtZVNwYWNlc6FxZXUuZXVyb3BhLmVjLmF2LjGha2FnZV9vdmVyXzE49A",
  origin: "https://verifier.ageverification.dev",
  digest: "4a292708fcf38ad55a7969f1c97ead9decf7756b7e9d8cfee942fe9f31b8db0a",
};

test("transcript, encryption info and request of a proof of age are those of the EU's profile, byte for byte", async () => {
  const { encryptionInfo, origin } = published;
  const transcript = await sessionTranscript({ kind: "annex_c", origin, encryptionInfo });
  assert.equal(Buffer.from(transcript).toString("hex"), `83f6f6826564636170695820${published.digest}`);
  const value = decode(fromBase64Url(encryptionInfo), { maxBytes: 1000 });
  assert.ok(isArray(value) && isMap(value[1]));
  const key = value[1].get("recipientPublicKey");
  const nonce = value[1].get("nonce");
  assert.ok(isMap(key) && nonce instanceof Uint8Array);
  const [x, y] = [key.get(-2), key.get(-3)];
  assert.ok(x instanceof Uint8Array && y instanceof Uint8Array);
  const jwk = { kty: "EC", crv: "P-256", x: toBase64Url(x), y: toBase64Url(y) };
  assert.equal(newEncryptionInfo(nonce, jwk), encryptionInfo);
  const age: AskedCredential = {
    id: "age",
    purpose: "age",
    format: "mso_mdoc",
    claimSets: [[["eu.europa.ec.av.1", "age_over_18"]]],
  };
  assert.equal(await deviceRequest(age, null, transcript), published.deviceRequest);
});

test("the encryption info holds the nonce and the public key, and nothing of the private one", async () => {
  const { privateKey, binding } = await newRequest();
  const value = decode(fromBase64Url(binding.encryptionInfo), { maxBytes: 1000 });
  assert.ok(isArray(value) && value[0] === "dcapi" && isMap(value[1]));
  const key = value[1].get("recipientPublicKey");
  assert.ok(isMap(key));
  assert.deepEqual([...key.keys()], [1, -1, -2, -3]);
  assert.deepEqual(key.get(-2), fromBase64Url(privateKey.x ?? ""));
  assert.throws(() => newEncryptionInfo(new Uint8Array(15), privateKey), malformed);
});

test("what another implementation of HPKE sealed is opened", async () => {
  // By code of this project on WebCrypto, before @hpke/core took its place.
  const { encryptionInfo, answer, deviceResponse } = recorded;
  const binding = { kind: "annex_c", origin: "https://verifier.example", encryptionInfo } as const;
  const opened = await openAnnexC(answer, keys.encryptionKey, binding);
  assert.deepEqual(opened, fromBase64(deviceResponse).slice(0, 500));
});

test("what the test wallet seals is opened, fifty times", async () => {
  const { privateKey, binding } = await newRequest();
  for (let round = 0; round < 50; round++) {
    const plaintext = crypto.getRandomValues(new Uint8Array(round * 37));
    assert.deepEqual(await openAnnexC(await sealAnnexC(plaintext, binding), privateKey, binding), plaintext);
  }
});

test("an answer for another request, from another origin, with another key or damaged is not opened", async () => {
  const { privateKey, binding } = await newRequest();
  const sealed = await sealAnnexC(Uint8Array.of(1, 2, 3), binding);
  assert.deepEqual(await openAnnexC(sealed, privateKey, binding), Uint8Array.of(1, 2, 3));
  const other = await newRequest();
  await assert.rejects(
    openAnnexC(sealed, privateKey, { ...binding, origin: "https://evil.example" }),
    malformed,
  );
  await assert.rejects(openAnnexC(sealed, privateKey, other.binding), malformed);
  await assert.rejects(openAnnexC(sealed, other.privateKey, binding), malformed);
  const bytes = fromBase64Url(sealed);
  for (let index = 0; index < bytes.length; index += 7) {
    const damaged = bytes.map((byte, at) => (at === index ? byte ^ 1 : byte));
    await assert.rejects(openAnnexC(toBase64Url(damaged), privateKey, binding), CredentialError);
  }
  const odd: readonly CborValue[] = [
    [],
    ["dcapi"],
    ["other", new Map()],
    ["dcapi", new Map()],
    new Map(),
    ["dcapi", new Map([["enc", 1]])],
  ];
  for (const value of odd)
    await assert.rejects(openAnnexC(toBase64Url(encode(value)), privateKey, binding), malformed);
});

test("a request names document type and elements, and @owf/mdoc accepts the reader's signature", async () => {
  const valid = { notBefore: new Date("2026-01-01T00:00:00Z"), notAfter: new Date("2028-01-01T00:00:00Z") };
  const reader = await makeCertificate({ subject: "CN=Reader", ...valid });
  // The transcript is signed as given; @owf/mdoc 0.6.0 cannot read that of Annex C yet.
  const api = { kind: "dc_api", origin: "https://assay.example", nonce: "n", keyThumbprint: null } as const;
  const transcript = await sessionTranscript(api);
  const mdl = "org.iso.18013.5.1";
  const asked: AskedCredential = {
    id: "mdl",
    purpose: "mdl",
    format: "mso_mdoc",
    claimSets: [
      [
        [mdl, "family_name"],
        [mdl, "age_over_18"],
      ],
      [
        [mdl, "family_name"],
        [mdl, "birth_date"],
      ],
    ],
  };
  const request = await deviceRequest(
    asked,
    { chain: [reader.certificate], privateKey: reader.privateKey },
    transcript,
  );
  const read = DeviceRequest.decode(fromBase64Url(request));
  assert.equal(read.docRequests.length, 1);
  const items = read.docRequests[0]?.itemsRequest;
  assert.equal(items?.docType, "org.iso.18013.5.1.mDL");
  assert.deepEqual([...(items?.namespaces.get(mdl)?.keys() ?? [])], ["family_name", "age_over_18"]);
  const sessionTranscriptOf = (bytes: Uint8Array) => SessionTranscript.decode(bytes);
  const options = { deviceRequest: read, sessionTranscript: sessionTranscriptOf(transcript) };
  await Holder.verifyDeviceRequest(options, owfContext);
  const other = sessionTranscriptOf(await sessionTranscript({ ...api, nonce: "another" }));
  await assert.rejects(Holder.verifyDeviceRequest({ ...options, sessionTranscript: other }, owfContext));
  const unsigned = DeviceRequest.decode(fromBase64Url(await deviceRequest(asked, null, transcript)));
  assert.equal(unsigned.docRequests[0]?.readerAuth, undefined);
});
