import type { CommandApdu } from "../apdu/command.ts";
import { type ResponseApdu, requireOk, statusError, statusWords } from "../apdu/response.ts";
import { readTlv, readWhole } from "../ber/read.ts";
import { tlv } from "../ber/write.ts";
import { bytesToBigInt, concat, equalConstantTime, uintBytes } from "../bytes.ts";
import { deriveSessionKeys } from "../crypto/cipher-suite.ts";
import type { KeyAgreementDomain } from "../crypto/key-agreement.ts";
import type { RandomSource } from "../crypto/random.ts";
import { EmrtdError, isEmrtdError } from "../emrtd-error.ts";
import { SecureMessaging } from "../secure-messaging/secure-messaging.ts";
import {
  decryptChipAuthenticationData,
  decryptNonce,
  integratedPseudoRandom,
  type PacePassword,
  passwordKey,
  passwordReference,
  tokenInput,
} from "./pace-crypto.ts";
import type { PaceProtocol } from "./pace-protocol.ts";

export type PaceResult = {
  readonly messaging: SecureMessaging;
  readonly protocol: PaceProtocol;
  readonly domain: KeyAgreementDomain;
  /** With the chip authentication mapping only. Proves something only to the party that ran these steps. */
  readonly chipAuthentication: {
    readonly chipMappingKey: Uint8Array;
    readonly chipAuthenticationData: Uint8Array;
  } | null;
};

export type PaceInput = {
  readonly protocol: PaceProtocol;
  readonly domain: KeyAgreementDomain;
  /** The chip's number for the domain. */
  readonly parameterId: number | null;
  /** The chip has one domain only, so it may also be left unnamed. */
  readonly parameterIdOptional?: boolean;
  readonly password: PacePassword;
  readonly random: RandomSource;
  /** Replaces the key made from the password; the standard's worked examples start from it. */
  readonly passwordKey?: Uint8Array;
};

const generalAuthenticate = 0x86;
const chainedClass = 0x10;

/** The terminal's commands one after another, each made from the answer to the one before. */
export type ChipDialogue<Result> = Generator<CommandApdu, Result, ResponseApdu>;

export async function performPace(
  send: (command: CommandApdu) => Promise<ResponseApdu>,
  input: PaceInput,
): Promise<PaceResult> {
  const dialogue = paceDialogue(input);
  let turn = dialogue.next();
  while (turn.done !== true) turn = dialogue.next(await send(turn.value));
  return turn.value;
}

export function* paceDialogue(input: PaceInput): ChipDialogue<PaceResult> {
  const { protocol, random } = input;
  const { suite } = protocol;
  const key = input.passwordKey ?? passwordKey(suite, input.password);

  yield* selectProtocol(input);
  const nonce = decryptNonce(suite, key, yield* step(new Uint8Array(0), 0x80, "the encrypted nonce"));

  const mapping = yield* mapNonce(input, nonce);
  const mapped = input.domain.withGenerator(mapping.generator);

  const privateKey = mapped.randomPrivateKey(random);
  const publicKey = mapped.publicKey(privateKey);
  const chipPublicKey = yield* step(tlv(0x83, publicKey), 0x84, "the ephemeral key");
  checkChipKey(mapped, chipPublicKey, publicKey);
  const keys = deriveSessionKeys(suite, mapped.sharedSecret(privateKey, chipPublicKey));

  const token = suite.authenticationToken(keys.mac, tokenInput(protocol, mapped, chipPublicKey));
  const last = yield* general(tlv(0x85, token), "mutual authentication", false);
  const chipToken = findObject(last, 0x86, "the authentication token");
  const expected = suite.authenticationToken(keys.mac, tokenInput(protocol, mapped, publicKey));
  if (!equalConstantTime(chipToken, expected)) {
    throw new EmrtdError("PACE_FAILED", "The chip's authentication token is wrong");
  }
  return {
    messaging: new SecureMessaging(suite, keys),
    protocol,
    domain: input.domain,
    chipAuthentication:
      protocol.mapping === "chip-authentication" && mapping.chipMappingKey !== null
        ? {
            chipMappingKey: mapping.chipMappingKey,
            chipAuthenticationData: decryptChipAuthenticationData(
              suite,
              keys,
              findObject(last, 0x8a, "the chip authentication data"),
            ),
          }
        : null,
  };
}

