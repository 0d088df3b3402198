import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import test, { after } from "node:test";

const root = path.resolve(import.meta.dirname, "..");
const folder = mkdtempSync(path.join(tmpdir(), "assay-cli-package-"));
after(() => rmSync(folder, { recursive: true, force: true }));

function run(cwd: string, file: string, ...args: string[]) {
  return spawnSync(file, args, { cwd, encoding: "utf8" });
}

test("the package of the command line, made in a checkout where nothing was built, runs in an empty folder", () => {
  const checkout = path.join(folder, "checkout");
  const isSource = (file: string) =>
    !["dist", "node_modules", "training", "networks"].includes(path.basename(file));
  for (const part of ["package.json", "package-lock.json", ".npmrc", "scripts", "packages"])
    cpSync(path.join(root, part), path.join(checkout, part), { recursive: true, filter: isSource });
  symlinkSync(path.join(root, "node_modules"), path.join(checkout, "node_modules"));
  const made = run(checkout, "npm", "run", "--silent", "cli-package");
  assert.equal(made.status, 0, made.stderr);
  const { version } = JSON.parse(readFileSync(path.join(root, "packages/cli/package.json"), "utf8"));
  const archive = `assay-cli-${version}.tgz`;
  assert.equal(made.stdout, `${archive} is made. Anywhere with Node 20: npx ./${archive} --help\n`);

  const elsewhere = path.join(folder, "elsewhere");
  mkdirSync(elsewhere);
  const installed = run(elsewhere, "npm", "install", "--offline", path.join(checkout, archive));
  assert.equal(installed.status, 0, installed.stderr);
  const shown = run(elsewhere, path.join(elsewhere, "node_modules/.bin/assay"), "--help");
  assert.equal(shown.status, 0, shown.stderr);
  assert.match(shown.stdout, /^Usage: assay COMMAND/);
});

test("the docs print the command that makes the package", () => {
  const guide = readFileSync(path.join(root, "docs/webhooks.md"), "utf8");
  const { version } = JSON.parse(readFileSync(path.join(root, "packages/cli/package.json"), "utf8"));
  assert.ok(guide.includes(`\`npm run cli-package\` makes \`assay-cli-${version}.tgz\``));
});
