import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import path from "node:path";
import test from "node:test";

const cwd = path.resolve(import.meta.dirname, "../python");
const python = (...args: string[]) => spawnSync("python3", args, { cwd, encoding: "utf8" });

test("the Python package opens the same vectors", (context) => {
  if (python("-c", "import cryptography").status !== 0)
    return context.skip("python3 with `cryptography` is not installed");
  const tested = python("-m", "unittest", "discover", "-s", "tests");
  assert.equal(tested.status, 0, tested.stderr);
});
