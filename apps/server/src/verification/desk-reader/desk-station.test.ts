import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import test from "node:test";
import { plainStyle, styleOf } from "@assay/cli/style";
import { type BigWord, bigLetters } from "./big-letters.ts";
import { linesOn, TerminalClosed } from "./terminal.ts";

const words: readonly BigWord[] = ["PASSED", "FACE NEXT", "REFUSED", "NOT READ"];

test("an outcome is drawn in large letters of colour on a terminal, and is one word elsewhere", () => {
  const terminal = { isTTY: true, columns: 80 };
  const colour = styleOf(terminal, {}, {});
  for (const word of words) {
    const drawn = bigLetters(word, colour);
    assert.equal(drawn.length, 7, word);
    for (const row of drawn.slice(1, -1)) {
      assert.match(row.replaceAll("\u001b", "ESC"), /^ESC\[3\dm[█ ]+ESC\[0m$/);
      assert.ok(row.length - 9 <= 80, "fits");
    }
    const widths = new Set(drawn.slice(1, -1).map((row) => row.length));
    assert.equal(widths.size, 1, "every row of every letter is as wide as the others");
    assert.deepEqual(bigLetters(word, styleOf(terminal, {}, { NO_COLOR: "1" })), [word]);
    assert.deepEqual(
      bigLetters(word, styleOf({ ...terminal, columns: 40 }, {}, {})).length,
      word === "PASSED" ? 7 : 1,
    );
    assert.deepEqual(bigLetters(word, plainStyle), [word]);
  }
  assert.equal(new Set(words.map((word) => bigLetters(word, colour).join())).size, words.length);
});

test("a scanner that writes into a pipe is read line by line, and its end closes the counter", async () => {
  const input = new PassThrough();
  const printed: string[] = [];
  const terminal = linesOn(input, (line) => printed.push(line));
  input.end("one\r\n two \n");
  assert.equal(await terminal.ask("First: "), "one");
  assert.equal(await terminal.ask("Second: "), "two");
  await assert.rejects(terminal.ask("Third: "), TerminalClosed);
  assert.deepEqual(printed, ["First:", "Second:", "Third:"]);
});
