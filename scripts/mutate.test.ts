import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { runMutants } from "./mutate/run-mutants.ts";

/** As StrykerJS writes it: each mutant with its switch, which records that it was reached. */
const source = `
const isOn = (id: string): boolean => {
  const { mutantCoverage, currentTestId, activeMutant } = (globalThis as any).__stryker__;
  const hits = currentTestId === undefined ? mutantCoverage.static : (mutantCoverage.perTest[currentTestId] ??= {});
  hits[id] = (hits[id] ?? 0) + 1;
  return activeMutant === id;
};
export const limit = isOn("constant") ? 4 : 3;
export function isWithin(count: number): boolean {
  if (isOn("same")) return count < limit || count === limit;
  return isOn("boundary") ? count < limit : count <= limit;
}
export function label(): string {
  if (isOn("litters")) (globalThis as any).litter = true;
  if (isOn("ends the process")) process.exit(3);
  return isOn("label") ? "" : "some";
}
export const forgotten = () => isOn("unreached");
`;
const tests = `
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { isWithin, label } from "./source.ts";
let count = 0;
after(() => {});
test("the limit is within", () => {
  count += 1;
  assert.ok(!("litter" in globalThis));
  assert.ok(isWithin(3) && !isWithin(4));
});
test("a label is not empty", () => {
  assert.equal(count, 1, "the test before has run");
  assert.notEqual(label(), "");
});
test("fails also without a mutant", () => assert.fail());
`;

test("a mutant counts as noticed when a test fails because of it, and for no other reason", async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), "assay-test-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const at = (name: string) => path.join(folder, name);
  const module = pathToFileURL(at("source.ts")).href;
  writeFileSync(at("source.ts"), "throw new Error('the source without mutants is loaded');");
  writeFileSync(at("source.test.ts"), tests);
  writeFileSync(at("package.json"), JSON.stringify({ type: "module" }));
  writeFileSync(at("mutants.json"), JSON.stringify({ [module]: source }));
  const ids = ["litters", "boundary", "same", "label", "ends the process", "constant", "unreached"];
  const { results, statics, plan } = await runMutants(
    ids.map((id) => ({ id, module })),
    [at("source.test.ts")],
    {
      lanes: 1,
      env: { ...process.env, ASSAY_MUTATE_SOURCES: at("mutants.json") },
      print: () => {},
      save: () => {},
    },
  );
  assert.deepEqual(Object.fromEntries(results.map(({ id, status }) => [id, status])), {
    boundary: "killed",
    // It runs while its module is loaded, so it needs a new process.
    constant: "killed",
    label: "killed",
    // Its leftovers make the other test fail, with every later mutant.
    litters: "survived",
    same: "survived",
    "ends the process": "timeout",
    unreached: "uncovered",
  });
  assert.equal(statics, 1);
  assert.deepEqual(
    results
      .map(({ by }) => by?.test)
      .filter((name) => name !== undefined)
      .sort(),
    ["a label is not empty", "the limit is within", "the limit is within"],
  );
  assert.equal(plan.files[0]?.mode, "whole", "its second test builds on the first");
  assert.equal(plan.failing.length, 1);
});
