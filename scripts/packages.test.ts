import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import test, { after } from "node:test";

const root = path.resolve(import.meta.dirname, "..");
const folder = mkdtempSync(path.join(tmpdir(), "assay-packages-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const manifests = globSync("{apps,packages}/*/package.json", { cwd: root });
const published = manifests
  .map((file) => ({
    place: path.join(root, path.dirname(file)),
    manifest: JSON.parse(readFileSync(path.join(root, file), "utf8")),
  }))
  .filter(({ manifest }) => manifest.private !== true);

function run(cwd: string, file: string, ...args: string[]) {
  return spawnSync(file, args, { cwd, encoding: "utf8" });
}

test("what is published says what it is, under which licence, on which Node, and what can be run or imported", () => {
  assert.deepEqual(published.map(({ manifest }) => manifest.name).sort(), ["@assay/cli", "@assay/webhook"]);
  const licence = readFileSync(path.join(root, "LICENSE"), "utf8");
  for (const { place, manifest } of published) {
    for (const field of ["version", "description", "license", "engines", "exports"])
      assert.ok(manifest[field], `${manifest.name}: ${field}`);
    assert.ok(["LICENSE", "README.md"].every((file) => manifest.files.includes(file)));
    assert.equal(readFileSync(path.join(place, "LICENSE"), "utf8"), licence);
    assert.match(readFileSync(path.join(place, "README.md"), "utf8"), new RegExp(`^# ${manifest.name}\n`));
    const entry = manifest.exports["."];
    const entries = [...Object.values(manifest.bin ?? {}), ...Object.values(entry ?? {})] as string[];
    assert.ok(entry === undefined ? manifest.bin : entry.types, "what is imported has types");
    for (const file of entries) assert.ok(existsSync(path.join(place, file)), `${manifest.name}: ${file}`);
  }
});

test("the package of the command line, packed where nothing is installed, runs in an empty folder", () => {
  const checkout = path.join(folder, "checkout");
  const files = ["dist/assay.mjs", "LICENSE", "README.md"].map((file) => `packages/cli/${file}`);
  for (const file of ["package.json", "package-lock.json", ".npmrc", ...files, ...manifests])
    cpSync(path.join(root, file), path.join(checkout, file), { recursive: true });
  const made = run(checkout, "npm", "pack", "--silent", "--workspace", "packages/cli");
  assert.equal(made.status, 0, made.stderr);
  const archive = made.stdout.trim();
  const listed = run(checkout, "tar", "-tzf", archive).stdout.trim().split("\n");
  assert.deepEqual(
    listed.sort(),
    ["LICENSE", "README.md", "dist/assay.mjs", "package.json"].map((file) => `package/${file}`),
  );

  const elsewhere = path.join(folder, "elsewhere");
  mkdirSync(elsewhere);
  const installed = run(elsewhere, "npm", "install", "--offline", path.join(checkout, archive));
  assert.equal(installed.status, 0, installed.stderr);
  const shown = run(elsewhere, path.join(elsewhere, "node_modules/.bin/assay"), "--help");
  assert.equal(shown.status, 0, shown.stderr);
  assert.match(shown.stdout, /^Usage: assay COMMAND/);
});
