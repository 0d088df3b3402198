import assert from "node:assert/strict";
import test from "node:test";
import { CommandError, runCommand } from "@assay/cli/command";
import { readCommand, virtualDocument } from "./read.command.ts";

async function run(...argv: readonly string[]): Promise<{ code: number; text: string }> {
  const lines: string[] = [];
  const code = await runCommand([readCommand, virtualDocument], argv, (line) => lines.push(line));
  return { code, text: lines.join("\n") };
}

test("mistakes at the command line are explained in a sentence", async () => {
  await assert.rejects(run("read"), { constructor: CommandError, message: /--service https/ });
  await assert.rejects(run("read", "--offline"), {
    constructor: CommandError,
    message: /card access number/,
  });
  await assert.rejects(run("read", "--can", "12"), { constructor: CommandError, message: /six digits/ });
  await assert.rejects(run("read", "--can", "123456", "--wait", "soon"), {
    constructor: CommandError,
    message: /--wait/,
  });
  await assert.rejects(run("read", "--can", "123456", "--socket", "/nonexistent"), {
    constructor: CommandError,
    message: /pcscd|smartcard/,
  });
  await assert.rejects(run("virtual-document", "nobody"), { constructor: CommandError, message: /nobody/ });
  await assert.rejects(run("virtual-document", "passport-valid", "--port", "1"), {
    constructor: CommandError,
    message: /vsmartcard-vpcd/,
  });
  assert.match((await run("virtual-document")).text, /passport-valid/);
});
