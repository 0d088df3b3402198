import { sha1 } from "@noble/hashes/legacy.js";
import type { CommandApdu } from "../apdu/command.ts";
import { type ResponseApdu, requireOk, statusError, statusWords } from "../apdu/response.ts";
import { concat, equalConstantTime, latin1 } from "../bytes.ts";
import { cipherSuites, deriveSessionKeys, type SessionKeys } from "../crypto/cipher-suite.ts";
import { padIso7816 } from "../crypto/padding.ts";
import type { RandomSource } from "../crypto/random.ts";
import { EmrtdError } from "../emrtd-error.ts";
import { SecureMessaging } from "../secure-messaging/secure-messaging.ts";

/** Basic Access Control, ICAO Doc 9303-11, section 4.3. */

const suite = cipherSuites["3DES"];
const zeroIv = new Uint8Array(8);

/** `mrzInformation` is document number, birth and expiry dates, each with its check digit. */
export function bacKeys(mrzInformation: string): SessionKeys {
  return deriveSessionKeys(suite, sha1(latin1(mrzInformation)).subarray(0, 16));
}

/** The message of either side: the encrypted S and its MAC. */
export function sealBacMessage(keys: SessionKeys, message: Uint8Array): Uint8Array {
  const encrypted = suite.encryptCbc(keys.encryption, zeroIv, message);
  return concat(encrypted, suite.mac(keys.mac, padIso7816(encrypted, 8)));
}

export function openBacMessage(keys: SessionKeys, sealed: Uint8Array): Uint8Array | null {
  if (sealed.length !== 40) return null;
  const encrypted = sealed.subarray(0, 32);
  if (!equalConstantTime(suite.mac(keys.mac, padIso7816(encrypted, 8)), sealed.subarray(32))) return null;
  return suite.decryptCbc(keys.encryption, zeroIv, encrypted);
}

export function bacSession(
  chipNonce: Uint8Array,
  terminalNonce: Uint8Array,
  chipShare: Uint8Array,
  terminalShare: Uint8Array,
): SecureMessaging {
  const seed = chipShare.map((byte, index) => byte ^ (terminalShare[index] ?? 0));
  const counter = concat(chipNonce.subarray(4), terminalNonce.subarray(4));
  return new SecureMessaging(suite, deriveSessionKeys(suite, seed), counter);
}

export async function performBac(
  send: (command: CommandApdu) => Promise<ResponseApdu>,
  mrzInformation: string,
  random: RandomSource,
): Promise<SecureMessaging> {
  const keys = bacKeys(mrzInformation);
  const challenge = await send({ cla: 0, ins: 0x84, p1: 0, p2: 0, expectedBytes: 8 });
  const chipNonce = requireOk(challenge, "GET CHALLENGE").slice();
  if (chipNonce.length !== 8)
    throw new EmrtdError("BAC_FAILED", "The challenge of the chip is not eight bytes");
  const terminalNonce = random(8);
  const terminalShare = random(16);
  const answer = await send({
    cla: 0,
    ins: 0x82,
    p1: 0,
    p2: 0,
    data: sealBacMessage(keys, concat(terminalNonce, chipNonce, terminalShare)),
    expectedBytes: 40,
  });
  if (answer.statusWord !== statusWords.ok) {
    const refusedKey = answer.statusWord >> 8 === 0x63 || answer.statusWord >> 8 === 0x69;
    if (!refusedKey) throw statusError(answer.statusWord, "EXTERNAL AUTHENTICATE");
    throw new EmrtdError(
      "ACCESS_KEY_INVALID",
      "The chip refused the key made from the machine readable zone",
      {
        statusWord: answer.statusWord,
      },
    );
  }
  const opened = openBacMessage(keys, answer.data);
  if (opened === null) throw new EmrtdError("BAC_FAILED", "The answer of the chip has a wrong checksum");
  if (
    !equalConstantTime(opened.subarray(0, 8), chipNonce) ||
    !equalConstantTime(opened.subarray(8, 16), terminalNonce)
  ) {
    throw new EmrtdError("BAC_FAILED", "The chip did not answer to this challenge");
  }
  return bacSession(chipNonce, terminalNonce, opened.subarray(16), terminalShare);
}
