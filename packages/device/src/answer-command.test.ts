import assert from "node:assert/strict";
import test from "node:test";
import { EmrtdError } from "@assay/emrtd/emrtd-error";
import type { AnsweringChip } from "@assay/emrtd/reader/carry-commands";
import { answerCommand, problemOf } from "./answer-command.ts";

function chip(answer: () => Promise<Uint8Array>): AnsweringChip {
  return {
    forwardInSession: async (commands) => await Promise.all(commands.map(answer)),
    forwardSealed: answer,
    activeAuthentication: answer,
  };
}

const kinds = ["in_session", "sealed", "challenge"] as const;

test("answers go back in order, as base64", async () => {
  for (const kind of kinds)
    assert.deepEqual(
      await answerCommand(
        chip(async () => Uint8Array.of(0x90, 0)),
        { kind, commands: ["AAAA"] },
      ),
      ["kAA="],
    );
});

test("a chip that is gone is lost, and what it refused has no answer", async () => {
  const refusals = [
    new EmrtdError("CHIP_STATUS", "refused", { statusWord: 0x6985 }),
    new EmrtdError("ACCESS_DENIED", "refused", { statusWord: 0x6982 }),
    new EmrtdError("CHIP_RESPONSE_INVALID", "one byte"),
    new EmrtdError("SECURE_MESSAGING_FAILED", "wrong checksum"),
  ];
  for (const kind of kinds) {
    // A chip that needs a reset by a person returns like one that left the field.
    for (const code of ["CHIP_LOST", "RESET_NEEDED"] as const) {
      const lost = chip(() => Promise.reject(new EmrtdError(code, "gone")));
      assert.equal(await answerCommand(lost, { kind, commands: ["AAAA"] }), "lost");
    }
    for (const refusal of refusals)
      assert.deepEqual(
        await answerCommand(
          chip(() => Promise.reject(refusal)),
          { kind, commands: ["AAAA"] },
        ),
        [],
      );
  }
});

test("an error of this device is never an answer", async () => {
  const faults = [
    new TypeError("x is undefined"),
    new EmrtdError("APDU_INVALID", "longer than this reader can send"),
    new EmrtdError("PROTOCOL_UNSUPPORTED", "no extended length"),
    // Thrown by the reader itself, without a word of the chip.
    new EmrtdError("ACCESS_DENIED", "the chip speaks to the server only"),
  ];
  for (const kind of kinds)
    for (const fault of faults)
      await assert.rejects(
        answerCommand(
          chip(() => Promise.reject(fault)),
          { kind, commands: ["AAAA"] },
        ),
        fault,
      );
  const fine = chip(async () => Uint8Array.of(0x90, 0));
  await assert.rejects(answerCommand(fine, { kind: "sealed", commands: ["not base64!"] }), {
    code: "BYTES_INVALID",
  });
});

test("what a person hears of an error depends on who can do something about it", () => {
  const problems = {
    lost: ["CHIP_LOST", "RESET_NEEDED"],
    key: ["ACCESS_KEY_INVALID", "BAC_FAILED", "PACE_FAILED"],
    unsupported: ["PROTOCOL_UNSUPPORTED", "ALGORITHM_UNSUPPORTED", "FILE_TOO_LARGE"],
    device: ["APDU_INVALID", "BYTES_INVALID"],
    unreadable: ["LDS_INVALID", "CHIP_STATUS", "SECURE_MESSAGING_FAILED", "FILE_NOT_FOUND"],
  } as const;
  for (const [problem, codes] of Object.entries(problems))
    for (const code of codes) assert.equal(problemOf(new EmrtdError(code, "")), problem, code);
  assert.equal(problemOf(new TypeError("x is undefined")), "device");
  assert.equal(problemOf("CHIP_LOST"), "device");
});
