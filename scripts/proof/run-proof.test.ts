import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import test, { type TestContext } from "node:test";
import { type Part, partsOf } from "./parts.ts";
import type { Proof } from "./report.ts";
import { judge } from "./run-part.ts";
import { runProof } from "./run-proof.ts";

const root = path.resolve(import.meta.dirname, "../..");
const part = (command: Part["command"], minimum: Part["minimum"]): Part => ({
  name: "part",
  promise: "Something holds <always>.",
  command,
  minimum,
});
/** Ends well, and has done nothing. */
const nothing = ["build", "none"] as const;
const some = ["fuzz", "chip", "--only", "ber", "--inputs", "200"] as const;

async function prove(context: TestContext, parts: readonly Part[], ...args: string[]) {
  const out = mkdtempSync(path.join(tmpdir(), "assay-proof-"));
  context.after(() => rmSync(out, { recursive: true, force: true }));
  const said: string[] = [];
  context.mock.method(console, "log", (line: string) => said.push(line));
  const holds = await runProof(["--out", out, ...args], () => parts);
  const proof = JSON.parse(readFileSync(path.join(out, "proof.json"), "utf8")) as Proof;
  assert.equal(proof.holds, holds);
  return { out, proof, said: said.join("\n") };
}

test("a part that did something holds, and a stranger verifies the report with ssh-keygen", async (context) => {
  if (spawnSync("ssh-keygen", ["--version"]).error !== undefined)
    return context.skip("ssh-keygen is not installed");
  const { out, proof, said } = await prove(context, [part(some, { "hostile inputs": 200 })]);
  assert.equal(proof.holds, true, JSON.stringify(proof.parts));
  assert.match(readFileSync(path.join(out, "proof.html"), "utf8"), /Something holds &lt;always&gt;/);
  writeFileSync(path.join(out, "allowed_signers"), `${/^Signed by: (.*)$/m.exec(said)?.[1]}\n`);
  const args = ["-Y", "verify", "-f", "allowed_signers", "-I", "release@assay", "-n", "assay-proof"];
  const verify = (input: string) =>
    spawnSync("ssh-keygen", [...args, "-s", "proof.json.sig"], { cwd: out, input }).status;
  const signed = readFileSync(path.join(out, "proof.json"), "utf8");
  assert.equal(verify(signed), 0);
  assert.notEqual(verify(signed.replace('"count": 200', '"count": 999')), 0);
});

test("a part that ends well and reports nothing makes the proof fail", async (context) => {
  const { proof, out } = await prove(context, [part(nothing, { "hostile URLs refused": 1 })]);
  assert.equal(proof.holds, false);
  assert.deepEqual(proof.parts[0]?.problems, ["hostile URLs refused: 0, at least 1 are needed."]);
  assert.match(readFileSync(path.join(out, "proof.html"), "utf8"), /part: does not hold/);
});

test("a part that fails, one that does not end in time, and no part at all make the proof fail", async (context) => {
  const failing = await prove(context, [part(["fuzz", "chip", "--inputs", "0"], { "hostile inputs": 1 })]);
  assert.equal(failing.proof.parts[0]?.problems[0], "It ended with 1.");
  const late = await prove(context, [part(some, { "hostile inputs": 1 })], "--minutes", "0.0001");
  assert.match(late.proof.parts[0]?.problems[0] ?? "", /the time for all parts was over/);
  assert.equal((await prove(context, [])).proof.holds, false);
});

test("one less than the minimum is too little, and a part without a minimum proves nothing", () => {
  const ended = (count: number) => ({ code: 0, isLate: false, counted: new Map([["tests passed", count]]) });
  const asked = part(nothing, { "tests passed": 7 });
  assert.deepEqual(judge(asked, ended(7)).problems, []);
  assert.equal(judge(asked, ended(6)).problems.length, 1);
  assert.deepEqual(judge(part(nothing, {}), ended(7)).problems, ["Nothing is counted."]);
});

test("every part names files that exist, and asks for more than nothing", () => {
  const files = globSync("{apps,packages}/**/*.test.ts", {
    cwd: root,
    exclude: (name) => name.endsWith("node_modules"),
  });
  const names = partsOf(1, "HEAD").map(({ name }) => name);
  assert.equal(new Set(names).size, names.length);
  for (const { name, command, minimum } of partsOf(1, "HEAD")) {
    assert.ok(Object.values(minimum).length > 0 && Object.values(minimum).every((least) => least > 0), name);
    const [script, ...args] = command;
    if (script === "test")
      for (const wanted of args.filter((argument) => !argument.startsWith("--")))
        assert.equal(files.filter((file) => file.includes(wanted)).length, 1, `${name}: ${wanted}`);
    if (script === "prove") assert.ok(existsSync(path.join(root, "scripts/prove", `${args[0]}.ts`)));
  }
});
