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
    for (const job of ["coarse", "zone", "read"]) {
      const { status, stderr } = spawnSync(
        python,
        ["train.py", job, "--smoke", "--refine", "build/smoke-zone.pt", "--out", `build/smoke-${job}.pt`],
        {
          cwd: folder,
          encoding: "utf8",
        },
      );
      assert.equal(status, 0, stderr);
    }
    const { status, stderr } = spawnSync(
      python,
      [
        "export.py",
        "--coarse",
        "build/smoke-coarse.pt",
        "--zone",
        "build/smoke-zone.pt",
        "--read",
        "build/smoke-read.pt",
        "--out",
        "build/smoke",
      ],
      { cwd: folder, encoding: "utf8" },
    );
    assert.equal(status, 0, stderr);
  },
);
