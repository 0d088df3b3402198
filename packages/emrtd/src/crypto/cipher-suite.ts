import { cbc, cmac, ecb } from "@noble/ciphers/aes.js";
import { sha1 } from "@noble/hashes/legacy.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { concat, uintBytes } from "../bytes.ts";
import { EmrtdError } from "../emrtd-error.ts";
import { retailMac, tripleDesCbcDecrypt, tripleDesCbcEncrypt, withOddParity } from "./des.ts";
import { padIso7816 } from "./padding.ts";

export type CipherName = "3DES" | "AES-128" | "AES-192" | "AES-256";

/** The cipher, MAC and key derivation that go together in ICAO Doc 9303-11, section 9.7 and 9.8. */
export type CipherSuite = {
  readonly name: CipherName;
  readonly keyBytes: number;
  readonly blockBytes: number;
  encryptCbc(key: Uint8Array, iv: Uint8Array, wholeBlocks: Uint8Array): Uint8Array;
  decryptCbc(key: Uint8Array, iv: Uint8Array, wholeBlocks: Uint8Array): Uint8Array;
  /** Eight bytes. With 3DES the data must be padded by the caller. */
  mac(key: Uint8Array, data: Uint8Array): Uint8Array;
  /** The MAC over the public key of the other side that ends PACE. */
  authenticationToken(key: Uint8Array, data: Uint8Array): Uint8Array;
  /** The initialisation vector of secure messaging for this value of the send sequence counter. */
  messagingIv(key: Uint8Array, sendSequenceCounter: Uint8Array): Uint8Array;
  deriveKey(secret: Uint8Array, counter: KeyCounter): Uint8Array;
};

export const keyCounter = { encryption: 1, mac: 2, password: 3 } as const;
type KeyCounter = (typeof keyCounter)[keyof typeof keyCounter];

export type SessionKeys = {
  readonly encryption: Uint8Array;
  readonly mac: Uint8Array;
};

export function deriveSessionKeys(suite: CipherSuite, secret: Uint8Array): SessionKeys {
  return {
    encryption: suite.deriveKey(secret, keyCounter.encryption),
    mac: suite.deriveKey(secret, keyCounter.mac),
  };
}

const macBytes = 8;

const tripleDes: CipherSuite = {
  name: "3DES",
  keyBytes: 16,
  blockBytes: 8,
  encryptCbc: tripleDesCbcEncrypt,
  decryptCbc: tripleDesCbcDecrypt,
  mac: retailMac,
  authenticationToken: (key, data) => retailMac(key, padIso7816(data, 8)),
  messagingIv: () => new Uint8Array(8),
  deriveKey: (secret, counter) => withOddParity(sha1(concat(secret, uintBytes(counter, 4))).subarray(0, 16)),
};

function aes(name: CipherName, keyBytes: number): CipherSuite {
  const digest = keyBytes === 16 ? sha1 : sha256;
  const requireBlocks = (data: Uint8Array) => {
    if (data.length % 16 !== 0)
      throw new EmrtdError("CRYPTO_INVALID", "AES works on whole blocks of 16 bytes");
  };
  const mac = (key: Uint8Array, data: Uint8Array) => cmac(data, key).slice(0, macBytes);
  return {
    name,
    keyBytes,
    blockBytes: 16,
    encryptCbc: (key, iv, data) => {
      requireBlocks(data);
      return data.length === 0 ? data : cbc(key, iv, { disablePadding: true }).encrypt(data);
    },
    decryptCbc: (key, iv, data) => {
      requireBlocks(data);
      return data.length === 0 ? data : cbc(key, iv, { disablePadding: true }).decrypt(data);
    },
    mac,
    authenticationToken: mac,
    messagingIv: (key, counter) => ecb(key, { disablePadding: true }).encrypt(counter),
    deriveKey: (secret, counter) => digest(concat(secret, uintBytes(counter, 4))).slice(0, keyBytes),
  };
}

export const cipherSuites: Readonly<Record<CipherName, CipherSuite>> = {
  "3DES": tripleDes,
  "AES-128": aes("AES-128", 16),
  "AES-192": aes("AES-192", 24),
  "AES-256": aes("AES-256", 32),
};
