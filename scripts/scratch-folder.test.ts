import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, test } from "node:test";
import { isInMemory } from "./scratch-folder.ts";

test("memory is used where it can be written to and programs can be started from it", () => {
  const mounted = (options: string, kind = "tmpfs") =>
    `/dev/vda / ext4 rw 0 0\nshm /dev/shm ${kind} ${options} 0 0\n`;
  assert.equal(isInMemory(mounted("rw,nosuid,nodev"), "/dev/shm"), true);
  assert.equal(isInMemory(mounted("rw,nosuid,nodev,noexec"), "/dev/shm"), false);
  assert.equal(isInMemory(mounted("ro"), "/dev/shm"), false);
  assert.equal(isInMemory(mounted("rw", "ext4"), "/dev/shm"), false);
  assert.equal(isInMemory(mounted("rw"), "/dev"), false);
  // The last mount is on top.
  assert.equal(isInMemory(`${mounted("rw")}${mounted("rw,noexec")}`, "/dev/shm"), false);
});

test("the folder of a run is in TMPDIR where that is set, and goes with the run", () => {
  const given = mkdtempSync(path.join(tmpdir(), "assay-scratch-"));
  after(() => rmSync(given, { recursive: true, force: true }));
  const program = path.join(given, "open.ts");
  const module = JSON.stringify(path.join(import.meta.dirname, "scratch-folder.ts"));
  writeFileSync(
    program,
    `import { existsSync } from "node:fs";
    import { openScratchFolder } from ${module};
    const { folder, close } = openScratchFolder();
    console.log(folder, existsSync(folder));
    close();`,
  );
  const { stdout, stderr } = spawnSync(process.execPath, [program], {
    encoding: "utf8",
    env: { ...process.env, TMPDIR: given },
  });
  const [folder = "", existed] = stdout.trim().split(" ");
  assert.equal(path.dirname(folder), given, stderr);
  assert.equal(existed, "true");
  assert.equal(existsSync(folder), false);
});
