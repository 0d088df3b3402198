import assert from "node:assert/strict";
import { test } from "node:test";
import { findBrowser, howToGetBrowser, type Machine } from "./find-browser.ts";

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
  apt?: string | null;
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
        if (fake.apt === null) return false;
        if (args[0] === "install" && fake.apt !== undefined) programs.add(fake.apt);
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

function find(fake: Fake): { path: string | null; reason: string; deeds: string[] } {
  const { machine: stand, deeds } = machine(fake);
  return { ...findBrowser(stand), deeds };
}

test("the named browser is taken before any other, and a wrong name is told instead of looking on", () => {
  const programs = ["/opt/mine", "/usr/bin/chromium"];
  assert.equal(find({ programs, environment: { CHROMIUM_PATH: "/opt/mine" } }).path, "/opt/mine");
  const wrong = find({ programs, environment: { CHROMIUM_PATH: "/opt/none", CI: "true" } });
  assert.deepEqual(wrong, {
    path: null,
    reason: "CHROMIUM_PATH names /opt/none, which is not a program",
    deeds: [],
  });
});

test("an installed browser is found in the PATH and in the usual places, and nothing is installed then", () => {
  const chrome = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome";
  for (const program of ["/home/ada/bin/google-chrome", "/usr/bin/chromium-browser", chrome]) {
    const found = find({ programs: [program], arch: "x64", environment: { CI: "true" }, apt: "/usr/bin/x" });
    assert.deepEqual(found, { path: program, reason: "", deeds: [] });
  }
});

test("a browser that is there and does not start is passed over", () => {
  const found = find({
    broken: ["/usr/bin/chromium-browser"],
    programs: ["/usr/bin/google-chrome"],
  });
  assert.equal(found.path, "/usr/bin/google-chrome");
});

test("without CI=true no package of the operating system is installed, whoever runs the tests", () => {
  for (const ci of [undefined, "", "1", "false"]) {
    const environment: Record<string, string> = ci === undefined ? {} : { CI: ci };
    assert.deepEqual(find({ environment, apt: "/usr/bin/chromium" }), {
      path: null,
      reason: howToGetBrowser,
      deeds: [],
    });
  }
});

test("with CI=true root on Debian gets Debian's package, and nobody else does", () => {
  const ci = { environment: { CI: "true" }, apt: "/usr/bin/chromium" };
  const found = find(ci);
  assert.equal(found.path, "/usr/bin/chromium");
  assert.deepEqual(found.deeds, ["apt-get update", "apt-get install -y --no-install-recommends chromium"]);
  assert.deepEqual(find({ ...ci, isRoot: false }).deeds, []);
  assert.equal(find({ ...ci, apt: null }).reason, howToGetBrowser);
});

test("npm's Chromium is fetched on x86-64 Linux when none is installed, before Debian's", () => {
  const bare = { arch: "x64", environment: { CI: "true" }, apt: "/usr/bin/chromium" };
  assert.deepEqual(find({ ...bare, npm: "/cache/start" }), {
    path: "/cache/start",
    reason: "",
    deeds: ["npm"],
  });
  assert.equal(find({ ...bare, npm: null }).path, "/usr/bin/chromium");
  assert.deepEqual(find({ arch: "x64", platform: "darwin" }).deeds, []);
});
