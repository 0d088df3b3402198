import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import test, { after } from "node:test";

const root = path.resolve(import.meta.dirname, "../../..");
const folder = mkdtempSync(path.join(tmpdir(), "assay-webhook-package-"));
after(() => rmSync(folder, { recursive: true, force: true }));

function run(file: string, args: readonly string[], cwd = folder) {
  return spawnSync(file, args, { cwd, encoding: "utf8" });
}

/** The package as npm makes it from a fresh checkout, in an empty project. */
function install(): void {
  const checkout = path.join(folder, "checkout");
  cpSync(path.join(root, "packages/webhook"), checkout, { recursive: true });
  const made = run("npm", ["pack", "--silent", "--pack-destination", folder], checkout);
  assert.equal(made.status, 0, made.stderr);
  const modules = path.join(folder, "project/node_modules");
  mkdirSync(path.join(modules, "@assay/webhook"), { recursive: true });
  const unpacked = run("tar", [
    "-xzf",
    made.stdout.trim(),
    "--strip-components=1",
    "-C",
    path.join(modules, "@assay/webhook"),
  ]);
  assert.equal(unpacked.status, 0, unpacked.stderr);
  symlinkSync(path.join(root, "node_modules/jose"), path.join(modules, "jose"));
}

test("the packed package opens a delivery in an empty project, by the Node of this machine, and its types compile", () => {
  install();
  const project = path.join(folder, "project");
  writeFileSync(path.join(project, "package.json"), '{ "type": "module" }');
  const vectors = path.join(root, "packages/webhook/vectors.json");
  const source = `import { readFileSync } from "node:fs";
import { webhook, WebhookError } from "@assay/webhook";
const { now, privateKeys, cases } = JSON.parse(readFileSync(${JSON.stringify(vectors)}, "utf8"));
const open = webhook({ secrets: cases[0].secrets, keys: [privateKeys.a], now: () => new Date(now) });
const event = await open({ "x-service-signature": cases[0].signature }, cases[0].body);
if (event.type === "verification.session.failed") console.log(event.data.failure_code);
await open({}, "").catch((error) => console.log(error instanceof WebhookError && error.code));
`;
  for (const name of ["open.mjs", "open.mts"]) writeFileSync(path.join(project, name), source);
  const nodes = new Set([process.execPath, ...(run("node", ["--version"]).status === 0 ? ["node"] : [])]);
  for (const node of nodes) {
    const opened = run(node, ["open.mjs"], project);
    assert.equal(opened.stdout, "document_expired\nsignature_missing\n", opened.stderr);
  }
  const compiler = path.join(root, "node_modules/typescript/bin/tsc");
  const types = ["--types", "node", "--typeRoots", path.join(root, "node_modules/@types")];
  const options = [
    "--ignoreConfig",
    "--noEmit",
    "--strict",
    "--module",
    "nodenext",
    "--target",
    "es2022",
    "--exactOptionalPropertyTypes",
  ];
  const compiled = run(process.execPath, [compiler, "open.mts", ...options, ...types], project);
  assert.equal(compiled.status, 0, compiled.stdout);
});

test("the package depends on one other", () => {
  const { dependencies } = JSON.parse(readFileSync(path.join(root, "packages/webhook/package.json"), "utf8"));
  assert.deepEqual(Object.keys(dependencies), ["jose"]);
});
