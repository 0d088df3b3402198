import { type CommandApdu, type DecodedCommand, maxShortExpectedBytes } from "../apdu/command.ts";
import type { ResponseApdu } from "../apdu/response.ts";
import { readTlv } from "../ber/read.ts";
import { tlv } from "../ber/write.ts";
import { bytesToBigInt, concat, equalConstantTime, readUint16, uintBytes } from "../bytes.ts";
import type { CipherSuite, SessionKeys } from "../crypto/cipher-suite.ts";
import { padIso7816, unpadIso7816 } from "../crypto/padding.ts";
import { EmrtdError } from "../emrtd-error.ts";

const dataObjects = { cipherOdd: 0x85, cipherEven: 0x87, mac: 0x8e, expected: 0x97, status: 0x99 } as const;
const securedClassBits = 0x0c;
const paddingIndicator = 0x01;
const macBytes = 8;

/**
 * Secure messaging of ICAO Doc 9303-11, section 9.8, for both ends. An object lives as long as the session:
 * the first mismatch ends it for good, and every later use fails.
 */
export class SecureMessaging {
  readonly suite: CipherSuite;
  readonly #keys: SessionKeys;
  readonly #counterBytes: number;
  #counter: bigint;
  #alive = true;

  constructor(suite: CipherSuite, keys: SessionKeys, initialCounter?: Uint8Array) {
    this.suite = suite;
    this.#keys = keys;
    this.#counterBytes = suite.blockBytes;
    this.#counter = initialCounter === undefined ? 0n : bytesToBigInt(initialCounter);
  }

  get alive(): boolean {
    return this.#alive;
  }

  /** Whether an answer with this many data bytes is longer than a short APDU can bring. */
  answerNeedsExtendedLength(dataBytes: number): boolean {
    return protectedAnswerBytes(dataBytes, this.suite.blockBytes) > maxShortExpectedBytes;
  }

  /**
   * For the terminal. The protected command always expects an answer, because status and MAC come as data.
   */
  protectCommand(command: CommandApdu): CommandApdu {
    this.#advance();
    const data = command.data ?? new Uint8Array(0);
    const expected = command.expectedBytes ?? 0;
    const header = Uint8Array.of(command.cla | securedClassBits, command.ins, command.p1, command.p2);
    const objects = concat(
      this.#encryptedObject(command.ins, data),
      expected === 0 ? new Uint8Array(0) : tlv(dataObjects.expected, encodeExpected(expected)),
    );
    const mac = this.#mac(this.#commandMacInput(header, objects));
    return {
      cla: command.cla | securedClassBits,
      ins: command.ins,
      p1: command.p1,
      p2: command.p2,
      data: concat(objects, tlv(dataObjects.mac, mac)),
      expectedBytes: this.answerNeedsExtendedLength(expected) ? 65_536 : 256,
    };
  }

