import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";

const checkout = path.resolve(import.meta.dirname, "..");

/** The runner on fixtures, with the PostgreSQL of this run so that it starts none. */
function runTests(options: readonly string[], ...fixtures: string[]): Ran {
  const files = fixtures.map((name) => path.join("scripts/fixtures", `${name}.fixture.ts`));
  return runRunner([...options, ...files], {});
}

type Ran = { status: number | null; lines: string[]; last: string | undefined };

function runRunner(files: readonly string[], environment: Record<string, string>, root = checkout): Ran {
  const { status, stdout } = spawnSync(process.execPath, ["scripts/test.ts", "--quiet-seconds=1", ...files], {
    cwd: root,
    encoding: "utf8",
    env: {
      ...process.env,
      TEST_DATABASE_URL: process.env.ASSAY_TEST_POSTGRES ?? "postgresql:///none",
      ...environment,
    },
  });
  const lines = stdout.trimEnd().split("\n");
  return { status, lines, last: lines.at(-1) };
}

/**
 * One run, with one process at a time, proves most. The first file kills its process, so the others run in a
 * second one. `waits` has the folder of files that mostly wait, which get a process beside: only without a
 * failed test does a process that does not end count as a failure.
 */
const mixed = runTests(
  ["--lanes=1"],
  ...["abruptly-dies", "astray", "empty", "fails", "leaks", "passes", "shares-first", "shares-second"],
  "test/faults/waits",
);

function assertShown(shown: string | RegExp): void {
  const isThere = (line: string) => (typeof shown === "string" ? line.includes(shown) : shown.test(line));
  assert.ok(mixed.lines.some(isThere), `${shown} is in\n${mixed.lines.join("\n")}`);
}

test("files share a process, and one that dies, fails or leaves something open costs the others nothing", () => {
  const { lines, status, last } = mixed;
  assert.equal(status, 1);
  assert.equal(last, "7 passed, 8 failed, 1 skipped", lines.join("\n"));
  const failed = lines.slice(lines.indexOf("Failed:") + 1, -3).map((line) => line.trim());
  const [fixtures, suffix] = ["scripts/fixtures", "fixture.ts"];
  assert.deepEqual(failed, [
    `${fixtures}/abruptly-dies.${suffix}`,
    ...["timer", "promise", "socket"].map((name) => `${fixtures}/astray.${suffix} > an error of a ${name}`),
    `${fixtures}/empty.${suffix}`,
    `${fixtures}/fails.${suffix} > a suite > fails`,
    `${fixtures}/leaks.${suffix}`,
    `${fixtures}/test/faults/waits.${suffix}, after all its tests: its process ended with exit code 1`,
  ]);
});

test("a failed test is shown with file, name and stack, and makes the run fail", () => {
  assertShown("scripts/fixtures/fails.fixture.ts > a suite > fails");
  assertShown(/at .*fails\.fixture\.ts:\d+/);
});

test("a file whose process dies is a failure", () => {
  assertShown(/^FAIL {2}scripts\/fixtures\/abruptly-dies\.fixture\.ts {2}\d passed, 1 failed/);
  assertShown("was ended by SIGKILL");
});

test("a file that leaves something open is a failure and does not hang", () => {
  assertShown(/^FAIL {2}scripts\/fixtures\/leaks\.fixture\.ts {2}1 passed, 1 failed/);
  assertShown("something was left open");
  // It tells what is open.
  assertShown(/left open: Server .*listening true/);
});

test("a file that leaves a timer running is a failure and does not hang", () => {
  assertShown(/^ok {4}scripts\/fixtures\/test\/faults\/waits\.fixture\.ts {2}1 passed/);
  assertShown("the process does not end");
  assertShown(/still open: .*Timeout/);
});

test("an error of a timer, a promise or a socket fails the test that it belongs to, and what a test opens is closed with it", () => {
  assertShown(/^FAIL {2}scripts\/fixtures\/astray\.fixture\.ts {2}1 passed, 3 failed/);
  for (const name of ["timer", "promise", "socket"])
    assertShown(new RegExp(`astray\\.fixture\\.ts > an error of a ${name}$`));
});

test("a file without tests is a failure", () => {
  assertShown(/^FAIL {2}scripts\/fixtures\/empty\.fixture\.ts {2}0 passed, 1 failed/);
});

test("an error after the last test is a failure", () => {
  const { status, last } = runTests([], "late");
  assert.equal(status, 1);
  assert.match(last ?? "", /, 1 failed$/);
});

test("passing tests end with their number, skipped ones are listed with their reason, and without a browser all browser tests are one line that names their number and the way to get one", () => {
  const { status, lines, last } = runRunner([".browser.test.ts", "scripts/fixtures/passes.fixture.ts"], {
    CHROMIUM_PATH: "/nowhere/chromium",
  });
  assert.equal(status, 0);
  assert.ok(lines.some((line) => line.includes("a suite > is skipped: for a reason")));
  const told = lines.filter((line) => line.includes("browser test"));
  assert.equal(told.length, 1, told.join("\n"));
  const files = Number(
    /^ {2}(\d+) files of browser tests: CHROMIUM_PATH names \/nowhere/.exec(told[0] ?? "")?.[1],
  );
  assert.ok(files > 1);
  assert.equal(last, `1 passed, 0 failed, ${files + 1} skipped`);
});

test("run directly, the runner brings the web apps up to date before a browser test, and for no other", (t) => {
  const root = mkdtempSync(path.join(tmpdir(), "assay-runner-"));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  mkdirSync(path.join(root, "apps"));
  mkdirSync(path.join(root, "scripts"));
  symlinkSync(path.join(checkout, "apps/server"), path.join(root, "apps/server"));
  for (const file of [
    "test.ts",
    "test-group.ts",
    "current-test.ts",
    "find-browser.ts",
    "scratch-folder.ts",
    "scratch-postgres.ts",
  ])
    cpSync(path.join(checkout, "scripts", file), path.join(root, "scripts", file));
  // Replaces the script that builds what is stale.
  writeFileSync(
    path.join(root, "scripts/run.mjs"),
    `import { appendFileSync } from "node:fs"; appendFileSync("built", process.argv[2]);`,
  );
  const fixture = (name: string, built: boolean) =>
    writeFileSync(
      path.join(root, "scripts", name),
      `import assert from "node:assert/strict"; import { existsSync } from "node:fs"; import { test } from "node:test";
       test("sees what was built", () => assert.equal(existsSync("built"), ${built}));`,
    );
  fixture("page.browser.test.ts", true);
  fixture("page.plain.test.ts", false);
  const environment = { CHROMIUM_PATH: "/bin/true" };
  assert.equal(runRunner(["page.plain"], environment, root).last, "1 passed, 0 failed");
  assert.equal(runRunner(["page.browser"], environment, root).last, "1 passed, 0 failed");
});

test("tests that need more than Node and npm run in the system suite only, and a run without files fails", () => {
  const file = "packages/emrtd/src/verify/real-documents.system.test.ts";
  const none = runRunner([file], {});
  assert.equal(none.status, 1);
  assert.equal(none.last, "0 passed, 0 failed");
  const { lines, last } = runRunner(["--system", file], { ASSAY_VECTORS: "" });
  assert.match(last ?? "", /^0 passed, 0 failed, \d+ skipped$/, lines.join("\n"));
});
