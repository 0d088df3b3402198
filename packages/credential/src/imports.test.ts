import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const root = import.meta.dirname;
const sources = readdirSync(root, { recursive: true, encoding: "utf8" }).filter(
  (name) => name.endsWith(".ts") && !name.endsWith(".test.ts"),
);

test("the package runs in a browser: it imports neither Node nor anything of ours, and touches no page", () => {
  assert.ok(sources.length > 20);
  const allowed = new Set(["@hpke/core", "jose", "@peculiar/x509", "reflect-metadata"]);
  for (const name of sources) {
    const text = readFileSync(join(root, name), "utf8");
    const imported = [...text.matchAll(/(?:from|import) "([^"]+)"/g)].map(([, path]) => path ?? "");
    const foreign = imported.filter((path) => !path.startsWith(".") && !allowed.has(path));
    assert.deepEqual(foreign, [], name);
    assert.doesNotMatch(text, /\b(?:Buffer|process|globalThis|localStorage)\.\w|\bfetch\(/, name);
  }
});

test("no source reads a clock or chooses its own time", () => {
  for (const name of sources) {
    assert.doesNotMatch(readFileSync(join(root, name), "utf8"), /Date\.now\(\)|new Date\(\)/, name);
  }
});
