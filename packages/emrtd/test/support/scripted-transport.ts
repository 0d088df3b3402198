import assert from "node:assert/strict";
import type { ChipTransport } from "../../src/apdu/transport.ts";
import { fromHex, toHex } from "../../src/bytes.ts";
import type { RandomSource } from "../../src/crypto/random.ts";

/** A recorded conversation: every command must come as written, and gets the answer written beside it. */
export function scriptedTransport(
  script: readonly (readonly [command: string, answer: string])[],
): ChipTransport & { readonly remaining: () => number } {
  let position = 0;
  return {
    maxCommandBytes: 65_544,
    maxResponseBytes: 65_538,
    extendedLength: true,
    remaining: () => script.length - position,
    transceive: async (command) => {
      const line = script[position++];
      assert.ok(line !== undefined, "the recording has no further command");
      assert.equal(toHex(command), toHex(fromHex(line[0])), `command ${position} of the recording`);
      return fromHex(line[1]);
    },
  };
}

/** Returns the given values in order, each left-padded to the requested length. */
export function scriptedRandom(...values: readonly string[]): RandomSource {
  const queue = values.map((value) => fromHex(value));
  return (length) => {
    const value = queue.shift();
    assert.ok(value !== undefined && value.length <= length, "no random value of that length is scripted");
    const padded = new Uint8Array(length);
    padded.set(value, length - value.length);
    return padded;
  };
}

/** The random bytes from which a private key of exactly this value is made. */
export function privateKeyAsRandom(privateKey: string): string {
  const digits = (BigInt(`0x${privateKey.replace(/\s+/g, "")}`) - 1n).toString(16);
  return digits.length % 2 === 0 ? digits : `0${digits}`;
}
