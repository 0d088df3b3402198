import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import test from "node:test";
import { CallError } from "@assay/contract/client";
import { failureCodes } from "@assay/contract/sessions";
import { EmrtdError } from "@assay/emrtd/emrtd-error";
import { PcscError } from "@assay/emrtd/node/pcscd-client";
import { NoReaderError } from "./card-at-desk.ts";
import { adviseOn, adviseOnOutcome, guideStep } from "./desk-guide.ts";
import { deskNameFor } from "./desk-name.ts";
import { drawCode } from "./draw-code.ts";
import { EndedAtDesk, terminalOn } from "./terminal.ts";

const refusedCall = (code: string) =>
  new CallError(409, { code, message: "The service says no.", hint: "Its own hint.", docs: "" }, null);

test("the desk says what to do about every error, and how the command ends", () => {
  const cases: readonly [unknown, number, RegExp][] = [
    [new NoReaderError("No reader is connected"), 6, /Plug the reader in/],
    [new PcscError("SCardConnect", 0x8010000b), 6, /Close the other program/],
    [new PcscError("SCardConnect", 0x80100017), 6, /Unplug the reader/],
    [new EmrtdError("CHIP_LOST", "gone"), 5, /lay it flat on the reader/],
    [new EmrtdError("RESET_NEEDED", "gone"), 5, /lay it flat on the reader/],
    [new EmrtdError("PACE_FAILED", "no"), 5, /Compare number and dates/],
    [new EmrtdError("LDS_INVALID", "no"), 5, /use another document/],
    [new EmrtdError("PROTOCOL_UNSUPPORTED", "no"), 5, /the person's own phone/],
    [new EmrtdError("APDU_INVALID", "no"), 5, /another reader/],
    [refusedCall("CONSENT_REQUIRED"), 4, /to agree there/],
    [refusedCall("HANDOFF_DEVICE_MISMATCH"), 4, /Use another device/],
    [refusedCall("OTHER_BROWSER"), 4, /without that requirement/],
    [refusedCall("SESSION_EXPIRED"), 4, /new session/],
    [refusedCall("SESSION_ENDED"), 4, /new session/],
    [refusedCall("RATE_LIMITED"), 4, /Its own hint/],
    [new TypeError("fetch failed"), 4, /Check the network/],
    [new SyntaxError("Unexpected token '<' is not valid JSON"), 4, /Check the network/],
  ];
  for (const [error, exitCode, todo] of cases) {
    const advice = adviseOn(error);
    assert.equal(advice?.exitCode, exitCode, String(error));
    assert.match(advice?.todo ?? "", todo);
    assert.match(advice?.says ?? "", /\.$/);
  }
  assert.equal(adviseOn(new TypeError("x is not a function")), null, "a fault of ours is no advice");
});

test("every refusal of the service is said in words, with the tries that are left", () => {
  for (const code of failureCodes) {
    const line = guideStep(`chip_failed (${code}), 2 left`) ?? "";
    assert.match(line, /^Refused\. .+ Tries left: 2\.$/);
    assert.doesNotMatch(line, /_/);
    assert.doesNotMatch(guideStep(`chip_failed (${code}), 0 left`) ?? "", /Tries left/);
  }
  assert.match(
    guideStep("chip_failed (document_data_invalid, clone_detection is required), 1 left") ?? "",
    /prove that it is no copy/,
  );
  assert.equal(guideStep("handoff"), null);
  assert.match(guideStep("chip_authentication") ?? "", /Leave the document/);
  assert.equal(
    adviseOnOutcome({ kind: "failed", sessionId: "vs", failureCode: null, unmetRequirement: null }).exitCode,
    3,
  );
  assert.equal(adviseOnOutcome({ kind: "closed", sessionId: "vs", code: "SESSION_ENDED" }).exitCode, 4);
});

test("a desk has one name in a session and another in the next, and none of them is kept", () => {
  const folder = mkdtempSync(join(tmpdir(), "assay-desk-"));
  try {
    const first = deskNameFor("vs_1", join(folder, "state"));
    assert.equal(deskNameFor("vs_1", join(folder, "state")), first);
    assert.notEqual(deskNameFor("vs_2", join(folder, "state")), first);
    assert.notEqual(deskNameFor("vs_1", join(folder, "other")), first);
    assert.match(first, /^[\w-]{43}$/);
    assert.deepEqual(readdirSync(join(folder, "state")), ["desk-name"]);
    // Where nothing can be written, there is a name all the same.
    assert.match(deskNameFor("vs_1", join(folder, "state", "desk-name", "below a file")), /^[\w-]{43}$/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("a link is drawn as a code with a light border, and written below it", async () => {
  const lines = await drawCode("https://verify.example.org/verify/vs_1#socket=token");
  assert.equal(lines.at(-1), "https://verify.example.org/verify/vs_1#socket=token");
  const code = lines.slice(0, -1);
  const [top = ""] = code;
  assert.match(top, /^█+$/);
  for (const line of code) assert.equal([...line].length, top.length);
  // The three corners by which a camera finds it: a dark bar of seven at the top left.
  assert.match(code[1] ?? "", /^██ ▄▄▄▄▄ /);
});

test("a question is answered by a line, and ends the reading when the terminal is closed", async () => {
  const typed = new PassThrough();
  const shown = new PassThrough();
  const terminal = terminalOn(typed, shown);
  const answer = terminal.ask("Document number: ");
  typed.write(" L898902C3 \n");
  assert.equal(await answer, "L898902C3");
  assert.match(String(shown.read()), /Document number: /);
  const closed = terminal.ask("Date of birth: ");
  typed.end();
  await assert.rejects(closed, EndedAtDesk);
});
