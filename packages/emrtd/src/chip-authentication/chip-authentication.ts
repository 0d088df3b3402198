import { type CommandApdu, encodeCommand } from "../apdu/command.ts";
import { decodeResponse } from "../apdu/response.ts";
import { oidToBytes } from "../ber/oid.ts";
import { tlv } from "../ber/write.ts";
import { bigIntToBytes, bytesToBigInt, concat } from "../bytes.ts";
import { deriveSessionKeys } from "../crypto/cipher-suite.ts";
import type { RandomSource } from "../crypto/random.ts";
import { SecureMessaging } from "../secure-messaging/secure-messaging.ts";
import type { ChipAuthenticationOffer } from "./chip-authentication-offer.ts";

/**
 * Chip authentication version 1, ICAO Doc 9303-11, section 6.2, on the server. The server makes the ephemeral
 * key and keeps its private part. The device passes on public keys and one protected command that it cannot
 * read. Only the chip whose static key is in DG14 can answer. Between steps only bytes are kept: the private
 * key, then the shared secret.
 */

/**
 * With triple DES the standard has two command sets, and a chip may support only one: the older MSE:Set KAT,
 * or MSE:Set AT with GENERAL AUTHENTICATE. AES has only the second.
 */
export type CommandSet = "key_agreement_template" | "general_authenticate";

/** SELECT of DG14: every chip that comes this far has the file, and the answer carries no personal data. */
const proofCommand: CommandApdu = { cla: 0, ins: 0xa4, p1: 0x02, p2: 0x0c, data: Uint8Array.of(0x01, 0x0e) };

export function makeEphemeralKey({ domain }: ChipAuthenticationOffer, random: RandomSource): Uint8Array {
  return bigIntToBytes(domain.randomPrivateKey(random));
}

/** The set to try first. */
export function firstCommandSet({ suite }: ChipAuthenticationOffer): CommandSet {
  return suite.name === "3DES" ? "key_agreement_template" : "general_authenticate";
}

/** Plain APDUs, in order. The device protects them with its own session and returns the plain answers. */
export function agreementCommands(
  offer: ChipAuthenticationOffer,
  privateKey: Uint8Array,
  commandSet: CommandSet,
): Uint8Array[] {
  const publicKey = offer.domain.publicKey(bytesToBigInt(privateKey));
  const keyReference = offer.keyId === null ? new Uint8Array(0) : tlv(0x84, bigIntToBytes(offer.keyId));
  if (commandSet === "key_agreement_template") {
    const data = concat(tlv(0x91, publicKey), keyReference);
    return [encodeCommand({ cla: 0, ins: 0x22, p1: 0x41, p2: 0xa6, data })];
  }
  const named = concat(tlv(0x80, oidToBytes(offer.oid)), keyReference);
  const data = tlv(0x7c, tlv(0x80, publicKey));
  return [
    encodeCommand({ cla: 0, ins: 0x22, p1: 0x41, p2: 0xa4, data: named }),
    encodeCommand({ cla: 0, ins: 0x86, p1: 0, p2: 0, data, expectedBytes: 256 }),
  ];
}

/** The secret from which both sides derive their keys. */
export function sharedSecret(offer: ChipAuthenticationOffer, privateKey: Uint8Array): Uint8Array {
  return offer.domain.sharedSecret(bytesToBigInt(privateKey), offer.publicKey).slice();
}

/** The command that the device must pass on unchanged. */
export function sealedProofCommand(offer: ChipAuthenticationOffer, secret: Uint8Array): Uint8Array {
  return startSession(offer, secret).sealed;
}

/**
 * The chip's status under the new keys.
 * Throws SECURE_MESSAGING_FAILED if the answer is not protected with them.
 */
export function openProofAnswer(
  offer: ChipAuthenticationOffer,
  secret: Uint8Array,
  answer: Uint8Array,
): number {
  return startSession(offer, secret).messaging.unprotectResponse(decodeResponse(answer)).statusWord;
}

/** The session up to and with its first command, the same each time, since nothing in it is random. */
function startSession(
  { suite }: ChipAuthenticationOffer,
  secret: Uint8Array,
): { messaging: SecureMessaging; sealed: Uint8Array } {
  const messaging = new SecureMessaging(suite, deriveSessionKeys(suite, secret));
  return { messaging, sealed: encodeCommand(messaging.protectCommand(proofCommand)) };
}
