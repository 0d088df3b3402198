import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import test, { after } from "node:test";
import { rolldown } from "rolldown";

const source = path.resolve(import.meta.dirname, "..");
const folder = mkdtempSync(path.join(tmpdir(), "assay-webhook-runtimes-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const write = (name: string, text: string) => writeFileSync(path.join(folder, name), text);

/** An installed package, and a module that opens every vector with nothing that only Node has. */
const modules = path.join(folder, "node_modules");
mkdirSync(path.join(modules, "@assay/webhook"), { recursive: true });
for (const part of ["package.json", "lib"])
  cpSync(path.join(source, part), path.join(modules, "@assay/webhook", part), { recursive: true });
symlinkSync(path.resolve(source, "../../node_modules/jose"), path.join(modules, "jose"));
const vectors = readFileSync(path.join(source, "vectors.json"), "utf8");
write("package.json", '{ "type": "module" }');
write("vectors.js", `export const { cases, now, privateKeys } = ${vectors};`);
write(
  "open-all.js",
  `import { webhook, WebhookError } from "@assay/webhook";
import { cases, now, privateKeys } from "./vectors.js";

const keyOf = (key) => (typeof key === "string" ? privateKeys[key] : { kid: key.kid, key: privateKeys[key.key] });

for (const { name, secrets, keys, body, signature, event, error } of cases) {
  const open = webhook({ secrets, keys: keys.map(keyOf), now: () => new Date(now) });
  const opened = await open(signature === null ? {} : { "x-service-signature": signature }, body).then(
    JSON.stringify,
    (thrown) => (thrown instanceof WebhookError ? thrown.code : String(thrown)),
  );
  if (opened !== (error ?? JSON.stringify(event))) throw new Error(name + ": " + opened);
}
console.log("opened " + cases.length);
`,
);

/** A worker is one file, and its clock and cryptography are there in a request only. */
async function writeWorker(): Promise<void> {
  const all = readFileSync(path.join(folder, "open-all.js"), "utf8");
  const at = all.indexOf("for (const");
  write("worker-source.js", `${all.slice(0, at)}export default { async test() {\n${all.slice(at)}} };\n`);
  const bundle = await rolldown({ input: path.join(folder, "worker-source.js"), platform: "neutral" });
  await bundle.write({ file: path.join(folder, "worker.js"), format: "esm" });
  await bundle.close();
  write(
    "worker.capnp",
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (services = [(name = "main", worker = .worker)]);
const worker :Workerd.Worker = (modules = [(name = "worker.js", esModule = embed "worker.js")], compatibilityDate = "2026-01-01");
`,
  );
}

const runtimes: readonly (readonly [name: string, args: readonly string[]])[] = [
  ["node", ["open-all.js"]],
  ["bun", ["open-all.js"]],
  ["deno", ["run", "--node-modules-dir=manual", "open-all.js"]],
  ["workerd", ["test", "--verbose", "worker.capnp"]],
];

for (const [name, args] of runtimes)
  test(`the package opens every vector on ${name}`, async (context) => {
    if (spawnSync(name, ["--version"], { stdio: "ignore" }).status !== 0)
      return context.skip(`${name} is not installed`);
    if (name === "workerd") await writeWorker();
    const { status, stdout, stderr } = spawnSync(name, args, { cwd: folder, encoding: "utf8" });
    assert.equal(status, 0, stdout + stderr);
    assert.match(stdout + stderr, new RegExp(`opened ${JSON.parse(vectors).cases.length}\\b`));
  });
