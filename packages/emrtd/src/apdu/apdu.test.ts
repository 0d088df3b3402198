import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { scriptedTransport } from "../../test/support/scripted-transport.ts";
import { fromHex, toHex } from "../bytes.ts";
import { isEmrtdError } from "../emrtd-error.ts";
import { decodeCommand, encodeCommand } from "./command.ts";
import { statusError } from "./response.ts";
import { transmit } from "./transport.ts";

test("the four cases of a command are written as ISO/IEC 7816-4 prints them, short and extended", () => {
  const header = { cla: 0, ins: 0xb0, p1: 1, p2: 2 };
  const data = fromHex("0a0b");
  assert.equal(toHex(encodeCommand(header)), "00b00102");
  assert.equal(toHex(encodeCommand({ ...header, expectedBytes: 256 })), "00b0010200");
  assert.equal(toHex(encodeCommand({ ...header, data })), "00b00102020a0b");
  assert.equal(toHex(encodeCommand({ ...header, data, expectedBytes: 5 })), "00b00102020a0b05");
  assert.equal(toHex(encodeCommand({ ...header, expectedBytes: 65_536 })), "00b00102000000");
  assert.equal(toHex(encodeCommand({ ...header, data }, true)), "00b001020000020a0b");
  assert.equal(toHex(encodeCommand({ ...header, data, expectedBytes: 257 })), "00b001020000020a0b0101");
});

test("what is encoded is decoded again", () => {
  fc.assert(
    fc.property(
      fc.nat(255),
      fc.nat(255),
      fc.uint8Array({ maxLength: 600 }),
      fc.integer({ min: 0, max: 65_536 }),
      fc.boolean(),
      (ins, p1, data, expectedBytes, extended) => {
        const command = { cla: 0, ins, p1, p2: 0, data, expectedBytes };
        const decoded = decodeCommand(encodeCommand(command, extended));
        assert.deepEqual(
          { ...decoded, data: toHex(decoded.data) },
          { ...command, data: toHex(data), extended: decoded.extended },
        );
      },
    ),
  );
});

test("no bytes make the reader of commands throw anything but its own error", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
      try {
        decodeCommand(bytes);
      } catch (error) {
        assert.ok(isEmrtdError(error) && error.code === "APDU_INVALID");
      }
    }),
    { numRuns: 500 },
  );
});

test("an answer in pieces is fetched whole, and a wrong expected length is corrected once", async () => {
  const pieces = scriptedTransport([
    ["00b0000000", "01026103"],
    ["00c0000003", "0304056101"],
    ["00c0000001", "069000"],
  ]);
  const whole = await transmit(pieces, { cla: 0, ins: 0xb0, p1: 0, p2: 0, expectedBytes: 256 });
  assert.equal(toHex(whole.data), "010203040506");
  const corrected = scriptedTransport([
    ["00b0000000", "6c03"],
    ["00b0000003", "0102039000"],
  ]);
  assert.equal(
    toHex((await transmit(corrected, { cla: 0, ins: 0xb0, p1: 0, p2: 0, expectedBytes: 256 })).data),
    "010203",
  );
});

test("a chip that always has more to say is cut off", async () => {
  const endless = {
    maxCommandBytes: 261,
    maxResponseBytes: 258,
    extendedLength: false,
    transceive: async () => fromHex("6100"),
  };
  await assert.rejects(transmit(endless, { cla: 0, ins: 0xb0, p1: 0, p2: 0, expectedBytes: 256 }), {
    code: "CHIP_RESPONSE_INVALID",
  });
  const mute = { ...endless, transceive: async () => new Uint8Array(1) };
  await assert.rejects(transmit(mute, { cla: 0, ins: 0xb0, p1: 0, p2: 0 }), {
    code: "CHIP_RESPONSE_INVALID",
  });
  await assert.rejects(transmit(endless, { cla: 0, ins: 0xb0, p1: 0, p2: 0, data: new Uint8Array(300) }), {
    code: "APDU_INVALID",
  });
});

test("status words become errors that say what happened", () => {
  assert.equal(statusError(0x6a82, "SELECT").code, "FILE_NOT_FOUND");
  assert.equal(statusError(0x6982, "READ BINARY").code, "ACCESS_DENIED");
  assert.equal(statusError(0x6988, "READ BINARY").code, "SECURE_MESSAGING_FAILED");
  const other = statusError(0x6f00, "READ BINARY");
  assert.equal(other.code, "CHIP_STATUS");
  assert.equal(other.statusWord, 0x6f00);
  assert.match(other.message, /READ BINARY.*6F00/);
});
