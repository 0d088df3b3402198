import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { type FoundBrowser, findBrowser, howToGetBrowser, type Machine, shellOnly } from "./find-browser.ts";

type Fake = {
  environment?: Record<string, string>;
  platform?: string;
  arch?: string;
  isRoot?: boolean;
  /** Programs that are there and start. */
  programs?: string[];
  /** Programs that are there and do not. */
  broken?: string[];
  /** What `apt-get install` brings, or null where it fails. */
  apt?: string[] | null;
  /** A package that this Debian does not have. */
  unknownPackage?: string;
  /** What npm brings, or null where it fails. */
  npm?: string | null;
};

/** A machine that notes what is done to it. By default Debian, arm64, root, and bare. */
function machine(fake: Fake): { machine: Machine; deeds: string[] } {
  const programs = new Set(fake.programs);
  const deeds: string[] = [];
  return {
    deeds,
    machine: {
      environment: { PATH: "/home/ada/bin:/usr/bin", ...fake.environment },
      platform: fake.platform ?? "linux",
      arch: fake.arch ?? "arm64",
      isRoot: fake.isRoot ?? true,
      isProgram: (file) => programs.has(file) || (fake.broken ?? []).includes(file),
      exists: (file) => file === "/etc/debian_version",
      run(program, args) {
        if (args[0] === "--version") return programs.has(program);
        deeds.push([program, ...args].join(" "));
        if (fake.apt === null || args.includes(fake.unknownPackage ?? "")) return false;
        if (args[0] === "install") for (const brought of fake.apt ?? []) programs.add(brought);
        return true;
      },
      fetchFromNpm() {
        deeds.push("npm");
        if (typeof fake.npm !== "string") return null;
        programs.add(fake.npm);
        return fake.npm;
      },
      say() {},
    },
  };
}

function find(fake: Fake): FoundBrowser & { deeds: string[] } {
  const { machine: stand, deeds } = machine(fake);
  return { ...findBrowser(stand), deeds };
}

test("the named browser is taken before any other, and a wrong name is told instead of looking on", () => {
  const programs = ["/opt/mine", "/usr/bin/chromium"];
  const named = find({ programs, environment: { CHROMIUM_PATH: "/opt/mine" } });
  assert.deepEqual(named, { path: "/opt/mine", whole: "/opt/mine", reason: "", deeds: [] });
  const wrong = find({ programs, environment: { CHROMIUM_PATH: "/opt/none", CI: "true" } });
  assert.deepEqual(wrong, {
    path: null,
    whole: null,
    reason: "CHROMIUM_PATH names /opt/none, which is not a program",
    deeds: [],
  });
});

test("an installed browser is found in the PATH and in the usual places, and nothing is installed then", () => {
  const chrome = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome";
  for (const program of ["/home/ada/bin/google-chrome", "/usr/bin/chromium-browser", chrome]) {
    const found = find({
      programs: [program],
      arch: "x64",
      environment: { CI: "true" },
      apt: ["/usr/bin/chromium"],
    });
    assert.deepEqual(found, { path: program, whole: program, reason: "", deeds: [] });
  }
});

test("the shell is taken for what it can do, and a whole browser for the rest", () => {
  const shell = "/usr/bin/chromium-headless-shell";
  const both = find({ programs: [shell, "/usr/bin/chromium"] });
  assert.deepEqual(both, { path: shell, whole: "/usr/bin/chromium", reason: "", deeds: [] });
  const alone = find({ programs: [shell] });
  assert.deepEqual(alone, { path: shell, whole: null, reason: shellOnly, deeds: [] });
});

test("a browser that is there and does not start is passed over", () => {
  const found = find({
    broken: ["/usr/bin/chromium-browser", "/usr/bin/chromium-headless-shell"],
    programs: ["/usr/bin/google-chrome"],
  });
  assert.equal(found.path, "/usr/bin/google-chrome");
});

test("without CI=true no package of the operating system is installed, whoever runs the tests", () => {
  for (const ci of [undefined, "", "1", "false"]) {
    const environment: Record<string, string> = ci === undefined ? {} : { CI: ci };
    assert.deepEqual(find({ environment, apt: ["/usr/bin/chromium"] }), {
      path: null,
      whole: null,
      reason: howToGetBrowser,
      deeds: [],
    });
  }
});

test("with CI=true root on Debian gets Debian's packages, before npm's, and nobody else does", () => {
  const shell = "/usr/bin/chromium-headless-shell";
  const ci = { environment: { CI: "true" }, arch: "x64", apt: ["/usr/bin/chromium", shell] };
  const install = "apt-get install -y --no-install-recommends chromium";
  const found = find(ci);
  assert.deepEqual([found.path, found.whole], [shell, "/usr/bin/chromium"]);
  assert.deepEqual(found.deeds, ["apt-get update", `${install} chromium-headless-shell`]);
  const older = find({ ...ci, apt: ["/usr/bin/chromium"], unknownPackage: "chromium-headless-shell" });
  assert.equal(older.path, "/usr/bin/chromium");
  assert.equal(older.deeds.at(-1), install);
  assert.deepEqual(find({ ...ci, isRoot: false }).deeds, ["npm"]);
  assert.equal(find({ ...ci, apt: null }).reason, howToGetBrowser);
});

test("npm's shell is fetched on x86-64 Linux when nothing is installed, and what needs more is told", () => {
  const bare = { arch: "x64", npm: "/cache/start" };
  assert.deepEqual(find(bare), { path: "/cache/start", whole: null, reason: shellOnly, deeds: ["npm"] });
  assert.equal(find({ ...bare, npm: null }).path, null);
  assert.deepEqual(find({ ...bare, platform: "darwin" }).deeds, []);
});

for (const command of ["lighthouse", "screens"])
  test(`npm run ${command} says in one sentence that it finds no browser, before it does anything`, () => {
    const file = new URL(`${command}.ts`, import.meta.url).pathname;
    const environment = { ...process.env, CHROMIUM_PATH: "/nowhere" };
    const { status, stderr } = spawnSync(process.execPath, [file], { encoding: "utf8", env: environment });
    assert.equal(status, 1);
    assert.equal(stderr, "This needs a browser: CHROMIUM_PATH names /nowhere, which is not a program.\n");
  });
