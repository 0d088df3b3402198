import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { decodeCommand, encodeCommand } from "../apdu/command.ts";
import { decodeResponse, encodeResponse } from "../apdu/response.ts";
import { concat, fromHex, toHex } from "../bytes.ts";
import { type CipherName, cipherSuites } from "../crypto/cipher-suite.ts";
import { padIso7816 } from "../crypto/padding.ts";
import { maxProtectedRead, protectedAnswerBytes, SecureMessaging } from "./secure-messaging.ts";

const ciphers = Object.keys(cipherSuites) as CipherName[];

function pair(cipher: CipherName): { terminal: SecureMessaging; chip: SecureMessaging } {
  const suite = cipherSuites[cipher];
  const keys = {
    encryption: new Uint8Array(suite.keyBytes).fill(1),
    mac: new Uint8Array(suite.keyBytes).fill(2),
  };
  return { terminal: new SecureMessaging(suite, keys), chip: new SecureMessaging(suite, keys) };
}

const anyCommand = fc.record({
  cla: fc.constant(0),
  ins: fc.constantFrom(0xb0, 0xb1, 0xa4, 0x86, 0x88),
  p1: fc.nat(255),
  p2: fc.nat(255),
  data: fc.uint8Array({ maxLength: 700 }),
  expectedBytes: fc.constantFrom(0, 1, 8, 231, 256, 4096, 65_536),
});
const anyResponse = fc.record({ data: fc.uint8Array({ maxLength: 700 }), statusWord: fc.nat(0xffff) });

test("whatever one side protects the other side reads, again and again, with every cipher", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...ciphers),
      fc.array(fc.tuple(anyCommand, anyResponse), { maxLength: 4 }),
      (cipher, exchanges) => {
        const { terminal, chip } = pair(cipher);
        for (const [command, response] of exchanges) {
          const sent = decodeCommand(encodeCommand(terminal.protectCommand(command)));
          const read = chip.unprotectCommand(sent);
          assert.deepEqual(
            { ...read, data: toHex(read.data), extended: undefined },
            { ...command, data: toHex(command.data), extended: undefined },
          );
          const answer = decodeResponse(encodeResponse(chip.protectResponse(sent.ins, response)));
          const got = terminal.unprotectResponse(answer);
          assert.equal(toHex(got.data), toHex(response.data));
          assert.equal(got.statusWord, response.statusWord);
        }
      },
    ),
    { numRuns: 100 },
  );
});

test("one changed bit anywhere in an answer ends the session", () => {
  for (const cipher of ciphers) {
    const data = new Uint8Array(20).fill(7);
    const make = () => {
      const { terminal, chip } = pair(cipher);
      chip.unprotectCommand(
        decodeCommand(
          encodeCommand(terminal.protectCommand({ cla: 0, ins: 0xb0, p1: 0, p2: 0, expectedBytes: 20 })),
        ),
      );
      return { terminal, answer: chip.protectResponse(0xb0, { data, statusWord: 0x9000 }) };
    };
    const bits = make().answer.data.length * 8;
    for (let bit = 0; bit < bits; bit++) {
      const { terminal, answer } = make();
      const changed = Uint8Array.from(answer.data);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      assert.throws(() => terminal.unprotectResponse({ ...answer, data: changed }), {
        code: "SECURE_MESSAGING_FAILED",
      });
      assert.equal(terminal.alive, false);
      assert.throws(() => terminal.unprotectResponse(answer), { code: "SECURE_MESSAGING_FAILED" });
    }
  }
});

test("a status word outside of the protection is an error, not an answer", () => {
  for (const statusWord of [0x9000, 0x6a82, 0x6988, 0x6282]) {
    const { terminal } = pair("AES-128");
    terminal.protectCommand({ cla: 0, ins: 0xb0, p1: 0, p2: 0, expectedBytes: 8 });
    assert.throws(() => terminal.unprotectResponse({ data: new Uint8Array(0), statusWord }), {
      code: "SECURE_MESSAGING_FAILED",
      statusWord,
    });
  }
});

