import assert from "node:assert/strict";
import { chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
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
  assert.match(without.notes.at(-1) ?? "", /keeps running if this process is killed/);

  writeFileSync(path.join(folder, "setpriv"), "#!/bin/sh\nexit 0\n", { mode: 0o755 });
  assert.equal(choose().prefix[0], "setpriv");
});

test("as root new data goes to the user `assay`, and to `nobody` only with a warning; old data keeps its owner", {
  skip: process.geteuid?.() === 0 ? false : "only root can hand files over",
}, (t) => {
  const base = mkdtempSync(path.join(tmpdir(), "assay-account-"));
  t.after(() => rmSync(base, { recursive: true, force: true }));
  const dataFolder = path.join(base, "data");
  const choose = (...users: string[]) => {
    const usersFile = path.join(base, "passwd");
    writeFileSync(usersFile, ["root:x:0:0::/:", "nobody:x:65534:65534::/:", ...users, ""].join("\n"));
    return chooseRunner({ dataFolder, passedFolders: ["/"], searchPath: "/usr/bin:/bin", usersFile });
  };
  const own = choose("assayer:x:1:1::/:", "assay:x:987:986::/:");
  assert.deepEqual([own.account, own.warning], [{ uid: 987, gid: 986 }, null]);
  const shared = choose();
  assert.deepEqual(shared.account, { uid: 65534, gid: 65534 });
  assert.match(shared.warning ?? "", /belong to `nobody`.*useradd --system assay.*chown -R assay:/);
  assert.deepEqual(choose("assay:x:0:0::/:").account, { uid: 65534, gid: 65534 }, "never root");

  mkdirSync(dataFolder);
  chownSync(dataFolder, 1234, 1235);
  const kept = choose("assay:x:987:986::/:");
  assert.deepEqual([kept.account, kept.warning], [{ uid: 1234, gid: 1235 }, null]);
  chownSync(dataFolder, 65534, 65534);
  const old = choose("assay:x:987:986::/:");
  assert.deepEqual(old.account, { uid: 65534, gid: 65534 });
  assert.match(old.warning ?? "", /chown -R assay:/);
});
