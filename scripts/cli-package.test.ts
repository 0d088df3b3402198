import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, globSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import test, { after } from "node:test";

const root = path.resolve(import.meta.dirname, "..");
const folder = mkdtempSync(path.join(tmpdir(), "assay-cli-package-"));
after(() => rmSync(folder, { recursive: true, force: true }));

function run(cwd: string, file: string, ...args: string[]) {
  return spawnSync(file, args, { cwd, encoding: "utf8" });
}

test("the package of the command line, made where nothing is installed or built, runs in an empty folder", () => {
  const checkout = path.join(folder, "checkout");
  const manifests = globSync("{apps,packages}/*/package.json", { cwd: root });
  for (const file of ["package.json", "package-lock.json", ".npmrc", "packages/cli/assay.mjs", ...manifests])
    cpSync(path.join(root, file), path.join(checkout, file), { recursive: true });
  const made = run(checkout, "npm", "pack", "--silent", "--workspace", "packages/cli");
  assert.equal(made.status, 0, made.stderr);
  const archive = made.stdout.trim();

  const elsewhere = path.join(folder, "elsewhere");
  mkdirSync(elsewhere);
  const installed = run(elsewhere, "npm", "install", "--offline", path.join(checkout, archive));
  assert.equal(installed.status, 0, installed.stderr);
  const shown = run(elsewhere, path.join(elsewhere, "node_modules/.bin/assay"), "--help");
  assert.equal(shown.status, 0, shown.stderr);
  assert.match(shown.stdout, /^Usage: assay COMMAND/);
});
