import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import test, { after } from "node:test";

const source = path.resolve(import.meta.dirname, "../python");
const folder = mkdtempSync(path.join(tmpdir(), "assay-webhook-python-"));
after(() => rmSync(folder, { recursive: true, force: true }));

function run(program: string, args: readonly string[], cwd: string) {
  return spawnSync(program, args, { cwd, encoding: "utf8" });
}
const python = (code: string) => run("python3", ["-c", code], folder).status === 0;
/** setuptools builds wheels natively since 70.1. */
const buildsWheels = () =>
  python("import wheel") ||
  python("import setuptools; assert tuple(map(int, setuptools.__version__.split('.')[:2])) >= (70, 1)");

test("the Python package opens the same vectors", (context) => {
  if (!python("import cryptography")) return context.skip("python3 with `cryptography` is not installed");
  const tested = run("python3", ["-m", "unittest", "discover", "-s", "tests"], source);
  assert.equal(tested.status, 0, tested.stderr);
});

test("its wheel, installed into a new environment, opens the vectors and brings its types", (context) => {
  if (!python("import cryptography, pip, venv") || !buildsWheels())
    return context.skip("python3 with `cryptography`, `pip` and `setuptools` 70.1 is not installed");
  const copy = path.join(folder, "copy");
  cpSync(source, copy, { recursive: true });
  const build = ["-m", "pip", "wheel", "--no-deps", "--no-index", "--no-build-isolation", "-w", folder, copy];
  const built = run("python3", build, folder);
  assert.equal(built.status, 0, built.stderr);
  const wheel = readdirSync(folder).find((file) => file.endsWith(".whl")) ?? "";
  assert.match(wheel, /^assay_webhook-[\d.]+-py3-none-any\.whl$/);

  // Dependencies come from this machine, so that nothing is fetched.
  run("python3", ["-m", "venv", "--system-site-packages", "environment"], folder);
  const own = path.join(folder, "environment/bin/python");
  const installed = run(
    own,
    ["-m", "pip", "install", "--no-index", "--no-deps", path.join(folder, wheel)],
    folder,
  );
  assert.equal(installed.status, 0, installed.stderr);
  // The tests alone, beside the vectors and away from the source.
  mkdirSync(path.join(folder, "alone"));
  cpSync(path.join(source, "tests"), path.join(folder, "alone/tests"), { recursive: true });
  cpSync(path.join(source, "../vectors.json"), path.join(folder, "vectors.json"));
  const tested = run(own, ["-m", "unittest", "discover", "-s", "tests"], path.join(folder, "alone"));
  assert.equal(tested.status, 0, tested.stderr);
  const typed =
    "import assay_webhook, pathlib; print((pathlib.Path(assay_webhook.__file__).parent / 'py.typed').exists(), assay_webhook.__file__)";
  assert.match(run(own, ["-c", typed], folder).stdout, /^True .*\/environment\//);
});

test("its types hold for a strict checker", (context) => {
  if (!python("import mypy")) return context.skip("python3 with `mypy` is not installed");
  const cache = path.join(folder, "cache");
  const checked = run("python3", ["-m", "mypy", "--strict", "--cache-dir", cache, "assay_webhook"], source);
  assert.equal(checked.status, 0, checked.stdout + checked.stderr);
});
