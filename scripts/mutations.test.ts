import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import path from "node:path";
import test from "node:test";
import { decisiveModules, findProblem, mutations, readSource } from "./mutations.ts";

const root = path.resolve(import.meta.dirname, "..");

test("every mutation changes a text that occurs exactly once in its file, and names tests that exist", () => {
  const problems = mutations.flatMap((mutation) => {
    if (!existsSync(path.join(root, mutation.file))) return [`${mutation.id}: ${mutation.file} is gone`];
    const problem = findProblem(mutation, readSource(mutation.file));
    const missing = mutation.tests.filter((file) => !existsSync(path.join(root, file)));
    return [
      ...(problem === null ? [] : [`${mutation.id}: ${problem}`]),
      ...(mutation.tests.length === 0 ? [`${mutation.id}: names no test`] : []),
      ...missing.map((file) => `${mutation.id}: ${file} is gone`),
    ];
  });
  assert.deepEqual(problems, []);
});

test("every mutation has an id of its own, and every module that decides has at least ten", () => {
  assert.equal(new Set(mutations.map(({ id }) => id)).size, mutations.length);
  for (const module of decisiveModules) {
    const count = mutations.filter((mutation) => mutation.module === module).length;
    assert.ok(count >= 10, `${module} has ${count}`);
  }
});

test("a text that is gone, or that occurs twice, is noticed", () => {
  const mutation = {
    id: "x",
    module: "sessions",
    file: "a.ts",
    find: "one",
    replace: "two",
    tests: [],
  } as const;
  assert.equal(findProblem(mutation, "just one of them"), null);
  assert.match(findProblem(mutation, "nothing") ?? "", /0 times/);
  assert.match(findProblem(mutation, "one and one") ?? "", /2 times/);
  assert.match(findProblem({ ...mutation, replace: "one" }, "one") ?? "", /changes nothing/);
});
