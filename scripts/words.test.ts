import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import test from "node:test";
import { findIn } from "./words.ts";

const found = (text: string) => findIn([{ kind: "guide", at: "a.md", text }]);

test("the report of words finds long sentences and listed words, and nothing in plain text", () => {
  const long = `It ${"goes on ".repeat(15)}and on.`;
  assert.deepEqual(found("A short sentence. Another one."), []);
  assert.deepEqual(
    found(`Short. ${long} The row is set aside by whoever comes.`).map(({ words, listed }) => [
      words,
      listed,
    ]),
    [
      [8, ["whoever", "set aside"]],
      [33, []],
    ],
  );
  assert.deepEqual(found("| one cell of a table | another cell |\n- a point\n- another"), []);
});

test("the report of words covers guides, records, comments and messages of a part, and never fails", () => {
  const { status, stdout } = spawnSync(process.execPath, ["scripts/words.ts", "webhook"], {
    encoding: "utf8",
  });
  assert.equal(status, 0);
  for (const kind of ["guides", "records", "comments", "messages"])
    assert.match(stdout, new RegExp(`^${kind} +[1-9]`, "m"));
});
