import { sha1 } from "@noble/hashes/legacy.js";
import { tlv } from "../ber/write.ts";
import { bytesToBigInt, concat, equal, fromHex, latin1 } from "../bytes.ts";
import { type CipherSuite, keyCounter, type SessionKeys } from "../crypto/cipher-suite.ts";
import type { KeyAgreementDomain } from "../crypto/key-agreement.ts";
import { padIso7816, unpadIso7816 } from "../crypto/padding.ts";
import { EmrtdError } from "../emrtd-error.ts";
import type { PaceProtocol } from "./pace-protocol.ts";

/** The computations of PACE that terminal and chip share: ICAO Doc 9303-11, section 4.4. */

export type PacePassword =
  | { readonly kind: "mrz"; readonly mrzInformation: string }
  | { readonly kind: "can"; readonly can: string };

export const passwordReference: Readonly<Record<PacePassword["kind"], number>> = { mrz: 0x01, can: 0x02 };

export function passwordKey(suite: CipherSuite, password: PacePassword): Uint8Array {
  const secret = password.kind === "mrz" ? sha1(latin1(password.mrzInformation)) : latin1(password.can);
  return suite.deriveKey(secret, keyCounter.password);
}

/** Bytes of the nonce s: whole blocks, at least as long as the key. */
export function nonceBytes(protocol: PaceProtocol): number {
  return protocol.mapping === "integrated" && protocol.suite.keyBytes > 16 ? 32 : 16;
}

export function encryptNonce(suite: CipherSuite, key: Uint8Array, nonce: Uint8Array): Uint8Array {
  return suite.encryptCbc(key, new Uint8Array(suite.blockBytes), nonce);
}

export function decryptNonce(suite: CipherSuite, key: Uint8Array, encrypted: Uint8Array): Uint8Array {
  if (encrypted.length < 16 || encrypted.length > 64 || encrypted.length % suite.blockBytes !== 0) {
    throw new EmrtdError("PACE_FAILED", "The encrypted nonce has an impossible length");
  }
  return suite.decryptCbc(key, new Uint8Array(suite.blockBytes), encrypted);
}

const shortConstants = {
  next: fromHex("a668892a7c41e3ca739f40b057d85904"),
  output: fromHex("a4e136ac725f738b01c1f60217c188ad"),
};
const longConstants = {
  next: fromHex("d463d65234124ef7897054986dca0a174e28df758cbaa03f240616414d5a1676"),
  output: fromHex("54bd7255f0aaf831bec3423fcf39d69b6cbf066677d0faae5aadd99df8e53517"),
};

/** The pseudo-random function R(s, t) of the integrated mapping: ICAO Doc 9303-11, section 4.4.3.3.2. */
export function integratedPseudoRandom(
  suite: CipherSuite,
  chipNonce: Uint8Array,
  terminalNonce: Uint8Array,
  fieldBits: number,
): Uint8Array {
  const constants = suite.keyBytes > 16 ? longConstants : shortConstants;
  const wantedBits = fieldBits + 64;
  const iv = new Uint8Array(suite.blockBytes);
  const encrypt = (key: Uint8Array, data: Uint8Array) => suite.encryptCbc(key, iv, data);
  let key = encrypt(terminalNonce, chipNonce).subarray(0, suite.keyBytes);
  const pieces: Uint8Array[] = [];
  for (let bits = 0; bits < wantedBits; bits += constants.output.length * 8) {
    pieces.push(encrypt(key, constants.output));
    key = encrypt(key, constants.next).subarray(0, suite.keyBytes);
  }
  return concat(...pieces);
}

/** The public key data object that authentication tokens are computed over. */
export function tokenInput(
  protocol: PaceProtocol,
  domain: KeyAgreementDomain,
  publicKey: Uint8Array,
): Uint8Array {
  return tlv(0x7f49, tlv(0x06, protocol.oidBytes), tlv(domain.publicKeyTag, publicKey));
}

/** IV of the chip authentication data: the block of ones, encrypted. */
function chipAuthenticationIv(suite: CipherSuite, keys: SessionKeys): Uint8Array {
  return suite.messagingIv(keys.encryption, new Uint8Array(suite.blockBytes).fill(0xff));
}

export function encryptChipAuthenticationData(
  suite: CipherSuite,
  keys: SessionKeys,
  data: Uint8Array,
): Uint8Array {
  return suite.encryptCbc(
    keys.encryption,
    chipAuthenticationIv(suite, keys),
    padIso7816(data, suite.blockBytes),
  );
}

export function decryptChipAuthenticationData(
  suite: CipherSuite,
  keys: SessionKeys,
  data: Uint8Array,
): Uint8Array {
  try {
    return unpadIso7816(suite.decryptCbc(keys.encryption, chipAuthenticationIv(suite, keys), data));
  } catch {
    throw new EmrtdError("PACE_FAILED", "The chip authentication data cannot be decrypted");
  }
}

/**
 * Whether the chip knew the private key of `staticPublicKey` during the mapping. The maker of the terminal's
 * keys can forge this evidence, so it proves nothing to others.
 */
export function checkChipAuthenticationMapping(
  domain: KeyAgreementDomain,
  evidence: { readonly chipMappingKey: Uint8Array; readonly chipAuthenticationData: Uint8Array },
  staticPublicKey: Uint8Array,
): boolean {
  try {
    domain.checkPublicKey(staticPublicKey);
    const mapped = domain.scale(staticPublicKey, bytesToBigInt(evidence.chipAuthenticationData));
    return equal(mapped, evidence.chipMappingKey);
  } catch {
    return false;
  }
}
