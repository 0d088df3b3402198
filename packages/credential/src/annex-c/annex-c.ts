import { Aes128Gcm, CipherSuite, DhkemP256HkdfSha256, HkdfSha256 } from "@hpke/core";
import type { CryptoKey, JWK } from "jose";
import type { AskedCredential } from "../asked.ts";
import { fromBase64Url, toBase64Url } from "../base64url.ts";
import { closedMap } from "../cbor/closed-map.ts";
import { decode } from "../cbor/decode.ts";
import { encode } from "../cbor/encode.ts";
import { type CborKey, type CborValue, embedded, isArray } from "../cbor/value.ts";
import { importCoseKey, readCoseKey } from "../cose/cose-key.ts";
import { label } from "../cose/headers.ts";
import { signSign1 } from "../cose/sign1.ts";
import { CredentialError } from "../credential-error.ts";
import { documentTypes } from "../dcql/ask.ts";
import type { HolderBinding } from "../holder-binding.ts";
import { sessionTranscript } from "../mdoc/session-transcript.ts";
import { parseCertificate, signingKeyOf } from "../x509/certificate.ts";

// ISO/IEC 18013-7, Annex C: the protocol `org-iso-mdoc` of the Digital Credentials API.
type AnnexCBinding = Extract<HolderBinding, { kind: "annex_c" }>;

const name = "dcapi";
const minNonceBytes = 16;
const maxBytes = 300 * 1024;
/** The one suite of RFC 9180 that the standard names. */
const suite = new CipherSuite({
  kem: new DhkemP256HkdfSha256(),
  kdf: new HkdfSha256(),
  aead: new Aes128Gcm(),
});

/** `publicKey` is on P-256 and made for this request alone. */
export function newEncryptionInfo(nonce: Uint8Array, publicKey: JWK): string {
  if (nonce.length < minNonceBytes)
    throw new CredentialError("malformed", "Annex C: nonce that is too short");
  const recipientPublicKey = new Map<CborKey, CborValue>([
    [1, 2],
    [-1, 1],
    [-2, fromBase64Url(publicKey.x ?? "")],
    [-3, fromBase64Url(publicKey.y ?? "")],
  ]);
  return toBase64Url(
    encode([
      name,
      new Map<CborKey, CborValue>([
        ["nonce", nonce],
        ["recipientPublicKey", recipientPublicKey],
      ]),
    ]),
  );
}

/**
 * Requests one credential, because a wallet answers each requested one with a document. It requests the
 * largest set of claims; a wallet leaves out what it does not have.
 */
export async function deviceRequest(
  asked: AskedCredential,
  readerAuth: { chain: readonly Uint8Array[]; privateKey: CryptoKey } | null,
  transcript: Uint8Array,
): Promise<string> {
  // Partners keep shared data. A proof of age is requested without retention, as in the EU's profile.
  const intendsToRetain = asked.purpose !== "age";
  const nameSpaces = new Map<CborKey, Map<CborKey, CborValue>>();
  for (const [nameSpace, element] of asked.claimSets[0] ?? []) {
    if (typeof nameSpace !== "string" || typeof element !== "string") continue;
    const elements = nameSpaces.get(nameSpace) ?? new Map<CborKey, CborValue>();
    nameSpaces.set(nameSpace, elements.set(element, intendsToRetain));
  }
  const itemsRequest = embedded(
    encode(
      new Map<CborKey, CborValue>([
        ["docType", documentTypes[asked.purpose].mso_mdoc],
        ["nameSpaces", nameSpaces],
      ]),
    ),
  );
  const signature = readerAuth === null ? null : await signAsReader(readerAuth, itemsRequest, transcript);
  const docRequest = new Map<CborKey, CborValue>([
    ["itemsRequest", itemsRequest],
    ...(signature === null ? [] : ([["readerAuth", signature]] as const)),
  ]);
  return toBase64Url(
    encode(
      new Map<CborKey, CborValue>([
        ["version", "1.0"],
        ["docRequests", [docRequest]],
      ]),
    ),
  );
}

/** ISO/IEC 18013-5, 9.1.4.4. */
async function signAsReader(
  { chain, privateKey }: { chain: readonly Uint8Array[]; privateKey: CryptoKey },
  itemsRequest: CborValue,
  transcript: Uint8Array,
): Promise<CborValue> {
  const [leaf] = chain;
  if (leaf === undefined) throw new CredentialError("malformed", "Annex C: reader without a certificate");
  const inner = decode(transcript, { maxBytes });
  const { algorithm } = await signingKeyOf(parseCertificate(leaf));
  return signSign1({
    key: { privateKey, algorithm },
    payload: encode(embedded(encode(["ReaderAuthentication", inner, itemsRequest]))),
    isDetached: true,
    unprotectedHeaders: new Map([[label.x5chain, chain.length === 1 ? leaf : chain]]),
  });
}

/** The DeviceResponse in an answer. Throws where it was not encrypted for this request. */
export async function openAnnexC(
  encryptedResponse: string,
  privateKey: JWK,
  binding: AnnexCBinding,
): Promise<Uint8Array<ArrayBuffer>> {
  const answer = readNamed(encryptedResponse);
  const parts = closedMap(answer, ["enc", "cipherText"]);
  const encapsulated = parts.get("enc");
  const ciphertext = parts.get("cipherText");
  if (!(encapsulated instanceof Uint8Array) || !(ciphertext instanceof Uint8Array)) throw malformed();
  const recipientKey = await importPair(privateKey);
  const info = await sessionTranscript(binding);
  return new Uint8Array(
    await suite.open({ recipientKey, enc: encapsulated, info }, ciphertext).catch(refuseHpke),
  );
}

/** The wallet's half, for tests and for the test wallet. */
export async function sealAnnexC(deviceResponse: Uint8Array, binding: AnnexCBinding): Promise<string> {
  const request = closedMap(readNamed(binding.encryptionInfo), ["nonce", "recipientPublicKey"]);
  const recipientPublicKey = await importCoseKey(readCoseKey(request.get("recipientPublicKey")), "ECDH");
  const info = await sessionTranscript(binding);
  const sealed = await suite.seal({ recipientPublicKey, info }, deviceResponse).catch(refuseHpke);
  return toBase64Url(
    encode([
      name,
      new Map<CborKey, CborValue>([
        ["enc", new Uint8Array(sealed.enc)],
        ["cipherText", new Uint8Array(sealed.ct)],
      ]),
    ]),
  );
}

/** What the library throws means another key, another request, or bytes that are damaged. */
function refuseHpke(): never {
  throw new CredentialError("malformed", "Annex C: HPKE failed");
}

/** The content after the name in `["dcapi", …]`. */
function readNamed(text: string): CborValue {
  if (text.length > 2 * maxBytes) throw new CredentialError("too_large", "Annex C: too many characters");
  const value = decode(fromBase64Url(text), { maxBytes });
  if (!isArray(value) || value.length !== 2 || value[0] !== name) throw malformed();
  return value[1] ?? null;
}

async function importPair({ kty = "", crv = "", x = "", y = "", d = "" }: JWK) {
  const algorithm = { name: "ECDH", namedCurve: "P-256" };
  return {
    privateKey: await crypto.subtle.importKey("jwk", { kty, crv, x, y, d }, algorithm, false, ["deriveBits"]),
    publicKey: await crypto.subtle.importKey("jwk", { kty, crv, x, y }, algorithm, true, []),
  };
}

function malformed(): CredentialError {
  return new CredentialError("malformed", "Annex C: not well formed");
}
