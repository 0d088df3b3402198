import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import path from "node:path";
import { test } from "node:test";

/** The runner on fixtures, with the PostgreSQL of this run so that it starts none. */
function runTests(...fixtures: string[]): {
  status: number | null;
  lines: string[];
  last: string | undefined;
} {
  const files = fixtures.map((name) => path.join("scripts/fixtures", `${name}.fixture.ts`));
  const { status, stdout } = spawnSync(process.execPath, ["scripts/test.ts", "--quiet-seconds=1", ...files], {
    cwd: path.resolve(import.meta.dirname, ".."),
    encoding: "utf8",
    env: { ...process.env, TEST_DATABASE_URL: process.env.ASSAY_TEST_POSTGRES ?? "postgresql:///none" },
  });
  const lines = stdout.trimEnd().split("\n");
  return { status, lines, last: lines.at(-1) };
}

test("passing tests end with their number, and skipped ones are listed with their reason", () => {
  const { status, lines, last } = runTests("passes");
  assert.equal(status, 0);
  assert.equal(last, "1 passed, 0 failed, 1 skipped");
  assert.ok(lines.some((line) => line.includes("a suite > is skipped: for a reason")));
});

test("a failed test is shown with file, name and stack, and makes the run fail", () => {
  const { status, lines, last } = runTests("fails", "passes");
  assert.equal(status, 1);
  assert.equal(last, "2 passed, 1 failed, 1 skipped");
  assert.ok(lines.some((line) => line.includes("scripts/fixtures/fails.fixture.ts > a suite > fails")));
  assert.ok(lines.some((line) => /at .*fails\.fixture\.ts:\d+/.test(line)));
});

test("a file whose process dies is a failure", () => {
  const { status, lines, last } = runTests("crashes");
  assert.equal(status, 1);
  assert.match(last ?? "", /^\d passed, 1 failed$/);
  assert.ok(lines.some((line) => line.includes("was ended by SIGKILL")));
});

test("a file that leaves something open is a failure and does not hang", () => {
  const { status, lines, last } = runTests("leaks");
  assert.equal(status, 1);
  assert.equal(last, "1 passed, 1 failed");
  assert.ok(lines.some((line) => line.includes("something was left open")));
});

test("an error after the last test is a failure", () => {
  const { status, last } = runTests("late");
  assert.equal(status, 1);
  assert.match(last ?? "", /, 1 failed$/);
});

test("a file without tests, and a run without files, fail", () => {
  const empty = runTests("empty");
  assert.equal(empty.status, 1);
  assert.equal(empty.last, "0 passed, 1 failed");
  const none = runTests("no-such-file");
  assert.equal(none.status, 1);
  assert.equal(none.last, "0 passed, 0 failed");
});
