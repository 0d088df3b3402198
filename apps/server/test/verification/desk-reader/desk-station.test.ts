import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { runCommand } from "@assay/cli/command";
import { readCommandAt } from "../../../src/operations/cli/read.command.ts";
import { TerminalClosed } from "../../../src/verification/desk-reader/terminal.ts";
import { createPartner, expectData } from "../../support/api.ts";
import { startTestService } from "../../support/service.ts";
import { agree } from "../../support/verify.ts";

const service = await startTestService();
const partner = await createPartner(service.api);
const nameFolder = mkdtempSync(join(tmpdir(), "assay-desk-name-"));
after(() => rmSync(nameFolder, { recursive: true }));

async function newSession(): Promise<{ id: string; verification_url: string }> {
  const shareFields = { date_of_birth: { required: true, reason: "We must know that you are of age." } };
  return expectData(await partner.api.post("/v1/sessions", { share_fields: shareFields }), 201);
}

/** A counter without a reader: scans these codes one after the other, then closes the terminal. */
async function counter(codes: readonly string[], args: readonly string[] = ["--service", service.url]) {
  const lines: string[] = [];
  const left = [...codes];
  const terminal = {
    ask: async (question: string) => {
      if (question.startsWith("Card access number")) return "123456";
      const code = left.shift();
      if (code === undefined) throw new TerminalClosed();
      return code;
    },
  };
  const exitCode = await runCommand(
    [readCommandAt({ terminal, nameFolder })],
    ["read", "--socket", join(nameFolder, "no-pcscd"), ...args],
    (line) => lines.push(line),
  );
  return { exitCode, lines };
}

/** What the counter said of each code, from the word on. */
function said(lines: readonly string[]): string[] {
  return lines
    .join("\n")
    .split("NOT READ\n")
    .slice(1)
    .map((text) => text.trim());
}

test("a code that cannot be read for is explained in one sentence, and the counter takes the next one", async () => {
  const [agreed, fresh, old, cancelled] = [
    await newSession(),
    await newSession(),
    await newSession(),
    await newSession(),
  ];
  for (const { id } of [agreed, old, cancelled]) await agree(service.api, id);
  assert.equal((await partner.api.post(`/v1/sessions/${cancelled.id}/cancel`, {})).status, 204);
  const unknown = agreed.verification_url.replace(/vs_\w+$/, `vs_${"0".repeat(64)}`);
  const { exitCode, lines } = await counter([
    "hello",
    "https>&&id.example.com&verify&vs?1",
    `https://evil.test/verify/${agreed.id}`,
    "",
    unknown,
    fresh.verification_url,
    cancelled.verification_url,
    `${agreed.verification_url}#handoff=wrong`,
  ]);
  assert.equal(exitCode, 0, "closing the counter is no error");
  assert.match(lines[0] ?? "", new RegExp(`reads documents for ${new URL(service.url).host}`));
  const expected = [
    /^This is not the code of a verification\.\nAsk the person to show the code/,
    /keyboard layout of this computer\.$/,
    /^This code is of evil\.test, and this desk reads for .*\nDo not read a document for it\.$/,
    /\nCompare the link with the one in your own system\.$/,
    /^The person has not agreed yet\.\nAsk them to agree on their own screen/,
    /^The session is over\.\n/,
    /smart card service is not running/,
  ];
  const found = said(lines);
  assert.equal(found.length, expected.length, lines.join("\n"));
  for (const [index, pattern] of expected.entries()) assert.match(found[index] ?? "", pattern);
  assert.equal(
    expectData(await partner.api.get(`/v1/sessions/${agreed.id}`)).status,
    "created",
    "without a reader no session is taken",
  );

  service.clock.advance(2 * 60 * 60 * 1000);
  assert.match(said((await counter([old.verification_url])).lines)[0] ?? "", /^The session has expired\.\n/);
});

test("a counter does not open without the service whose codes it takes, or with something that is none", async () => {
  const { url } = service;
  for (const args of [
    [],
    ["--service", "id.example.com"],
    ["--service", `${url}/verify`],
    ["--service", "ftp://x"],
  ])
    await assert.rejects(counter([], args), /Name the service whose codes this desk accepts/, args.join(" "));
  assert.equal((await counter([], ["--service", `${url}/`])).exitCode, 0);
});

test("a service that cannot be reached is a sentence, too", async () => {
  const { verification_url: link } = await newSession();
  const gone = "http://127.0.0.1:1";
  const { lines } = await counter([link.replace(service.url, gone)], ["--service", gone]);
  assert.match(said(lines)[0] ?? "", /^The service cannot be reached\.\n/);
});
