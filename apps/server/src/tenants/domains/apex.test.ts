import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { findApex } from "./apex.ts";

test("the registrable domain is found by the whole public suffix list", () => {
  for (const [name, apex] of [
    ["example.com", "example.com"],
    ["WWW.Example.COM.", "example.com"],
    ["shop.example.co.uk", "example.co.uk"],
    ["someone.github.io", "someone.github.io"],
    ["deep.someone.github.io", "someone.github.io"],
    ["www.ck", "www.ck"],
    ["foo.city.kawasaki.jp", "city.kawasaki.jp"],
    ["example.test", "example.test"],
    ["食狮.公司.cn", "xn--85x722f.xn--55qx5d.cn"],
  ] as const)
    assert.equal(findApex(name)?.ascii, apex, name);
});

test("internationalized names are taken and shown in both forms", () => {
  const both = { ascii: "xn--mller-kva.example", unicode: "müller.example" };
  assert.deepEqual(findApex("MÜLLER.example"), both);
  assert.deepEqual(findApex("www.xn--mller-kva.example"), both);
});

test("what cannot be registered has no apex", () => {
  for (const name of [
    "co.uk",
    "com",
    "github.io",
    "公司.cn",
    "a.ck",
    "localhost",
    "127.0.0.1",
    "0x7f.1",
    "1.2.3",
    "[::1]",
    "::1",
    "https://example.com",
    "example.com/path",
    "example.com:443",
    "user@example.com",
    "*.example.com",
    "exa mple.com",
    "exa\tmple.com",
    "example..com",
    ".example.com",
    "-example.com",
    "example-.com",
    "%65xample.com",
    "ex_ample.com",
    "...",
    "",
  ])
    assert.equal(findApex(name), null, name);
});

test("a name has at most 253 characters, and a label at most 63", () => {
  const label = (length: number) => "a".repeat(length);
  const longest = [label(63), label(63), label(63), label(57), "com"].join(".");
  assert.equal(findApex(longest)?.ascii, `${label(57)}.com`);
  assert.equal(findApex(`${longest}.`)?.ascii, `${label(57)}.com`, "the dot of the root does not count");
  assert.equal(findApex(`b${longest}`), null, "a label of 64");
  assert.equal(findApex([label(63), label(63), label(63), label(58), "com"].join(".")), null);
  assert.equal(findApex("example.com.."), null);
  assert.equal(findApex(" example.com\n")?.ascii, "example.com");
  for (const name of ["a?b.com", "a#b.com", "a\\b.com", "a\u0007b.com", "example.123", "example.1a2"])
    assert.equal(findApex(name)?.ascii ?? null, name === "example.1a2" ? "example.1a2" : null, name);
});

test("any text has an apex that is its own apex, or none", () => {
  fc.assert(
    fc.property(fc.oneof(fc.domain(), fc.string({ unit: "grapheme" })), (text) => {
      const apex = findApex(text);
      if (apex === null) return;
      assert.match(apex.ascii, /^[a-z0-9.-]+$/);
      assert.equal(findApex(apex.ascii)?.ascii, apex.ascii);
      assert.equal(findApex(apex.unicode)?.ascii, apex.ascii);
    }),
  );
});
