import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";

const checkout = path.resolve(import.meta.dirname, "..");

/** The runner on fixtures, with the PostgreSQL of this run so that it starts none. */
function runTests(...fixtures: string[]): Ran {
  return runRunner(
    fixtures.map((name) => path.join("scripts/fixtures", `${name}.fixture.ts`)),
    {},
  );
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
  assert.ok(
    lines.some((line) => /left open: Server .*listening true/.test(line)),
    "it tells what is open",
  );
});

test("a file that leaves a timer running is a failure and does not hang", () => {
  const { status, lines, last } = runTests("waits");
  assert.equal(status, 1);
  assert.equal(last, "1 passed, 1 failed");
  assert.ok(lines.some((line) => line.includes("the process does not end")));
  assert.ok(lines.some((line) => /still open: .*Timeout/.test(line)));
});

test("files share a process, and one that dies, fails or leaves something open costs the others nothing", () => {
  const files = ["passes", "crashes", "shares-first", "shares-second", "leaks", "fails"].map((name) =>
    path.join("scripts/fixtures", `${name}.fixture.ts`),
  );
  const { lines, last } = runRunner(["--lanes=1", ...files], {});
  assert.equal(last, "5 passed, 3 failed, 1 skipped", lines.join("\n"));
});

test("an error of a timer, a promise or a socket fails the test that it belongs to, and what a test opens is closed with it", () => {
  const { lines, last } = runTests("astray");
  assert.equal(last, "1 passed, 3 failed", lines.join("\n"));
  for (const name of ["timer", "promise", "socket"])
    assert.ok(lines.some((line) => line.endsWith(`astray.fixture.ts > an error of a ${name}`)));
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

test("without a browser all browser tests are one line that names their number and the way to get one", () => {
  const { status, lines, last } = runRunner([".browser.test.ts", "scripts/fixtures/passes.fixture.ts"], {
    CHROMIUM_PATH: "/nowhere/chromium",
  });
  assert.equal(status, 0);
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

test("tests that need more than Node and npm run in the system suite only", () => {
  const file = "packages/emrtd/src/verify/real-documents.system.test.ts";
  assert.equal(runRunner([file], {}).last, "0 passed, 0 failed");
  const { lines, last } = runRunner(["--system", file], { ASSAY_VECTORS: "" });
  assert.match(last ?? "", /^0 passed, 0 failed, \d+ skipped$/, lines.join("\n"));
});