  /** For the terminal. A status word outside of the protection proves nothing and ends the session. */
  unprotectResponse(response: ResponseApdu): ResponseApdu {
    this.#advance();
    if (response.data.length === 0) {
      throw this.#end("The chip answered without protection inside a session", response.statusWord);
    }
    const objects = this.#parse(response.data, [
      dataObjects.cipherOdd,
      dataObjects.cipherEven,
      dataObjects.status,
      dataObjects.mac,
    ]);
    const status = objects.get(dataObjects.status);
    if (status?.value.length !== 2) throw this.#end("The protected answer lacks its status");
    this.#checkMac(
      objects,
      concat(this.#counterValue(), response.data.subarray(0, objects.get(dataObjects.mac)?.start)),
    );
    return { data: this.#decrypt(objects), statusWord: readUint16(status.value, 0) };
  }

  /** The chip's half. */
  unprotectCommand(command: DecodedCommand): DecodedCommand {
    this.#advance();
    const objects = this.#parse(command.data, [
      dataObjects.cipherOdd,
      dataObjects.cipherEven,
      dataObjects.expected,
      dataObjects.mac,
    ]);
    const header = Uint8Array.of(command.cla, command.ins, command.p1, command.p2);
    const protectedPart = command.data.subarray(0, objects.get(dataObjects.mac)?.start);
    this.#checkMac(objects, this.#commandMacInput(header, protectedPart));
    const expected = objects.get(dataObjects.expected)?.value;
    return {
      ...command,
      cla: command.cla & ~securedClassBits,
      data: this.#decrypt(objects),
      expectedBytes: expected === undefined ? 0 : this.#decodeExpected(expected),
    };
  }

  /** The chip's other half. `ins` decides how the data is wrapped. */
  protectResponse(ins: number, response: ResponseApdu): ResponseApdu {
    this.#advance();
    const objects = concat(
      this.#encryptedObject(ins, response.data),
      tlv(dataObjects.status, uintBytes(response.statusWord, 2)),
    );
    const mac = this.#mac(concat(this.#counterValue(), objects));
    return { data: concat(objects, tlv(dataObjects.mac, mac)), statusWord: response.statusWord };
  }

  #advance(): void {
    if (!this.#alive) throw new EmrtdError("SECURE_MESSAGING_FAILED", "The session has ended");
    this.#counter = (this.#counter + 1n) & ((1n << BigInt(this.#counterBytes * 8)) - 1n);
  }

  #end(message: string, statusWord?: number): EmrtdError {
    this.#alive = false;
    return new EmrtdError("SECURE_MESSAGING_FAILED", message, statusWord === undefined ? {} : { statusWord });
  }

  #counterValue(): Uint8Array {
    return uintBytes(this.#counter, this.#counterBytes);
  }

  #iv(): Uint8Array {
    return this.suite.messagingIv(this.#keys.encryption, this.#counterValue());
  }

  #mac(input: Uint8Array): Uint8Array {
    return this.suite.mac(this.#keys.mac, padIso7816(input, this.suite.blockBytes));
  }

  #commandMacInput(header: Uint8Array, objects: Uint8Array): Uint8Array {
    return concat(this.#counterValue(), padIso7816(header, this.suite.blockBytes), objects);
  }

  #encryptedObject(ins: number, data: Uint8Array): Uint8Array {
    if (data.length === 0) return new Uint8Array(0);
    const padded = padIso7816(data, this.suite.blockBytes);
    const encrypted = this.suite.encryptCbc(this.#keys.encryption, this.#iv(), padded);
    return (ins & 1) === 1
      ? tlv(dataObjects.cipherOdd, encrypted)
      : tlv(dataObjects.cipherEven, Uint8Array.of(paddingIndicator), encrypted);
  }

  #parse(bytes: Uint8Array, allowed: readonly number[]): Map<number, { start: number; value: Uint8Array }> {
    const objects = new Map<number, { start: number; value: Uint8Array }>();
    let lastPosition = -1;
    for (let offset = 0; offset < bytes.length; ) {
      let node: { tag: number; start: number; end: number; value: Uint8Array };
      try {
        node = readTlv(bytes, offset, { maxDepth: 1, maxBytes: 70_000 });
      } catch {
        throw this.#end("The protected data is not made of data objects");
      }
      const position = allowed.indexOf(node.tag);
      if (position <= lastPosition) throw this.#end("The protected data has an unexpected data object");
      lastPosition = position;
      objects.set(node.tag, { start: node.start, value: node.value });
      offset = node.end;
    }
    if (objects.has(dataObjects.cipherOdd) && objects.has(dataObjects.cipherEven)) {
      throw this.#end("The protected data has two encrypted objects");
    }
    return objects;
  }

  #checkMac(objects: Map<number, { value: Uint8Array }>, input: Uint8Array): void {
    const received = objects.get(dataObjects.mac)?.value;
    if (received?.length !== macBytes || !equalConstantTime(this.#mac(input), received)) {
      throw this.#end("The checksum of the protected data is wrong");
    }
  }

  #decrypt(objects: Map<number, { value: Uint8Array }>): Uint8Array {
    const even = objects.get(dataObjects.cipherEven)?.value;
    const odd = objects.get(dataObjects.cipherOdd)?.value;
    if (even === undefined && odd === undefined) return new Uint8Array(0);
    if (even !== undefined && even[0] !== paddingIndicator) {
      throw this.#end("The encrypted object has an unknown padding indicator");
    }
    const encrypted = even?.subarray(1) ?? odd ?? new Uint8Array(0);
    if (encrypted.length === 0 || encrypted.length % this.suite.blockBytes !== 0) {
      throw this.#end("The encrypted object is not whole blocks");
    }
    try {
      return unpadIso7816(this.suite.decryptCbc(this.#keys.encryption, this.#iv(), encrypted));
    } catch {
      throw this.#end("The encrypted object cannot be decrypted");
    }
  }

  #decodeExpected(value: Uint8Array): number {
    if (value.length === 1) return value[0] || 256;
    if (value.length === 2) return readUint16(value, 0) || 65_536;
    throw this.#end("The expected length has an unknown form");
  }
}

function encodeExpected(expected: number): Uint8Array {
  return expected <= maxShortExpectedBytes ? uintBytes(expected % 256, 1) : uintBytes(expected % 65_536, 2);
}

/** Without the status word outside of the protection. */
export function protectedAnswerBytes(dataBytes: number, blockBytes: number): number {
  const statusAndMac = 4 + 10;
  if (dataBytes === 0) return statusAndMac;
  const value = 1 + (Math.floor(dataBytes / blockBytes) + 1) * blockBytes;
  const lengthBytes = value < 0x80 ? 1 : value < 0x100 ? 2 : value < 0x1_0000 ? 3 : 4;
  return statusAndMac + 1 + lengthBytes + value;
}

/** The most data that a protected answer of at most `answerBytes` can bring. */
export function maxProtectedRead(answerBytes: number, blockBytes: number): number {
  let bytes = answerBytes;
  while (bytes > 0 && protectedAnswerBytes(bytes, blockBytes) > answerBytes) bytes--;
  return bytes;
}
