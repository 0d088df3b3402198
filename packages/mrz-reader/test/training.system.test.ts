import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import test from "node:test";

const folder = new URL("../training/", import.meta.url).pathname;
/** A Python with PyTorch, and the glyphs that `make_atlas.py` draws. Most machines have neither. */
const python = process.env.ASSAY_TRAINING_PYTHON ?? "";
const missing =
  python === ""
    ? "ASSAY_TRAINING_PYTHON names no Python with PyTorch"
    : existsSync(`${folder}build/atlas.npz`)
      ? null
      : "packages/mrz-reader/training/build/atlas.npz was not made (training/README.md)";

test(
  "all trainings run from pictures to weights on a processor",
  missing === null ? {} : { skip: missing },
  () => {
    const run = (...command: string[]) => {
      const { status, stderr } = spawnSync(python, command, { cwd: folder, encoding: "utf8" });
      assert.equal(status, 0, stderr);
    };
    run("train.py", "find", "--smoke", "--out", "build/smoke-find.pt");
    // Each member begins with what the page loads, and goes on with the mean of both.
    for (const member of ["0", "1"]) {
      const out = `build/smoke-read-${member}.pt`;
      const team = ["--member", member, "--members", "2"];
      run("train.py", "read", "--smoke", "--shipped", "--no-check", ...team, "--out", out);
    }
    const team = ["build/smoke-read-0.pt", "build/smoke-read-1.pt"];
    run("train.py", "join", "--team", ...team, "--out", "build/smoke-read.pt");
    const files = ["--find", "build/smoke-find.pt", "--read", "build/smoke-read.pt"];
    run("export.py", ...files, "--out", "build/smoke");
    const few = ["--documents", "2", "--batch", "2", "--frames", "1", "--workers", "1"];
    run("evaluate.py", "video", "--versus", ...files, ...few, "--levels", "easy");
  },
);

test(
  "a network that is trained on begins with what the shipped one computes",
  missing === null ? {} : { skip: missing },
  () => {
    const { status, stdout, stderr } = spawnSync(python, ["export.py", "--check"], {
      cwd: folder,
      encoding: "utf8",
    });
    assert.equal(status, 0, stderr);
    for (const away of Object.values(JSON.parse(stdout) as Record<string, number>)) assert.ok(away < 1e-3);
  },
);
