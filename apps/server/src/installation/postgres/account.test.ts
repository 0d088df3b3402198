import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { chooseRunner } from "./account.ts";

test("setpriv is looked for in the PATH that is passed in, and nowhere else", {
  skip: process.platform === "linux" ? false : "setpriv is a program of Linux",
}, (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), "assay-account-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const choose = () => chooseRunner({ dataFolder: folder, passedFolders: ["/"], searchPath: folder });

  const without = choose();
  assert.deepEqual(without.prefix, []);
  assert.match(without.notes.at(-1) ?? "", /goes on when this process is killed/);

  writeFileSync(path.join(folder, "setpriv"), "#!/bin/sh\nexit 0\n", { mode: 0o755 });
  assert.equal(choose().prefix[0], "setpriv");
});
