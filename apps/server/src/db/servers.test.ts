import assert from "node:assert/strict";
import test from "node:test";
import { AddressError, parseServers } from "./servers.ts";

test("an address with several hosts becomes one address for each, in order, and only a server that takes writes will do", () => {
  assert.deepEqual(parseServers("postgres://u:p%40s@a:5432,b,[::1]:5433/db?sslmode=verify-full", "primary"), {
    urls: [
      "postgres://u:p%40s@a:5432/db?sslmode=verify-full",
      "postgres://u:p%40s@b/db?sslmode=verify-full",
      "postgres://u:p%40s@[::1]:5433/db?sslmode=verify-full",
    ],
    wanted: "primary",
  });
  assert.deepEqual(parseServers("postgresql:///db?host=/a,/b&port=5432,5433&user=u", "standby"), {
    urls: ["postgresql:///db?host=%2Fa&port=5432&user=u", "postgresql:///db?host=%2Fb&port=5433&user=u"],
    wanted: "standby",
  });
});

test("what the address wants is asked of a single server as well, and without it a single address stays as it is", () => {
  const single = "postgres://u@a:5432/db?options=-c%20x%3D1";
  assert.deepEqual(parseServers(single, "primary"), { urls: [single], wanted: "any" });
  const socket = "postgresql:///db?host=/var/run/postgresql&user=u";
  assert.deepEqual(parseServers(socket, "standby"), { urls: [socket], wanted: "any" });
  for (const [attribute, wanted] of [
    ["read-write", "primary"],
    ["primary", "primary"],
    ["any", "any"],
  ] as const)
    assert.deepEqual(parseServers(`postgres://a/db?target_session_attrs=${attribute}`, "primary"), {
      urls: ["postgres://a/db"],
      wanted,
    });
  assert.equal(
    parseServers("postgres://a,b/db?target_session_attrs=prefer-standby", "standby").wanted,
    "standby",
  );
});

test("an address that cannot be used is refused in words that do not repeat it", () => {
  for (const url of [
    "mysql://secret@host/db",
    "postgres://secret@a:port,b/db",
    "postgres://secret@a:5432,b:99999/db",
    "postgres://secret@a,b/db?target_session_attrs=standby",
    "postgres:///db?host=/a,/b,/c&port=1,2&user=secret",
  ])
    assert.throws(
      () => parseServers(url, "primary"),
      (error) => error instanceof AddressError && !error.message.includes("secret"),
      url,
    );
});