/** MSE:Set AT. Some chips require the domain; others refuse it where there is no choice. */
function* selectProtocol(input: PaceInput): ChipDialogue<void> {
  const select = (parameterId: number | null): CommandApdu => ({
    cla: 0,
    ins: 0x22,
    p1: 0xc1,
    p2: 0xa4,
    data: concat(
      tlv(0x80, input.protocol.oidBytes),
      tlv(0x83, Uint8Array.of(passwordReference[input.password.kind])),
      parameterId === null ? new Uint8Array(0) : tlv(0x84, uintBytes(parameterId, 1)),
    ),
  });
  let answer = yield select(input.parameterId);
  const refusesName = answer.statusWord >> 8 === 0x6a || answer.statusWord === statusWords.wrongLength;
  if (refusesName && input.parameterId !== null && input.parameterIdOptional === true) {
    answer = yield select(null);
  }
  // 63Cx warns about the number of tries left and does not stop the protocol.
  if (answer.statusWord >> 4 !== 0x63c) requireOk(answer, "MSE:Set AT for PACE");
}

function* mapNonce(
  input: PaceInput,
  nonce: Uint8Array,
): ChipDialogue<{ generator: Uint8Array; chipMappingKey: Uint8Array | null }> {
  const { protocol, domain, random } = input;
  if (protocol.mapping === "integrated") {
    if (nonce.length < protocol.suite.keyBytes) {
      throw new EmrtdError("PACE_FAILED", "The chip's nonce is shorter than the key that is made from it");
    }
    const terminalNonce = random(protocol.suite.keyBytes);
    yield* general(tlv(0x81, terminalNonce), "the mapping", true);
    const pseudoRandom = integratedPseudoRandom(protocol.suite, nonce, terminalNonce, domain.bits);
    return { generator: guard(() => domain.mapIntegrated(pseudoRandom)), chipMappingKey: null };
  }
  const privateKey = domain.randomPrivateKey(random);
  const publicKey = domain.publicKey(privateKey);
  const chipMappingKey = yield* step(tlv(0x81, publicKey), 0x82, "the mapping");
  checkChipKey(domain, chipMappingKey, publicKey);
  const shared = domain.sharedElement(privateKey, chipMappingKey);
  return { generator: guard(() => domain.mapGeneric(nonce, shared)), chipMappingKey };
}

/** A chip that mirrors our key would get a key that everybody can compute. */
function checkChipKey(domain: KeyAgreementDomain, chipKey: Uint8Array, ownKey: Uint8Array): void {
  guard(() => domain.checkPublicKey(chipKey));
  // Compared as numbers, because a leading zero must not hide equality.
  if (bytesToBigInt(chipKey) === bytesToBigInt(ownKey))
    throw new EmrtdError("PACE_FAILED", "The chip sent our own public key back");
}

function guard<T>(work: () => T): T {
  try {
    return work();
  } catch (cause) {
    if (isEmrtdError(cause) && cause.code === "CRYPTO_INVALID") {
      throw new EmrtdError("PACE_FAILED", "The chip sent an element that is not in the group", { cause });
    }
    throw cause;
  }
}

function* step(data: Uint8Array, wantedTag: number, what: string): ChipDialogue<Uint8Array> {
  return findObject(yield* general(data, what, true), wantedTag, what);
}

/** One GENERAL AUTHENTICATE; gives back the content of the answer's dynamic authentication data. */
function* general(data: Uint8Array, what: string, chained: boolean): ChipDialogue<Uint8Array> {
  const answer = yield {
    cla: chained ? chainedClass : 0,
    ins: generalAuthenticate,
    p1: 0,
    p2: 0,
    data: tlv(0x7c, data),
    expectedBytes: 256,
  };
  if (answer.statusWord !== statusWords.ok) {
    const refusedKey = !chained && (answer.statusWord >> 8 === 0x63 || answer.statusWord >> 8 === 0x69);
    if (!refusedKey) throw statusError(answer.statusWord, `GENERAL AUTHENTICATE for ${what}`);
    throw new EmrtdError("ACCESS_KEY_INVALID", "The chip refused the key made from the document", {
      statusWord: answer.statusWord,
    });
  }
  if (answer.data.length === 0) return answer.data;
  try {
    return readWhole(answer.data, { maxBytes: 4096, maxDepth: 2 }).expect(0x7c, "dynamic authentication data")
      .value;
  } catch (cause) {
    throw new EmrtdError("PACE_FAILED", `The chip's answer for ${what} is malformed`, { cause });
  }
}

function findObject(content: Uint8Array, tag: number, what: string): Uint8Array {
  for (let offset = 0; offset < content.length; ) {
    const node = guardTlv(content, offset, what);
    if (node.tag === tag) return node.value.slice();
    offset = node.end;
  }
  throw new EmrtdError("PACE_FAILED", `The chip's answer lacks ${what}`);
}

function guardTlv(content: Uint8Array, offset: number, what: string) {
  try {
    return readTlv(content, offset, { maxBytes: 4096, maxDepth: 1 });
  } catch (cause) {
    throw new EmrtdError("PACE_FAILED", `The chip's answer for ${what} is malformed`, { cause });
  }
}
