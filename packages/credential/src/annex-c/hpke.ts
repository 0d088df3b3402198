import type { CryptoKey } from "jose";
import { concat, ownBytes, utf8 } from "../bytes.ts";
import { CredentialError } from "../credential-error.ts";

// RFC 9180 in base mode with DHKEM(P-256, HKDF-SHA256), HKDF-SHA256 and AES-128-GCM, for a single message.
const kemId = Uint8Array.of(0x00, 0x10);
const kemSuite = concat(utf8("KEM"), kemId);
const suite = concat(utf8("HPKE"), kemId, Uint8Array.of(0x00, 0x01, 0x00, 0x01));
const baseMode = Uint8Array.of(0);
const nothing = new Uint8Array();
const pointBytes = 65;
const ecdh = { name: "ECDH", namedCurve: "P-256" } as const;

export type KeyPair = { privateKey: CryptoKey; publicKey: CryptoKey };

/** `recipient` is a key pair for `deriveBits`. Throws where another key, `info` or ciphertext is meant. */
export async function openHpke(
  recipient: KeyPair,
  encapsulated: Uint8Array,
  ciphertext: Uint8Array,
  info: Uint8Array,
): Promise<Uint8Array<ArrayBuffer>> {
  try {
    const { key, nonce } = await keysOf(
      recipient,
      encapsulated,
      encapsulated,
      await rawOf(recipient.publicKey),
      info,
    );
    return new Uint8Array(
      await crypto.subtle.decrypt({ name: "AES-GCM", iv: nonce }, key, ownBytes(ciphertext)),
    );
  } catch {
    throw new CredentialError("malformed", "HPKE: cannot be opened");
  }
}

export async function sealHpke(
  recipient: CryptoKey,
  plaintext: Uint8Array,
  info: Uint8Array,
): Promise<{ encapsulated: Uint8Array; ciphertext: Uint8Array }> {
  const ephemeral = await crypto.subtle.generateKey(ecdh, true, ["deriveBits"]);
  const encapsulated = await rawOf(ephemeral.publicKey);
  const theirs = await rawOf(recipient);
  const { key, nonce } = await keysOf(ephemeral, theirs, encapsulated, theirs, info);
  const ciphertext = await crypto.subtle.encrypt({ name: "AES-GCM", iv: nonce }, key, ownBytes(plaintext));
  return { encapsulated, ciphertext: new Uint8Array(ciphertext) };
}

/**
 * `theirs` is the point that our private key is agreed with;
 * the other two are in the order of the protocol on either side.
 */
async function keysOf(
  ours: KeyPair,
  theirs: Uint8Array,
  encapsulated: Uint8Array,
  recipient: Uint8Array,
  info: Uint8Array,
): Promise<{ key: CryptoKey; nonce: Uint8Array<ArrayBuffer> }> {
  if (theirs.length !== pointBytes) throw new CredentialError("malformed", "HPKE: not a point");
  const point = await crypto.subtle.importKey("raw", ownBytes(theirs), ecdh, false, []);
  const shared = new Uint8Array(
    await crypto.subtle.deriveBits({ name: "ECDH", public: point }, ours.privateKey, 256),
  );
  const extracted = await extract(nothing, kemSuite, "eae_prk", shared);
  const secret = await expand(extracted, kemSuite, "shared_secret", concat(encapsulated, recipient), 32);
  const context = concat(
    baseMode,
    await extract(nothing, suite, "psk_id_hash", nothing),
    await extract(nothing, suite, "info_hash", info),
  );
  const schedule = await extract(secret, suite, "secret", nothing);
  const key = await expand(schedule, suite, "key", context, 16);
  return {
    key: await crypto.subtle.importKey("raw", key, "AES-GCM", false, ["encrypt", "decrypt"]),
    nonce: await expand(schedule, suite, "base_nonce", context, 12),
  };
}

function extract(
  salt: Uint8Array,
  suiteId: Uint8Array,
  label: string,
  input: Uint8Array,
): Promise<Uint8Array<ArrayBuffer>> {
  // HMAC fills a short key up with zeros, and WebCrypto takes no empty one.
  const key = salt.length === 0 ? new Uint8Array(32) : salt;
  return hmac(key, concat(utf8("HPKE-v1"), suiteId, utf8(label), input));
}

/** Up to one block, which is all that is needed here. */
async function expand(
  key: Uint8Array,
  suiteId: Uint8Array,
  label: string,
  info: Uint8Array,
  length: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const labelled = concat(Uint8Array.of(0, length), utf8("HPKE-v1"), suiteId, utf8(label), info);
  return (await hmac(key, concat(labelled, Uint8Array.of(1)))).slice(0, length);
}

async function hmac(key: Uint8Array, content: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const imported = await crypto.subtle.importKey("raw", ownBytes(key), algorithm, false, ["sign"]);
  return new Uint8Array(await crypto.subtle.sign("HMAC", imported, content));
}

async function rawOf(publicKey: CryptoKey): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await crypto.subtle.exportKey("raw", publicKey));
}
