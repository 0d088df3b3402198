import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import path from "node:path";
import test from "node:test";

const root = path.resolve(import.meta.dirname, "../../../../..");
const promtool = spawnSync("promtool", ["--version"]).status === 0;

test("promtool takes the rules, and they alarm when they should", {
  skip: promtool ? false : "promtool is not installed (Debian: apt-get install prometheus)",
}, () => {
  for (const args of [
    ["check", "rules", "deploy/prometheus/rules.yaml"],
    ["test", "rules", "deploy/prometheus/rules.test.yaml"],
  ]) {
    const { status, stdout, stderr } = spawnSync("promtool", args, { cwd: root, encoding: "utf8" });
    assert.equal(status, 0, `${stdout}${stderr}`);
  }
});
