import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import test from "node:test";
import { hostileTexts, isSuperLinear, parsePattern, runPattern } from "../support/backtracking.ts";

const contractFolder = new URL("../../../../packages/contract/src/", import.meta.url);

/** Every pattern in anything that a file of the contract exports: routes, events, messages of the socket. */
async function contractPatterns(): Promise<string[]> {
  const patterns = new Set<string>();
  const seen = new Set<unknown>();
  const walk = (value: unknown): void => {
    if (typeof value !== "object" || value === null || seen.has(value)) return;
    seen.add(value);
    for (const [name, inner] of Object.entries(value)) {
      if (name === "pattern" && typeof inner === "string") patterns.add(inner);
      if (name === "patternProperties") for (const pattern of Object.keys(inner)) patterns.add(pattern);
      walk(inner);
    }
  };
  for (const file of readdirSync(contractFolder))
    if (file.endsWith(".ts") && !file.endsWith(".test.ts"))
      walk({ ...(await import(new URL(file, contractFolder).href)) });
  return [...patterns].sort();
}

test("no text makes a pattern of the contract cost more than in proportion to its length", async () => {
  const patterns = await contractPatterns();
  assert.ok(patterns.length >= 20, `only ${patterns.length} patterns were found`);
  assert.deepEqual(
    patterns.filter((pattern) => isSuperLinear(parsePattern(pattern))),
    [],
  );
});

test("steps are counted for what the engine really does: both find the same matches", async () => {
  for (const source of await contractPatterns()) {
    const pattern = parsePattern(source);
    const real = new RegExp(source, "u");
    for (const textOf of hostileTexts(pattern)) {
      for (const length of [0, 1, 4, 22, 43]) {
        const text = textOf(length);
        assert.equal(runPattern(pattern, text).matches, real.test(text), `${source} ${JSON.stringify(text)}`);
      }
    }
  }
});

test("a pattern that can share a text out in many ways is recognised", () => {
  const control = "\\u0000-\\u001f\\u007f";
  for (const pattern of [
    `^[^${control}]*[^\\u0000-\\u0020\\u007f][^${control}]*$`,
    "^https://[a-z]*[a-z.]+$",
    "^(a|aa)*$",
    "^(a+)+$",
    "^x{0,999}x{0,999}$",
    "a*b",
  ])
    assert.equal(isSuperLinear(parsePattern(pattern)), true, pattern);
  for (const pattern of ["^a*b*c*$", "^(?:ab|c)*$", "^[a-z]{1,64}@[a-z]+(\\.[a-z]+)+$"])
    assert.equal(isSuperLinear(parsePattern(pattern)), false, pattern);
});
