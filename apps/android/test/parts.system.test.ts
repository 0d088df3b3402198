import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import test from "node:test";

const folder = path.resolve(import.meta.dirname, "..");
const hasJava = spawnSync("javac", ["-version"]).status === 0;

test("links, origins, the document of a service, messages and limits of the Android shell, hostile ones among them", {
  skip: hasJava ? false : "no Java compiler here: install openjdk-17-jdk-headless",
}, () => {
  const classes = mkdtempSync(path.join(tmpdir(), "assay-shell-"));
  try {
    const sources = ["OwnOrigin", "ReaderLink", "ReaderDocument", "ShellMessage"].map((name) =>
      path.join(folder, `java/assay/shell/${name}.java`),
    );
    const test = path.join(folder, "test/PartsTest.java");
    const links = path.join(folder, "test/links.tsv");
    run("javac", ["-encoding", "UTF-8", "-d", classes, ...sources, test]);
    assert.ok(Number(run("java", ["-cp", classes, "assay.shell.PartsTest", links])) > 250);
  } finally {
    rmSync(classes, { recursive: true });
  }
});

function run(command: string, args: string[]): string {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: "utf8" });
  assert.equal(status, 0, stdout + stderr);
  return stdout;
}