test("an answer cannot be replayed, dropped or swapped with another", () => {
  const { terminal, chip } = pair("AES-128");
  const command = { cla: 0, ins: 0xb0, p1: 0, p2: 0, expectedBytes: 8 };
  const exchange = () => {
    chip.unprotectCommand(decodeCommand(encodeCommand(terminal.protectCommand(command))));
    return chip.protectResponse(0xb0, { data: fromHex("0102"), statusWord: 0x9000 });
  };
  const first = exchange();
  terminal.unprotectResponse(first);
  exchange();
  assert.throws(() => terminal.unprotectResponse(first), { code: "SECURE_MESSAGING_FAILED" });
});

test("a right checksum over the wrong objects is refused", () => {
  const suite = cipherSuites["AES-128"];
  const [encryptionKey, macKey] = [new Uint8Array(16).fill(1), new Uint8Array(16).fill(2)];
  const counter = new Uint8Array(suite.blockBytes);
  counter[suite.blockBytes - 1] = 2;
  /** The terminal's result for an answer of these objects, with a correct checksum. */
  const answered = (...objects: readonly Uint8Array[]) => {
    const { terminal } = pair("AES-128");
    terminal.protectCommand({ cla: 0, ins: 0xb0, p1: 0, p2: 0, expectedBytes: 8 });
    const mac = suite.mac(macKey, padIso7816(concat(counter, ...objects), suite.blockBytes));
    return () =>
      terminal.unprotectResponse({ data: concat(...objects, fromHex("8E08"), mac), statusWord: 0x9000 });
  };
  const status = fromHex("99029000");
  const encrypted = suite.encryptCbc(
    encryptionKey,
    suite.messagingIv(encryptionKey, counter),
    padIso7816(fromHex("0102"), suite.blockBytes),
  );
  const data = (indicator: number) => concat(fromHex("8711"), Uint8Array.of(indicator), encrypted);
  assert.equal(toHex(answered(data(1), status)().data), "0102");
  const wrong = {
    // An answer without a status object does not say what the chip did.
    "no status": [],
    "the status twice": [fromHex("99026A82"), status],
    "the data twice": [data(1), data(1), status],
    "the wrong order": [status, data(1)],
    "an unknown padding indicator": [data(2), status],
  };
  for (const [what, objects] of Object.entries(wrong))
    assert.throws(answered(...objects), { code: "SECURE_MESSAGING_FAILED" }, what);
});

test("no bytes make the reader of protected answers throw anything but its own error", () => {
  fc.assert(
    fc.property(fc.constantFrom(...ciphers), fc.uint8Array({ maxLength: 300 }), (cipher, data) => {
      const { terminal, chip } = pair(cipher);
      assert.throws(() => terminal.unprotectResponse({ data, statusWord: 0x9000 }), {
        code: "SECURE_MESSAGING_FAILED",
      });
      const command = { cla: 0x0c, ins: 0xb0, p1: 0, p2: 0, data, expectedBytes: 256, extended: false };
      assert.throws(() => chip.unprotectCommand(command), { code: "SECURE_MESSAGING_FAILED" });
    }),
    { numRuns: 300 },
  );
});

test("the size of a protected answer is known before it is asked for", () => {
  for (const cipher of ciphers) {
    for (const bytes of [0, 1, 7, 8, 15, 16, 100, 127, 223, 231, 256, 1000, 4096, 65_000]) {
      const { chip } = pair(cipher);
      const answer = chip.protectResponse(0xb0, { data: new Uint8Array(bytes), statusWord: 0x9000 });
      assert.equal(protectedAnswerBytes(bytes, cipherSuites[cipher].blockBytes), answer.data.length);
    }
  }
  assert.equal(maxProtectedRead(256, 8), 231);
  assert.equal(maxProtectedRead(256, 16), 223);
});
