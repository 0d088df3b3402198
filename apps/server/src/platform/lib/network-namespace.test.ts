import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { findWay, withoutNetwork } from "./network-namespace.ts";

test("a program in a network namespace of its own has no interface that is up", {
  skip: withoutNetwork() === null && "this system lets no process give up the network",
}, () => {
  const [program = "", ...flags] = withoutNetwork() ?? [];
  const { stdout } = spawnSync(program, [...flags, "/bin/cat", "/proc/net/route", "/proc/net/if_inet6"], {
    encoding: "utf8",
  });
  assert.deepEqual(stdout.trim().split("\n").slice(1), []);
});

test("where there is no unshare, or it may not, programs are started as they are", () => {
  assert.equal(findWay("/usr/bin/no-such-program"), null);
  assert.equal(findWay("/bin/false"), null);
});
