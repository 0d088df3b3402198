import { statusWords } from "../apdu/response.ts";
import { readTlv, readWhole } from "../ber/read.ts";
import { tlv } from "../ber/write.ts";
import { bytesToBigInt, equal, equalConstantTime, uintBytes } from "../bytes.ts";
import { deriveSessionKeys } from "../crypto/cipher-suite.ts";
import { type KeyAgreementDomain, standardizedDomain } from "../crypto/key-agreement.ts";
import type { RandomSource } from "../crypto/random.ts";
import { readDomain } from "../crypto/subject-public-key.ts";
import {
  encryptChipAuthenticationData,
  encryptNonce,
  integratedPseudoRandom,
  nonceBytes,
  type PacePassword,
  passwordKey,
  tokenInput,
} from "../pace/pace-crypto.ts";
import { type PaceProtocol, paceProtocol } from "../pace/pace-protocol.ts";
import { SecureMessaging } from "../secure-messaging/secure-messaging.ts";
import type { ChipPrivateKey } from "./private-key.ts";

export type VirtualPace = {
  readonly oid: string;
  readonly parameterId: number;
  /** An AlgorithmIdentifier with the chip's own domain, for a `parameterId` beyond the standardized ones. */
  readonly domainParameter?: Uint8Array;
};

/** A refusal, as the status word that the chip answers. */
export class ChipRefusal extends Error {
  readonly statusWord: number;

  constructor(statusWord: number) {
    super(`refused with ${statusWord.toString(16)}`);
    this.statusWord = statusWord;
  }
}

type PaceStep = {
  readonly data: Uint8Array;
  readonly messaging?: SecureMessaging;
};

/** The chip's side of PACE: one object per run, one method call per GENERAL AUTHENTICATE. */
export class PaceChip {
  readonly #protocol: PaceProtocol;
  readonly #password: PacePassword;
  readonly #random: RandomSource;
  readonly #staticKey: ChipPrivateKey | null;
  readonly #nonce: Uint8Array;
  readonly #domain: KeyAgreementDomain;
  #mapped: KeyAgreementDomain | null = null;
  #mappingPrivateKey = 0n;
  #privateKey = 0n;
  #publicKey: Uint8Array = new Uint8Array(0);
  #terminalKey: Uint8Array = new Uint8Array(0);
  #stage: "nonce" | "map" | "agree" | "token" = "nonce";

