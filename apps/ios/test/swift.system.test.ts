import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { globSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import test from "node:test";

/**
 * Apple's frameworks are not on this machine.
 * Code without them is compiled and run; the rest is checked against stubs.
 */
const compiler = process.env.SWIFTC ?? "swiftc";
const folder = path.resolve(import.meta.dirname, "..");
const isThere = spawnSync(compiler, ["--version"]).status === 0;
const skip = isThere ? false : "no Swift compiler here: on Debian 13 install swiftlang, or set SWIFTC";
const parts = ["OwnOrigin", "ReaderLink", "ReaderDocument", "ShellMessage", "Sheet", "Texts", "KeptState"];

function withFolder(use: (folder: string) => void): void {
  const made = mkdtempSync(path.join(tmpdir(), "assay-ios-"));
  try {
    use(made);
  } finally {
    rmSync(made, { recursive: true });
  }
}

function run(command: string, args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: folder, encoding: "utf8" });
  assert.equal(status, 0, stdout + stderr);
  return stdout;
}

const compile = (...args: readonly string[]) =>
  run(compiler, ["-swift-version", "5", "-parse-as-library", "-warnings-as-errors", ...args]);

test("links, messages, sheet and kept state of the iPhone shell", { skip }, () => {
  withFolder((made) => {
    const program = path.join(made, "parts");
    const sources = parts.map((name) => `Shared/${name}.swift`);
    compile("-o", program, ...sources, "test/PartsTest.swift");
    assert.ok(Number(run(program, [path.resolve(folder, "../android/test/links.tsv")])) > 180);
  });
});

test("the whole source of the iPhone shell fits together, as far as stubs of Apple's frameworks can tell", {
  skip,
}, () => {
  withFolder((made) => {
    for (const name of ["CoreNFC", "Security", "UIKit", "AVFoundation", "WebKit"])
      compile(
        ...["-emit-module", "-module-name", name, "-I", made],
        ...["-emit-module-path", path.join(made, `${name}.swiftmodule`), `test/stubs/${name}.swift`],
      );
    compile(
      "-typecheck",
      "-module-name",
      "Assay",
      "-I",
      made,
      ...globSync("Shared/*.swift", { cwd: folder }),
    );
  });
});
