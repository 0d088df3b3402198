import assert from "node:assert/strict";
import test from "node:test";
import { runCommand } from "@assay/cli/command";
import { testDocument as makeTestDocument } from "@assay/emrtd/node/test-country/catalogue";
import { createVirtualChip } from "@assay/emrtd/virtual/virtual-chip";
import { skipWithoutPcscd, startPcscd } from "../../../../../packages/emrtd/test/support/pcscd.ts";
import { readCommand, virtualDocument } from "./read.command.ts";

async function run(...argv: readonly string[]): Promise<{ code: number; text: string }> {
  const lines: string[] = [];
  const code = await runCommand([readCommand, virtualDocument], argv, (line) => lines.push(line));
  return { code, text: lines.join("\n") };
}

function testDocument(id: string) {
  const document = makeTestDocument(id, new Date());
  assert.ok(document !== null);
  return document;
}

test("`assay read` reads and judges documents over PC/SC", { skip: skipWithoutPcscd }, async () => {
  const daemon = await startPcscd();
  try {
    for (const [id, code, last] of [
      ["passport-valid", 0, /authentic and the chip is genuine/],
      ["passport-cloned-chip-authentication", 3, /Refused: document chip authentication failed/],
    ] as const) {
      const document = testDocument(id);
      const inserted = await daemon.insert(createVirtualChip({ files: document.files, ...document.chip }));
      const read = await run(
        "read",
        "--test-country",
        "--can",
        document.chip.can,
        "--socket",
        daemon.socketPath,
      );
      assert.equal(read.code, code, read.text);
      assert.match(read.text, last);
      assert.match(read.text, /Opened with PACE/);
      await inserted.close();
    }
    const listed = await run("read", "--list", "--socket", daemon.socketPath);
    assert.match(listed.text, /Virtual PCD/);
  } finally {
    await daemon.stop();
  }
});

test("`assay read` waits for a document that slipped off the reader", {
  skip: skipWithoutPcscd,
}, async () => {
  const document = testDocument("passport-valid");
  const chip = createVirtualChip({ files: document.files, ...document.chip });
  const daemon = await startPcscd();
  try {
    const first = await daemon.insert(chip);
    const lines: string[] = [];
    let putBack: Promise<{ close(): Promise<void> }> | undefined;
    const code = await runCommand(
      [readCommand],
      ["read", "--test-country", "--can", document.chip.can, "--socket", daemon.socketPath],
      (line) => {
        lines.push(line);
        if (line === "Opened with PACE.") putBack ??= first.close().then(() => daemon.insert(chip));
      },
    );
    await putBack;
    assert.equal(code, 0, lines.join("\n"));
    assert.ok(lines.includes("The document left the reader. Put it back."), lines.join("\n"));
    assert.match(lines.at(-1) ?? "", /authentic and the chip is genuine/);
  } finally {
    await daemon.stop();
  }
});