  constructor(
    offer: VirtualPace,
    password: PacePassword,
    random: RandomSource,
    staticKeys: readonly ChipPrivateKey[],
  ) {
    this.#protocol = paceProtocol(offer.oid);
    this.#domain =
      offer.domainParameter === undefined
        ? standardizedDomain(offer.parameterId)
        : readDomain(offer.domainParameter);
    this.#password = password;
    this.#random = random;
    this.#nonce = random(nonceBytes(this.#protocol));
    this.#staticKey =
      staticKeys.find((key) => key.kind !== "RSA" && key.domain.name === this.#domain.name) ?? null;
  }

  step(data: Uint8Array, chained: boolean): PaceStep {
    const { tag, value } = authenticationObject(data);
    if (chained === (this.#stage === "token")) throw new ChipRefusal(statusWords.lastCommandExpected);
    switch (this.#stage) {
      case "nonce": {
        if (tag !== null) throw new ChipRefusal(statusWords.wrongData);
        this.#stage = "map";
        const { suite } = this.#protocol;
        return answer(0x80, encryptNonce(suite, passwordKey(suite, this.#password), this.#nonce));
      }
      case "map":
        if (tag !== 0x81) throw new ChipRefusal(statusWords.wrongData);
        this.#stage = "agree";
        return this.#map(value);
      case "agree": {
        if (tag !== 0x83 || this.#mapped === null) throw new ChipRefusal(statusWords.wrongData);
        this.#mapped.checkPublicKey(value);
        this.#stage = "token";
        this.#terminalKey = value;
        this.#privateKey = this.#mapped.randomPrivateKey(this.#random);
        this.#publicKey = this.#mapped.publicKey(this.#privateKey);
        return answer(0x84, this.#publicKey);
      }
      case "token":
        if (tag !== 0x85) throw new ChipRefusal(statusWords.wrongData);
        return this.#finish(value);
    }
  }

  #map(terminalValue: Uint8Array): PaceStep {
    const { suite, mapping } = this.#protocol;
    if (mapping === "integrated") {
      if (terminalValue.length !== suite.keyBytes) throw new ChipRefusal(statusWords.wrongData);
      const pseudoRandom = integratedPseudoRandom(suite, this.#nonce, terminalValue, this.#domain.bits);
      this.#mapped = this.#domain.withGenerator(this.#domain.mapIntegrated(pseudoRandom));
      return answer(0x82, new Uint8Array(0));
    }
    this.#domain.checkPublicKey(terminalValue);
    this.#mappingPrivateKey = this.#domain.randomPrivateKey(this.#random);
    const shared = this.#domain.sharedElement(this.#mappingPrivateKey, terminalValue);
    this.#mapped = this.#domain.withGenerator(this.#domain.mapGeneric(this.#nonce, shared));
    return answer(0x82, this.#domain.publicKey(this.#mappingPrivateKey));
  }

  #finish(terminalToken: Uint8Array): PaceStep {
    const mapped = this.#mapped;
    if (mapped === null) throw new ChipRefusal(statusWords.conditionsNotSatisfied);
    const { suite } = this.#protocol;
    const keys = deriveSessionKeys(suite, mapped.sharedSecret(this.#privateKey, this.#terminalKey));
    const token = (key: Uint8Array) =>
      suite.authenticationToken(keys.mac, tokenInput(this.#protocol, mapped, key));
    const isMirrored = equal(this.#publicKey, this.#terminalKey);
    if (isMirrored || !equalConstantTime(token(this.#publicKey), terminalToken)) {
      throw new ChipRefusal(statusWords.authenticationFailed);
    }
    const objects = [tlv(0x86, token(this.#terminalKey))];
    const staticKey = this.#staticKey;
    if (this.#protocol.mapping === "chip-authentication") {
      // A copy without the key has nothing better to send than a wrong number.
      const scalar = staticKey === null || staticKey.kind === "RSA" ? 1n : staticKey.scalar;
      const value = this.#domain.divideScalars(this.#mappingPrivateKey, scalar);
      const bytes = uintBytes(value, Math.ceil(this.#domain.bits / 8));
      objects.push(tlv(0x8a, encryptChipAuthenticationData(suite, keys, bytes)));
    }
    return { data: tlv(0x7c, ...objects), messaging: new SecureMessaging(suite, keys) };
  }
}

function answer(tag: number, value: Uint8Array): PaceStep {
  return { data: tlv(0x7c, tlv(tag, value)) };
}

/** The one data object inside the dynamic authentication data, if there is any. */
export function authenticationObject(data: Uint8Array): { tag: number | null; value: Uint8Array } {
  const { value } = readWhole(data, { maxDepth: 1 }).expect(0x7c, "dynamic authentication data");
  if (value.length === 0) return { tag: null, value };
  const object = readTlv(value, 0, { maxDepth: 1 });
  return { tag: object.tag, value: object.value.slice() };
}

/** The content of MSE:Set AT and MSE:Set KAT. */
export function environmentObjects(data: Uint8Array): Map<number, Uint8Array> {
  const objects = new Map<number, Uint8Array>();
  for (let offset = 0; offset < data.length; ) {
    const object = readTlv(data, offset, { maxDepth: 1 });
    objects.set(object.tag, object.value.slice());
    offset = object.end;
  }
  return objects;
}

export function smallNumber(bytes: Uint8Array | undefined): number | null {
  return bytes === undefined ? null : Number(bytesToBigInt(bytes.subarray(0, 4)));
}
