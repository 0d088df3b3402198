import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { weakness } from "./weak-password.ts";

const about = ["Ada Lovelace", "ada.lovelace@example.com"];

test("a password that is guessed early is refused, and the reason is named", () => {
  for (const [password, reason] of [
    ["aaaaaaaaaaaa", /repeats/],
    ["ababababababa", /repeats/],
    ["abcdabcdabcd", /repeats/],
    ["112211221122", /repeats/],
    ["123456789012", /sequence/],
    ["abcdefghijkl", /sequence/],
    ["987654321098", /sequence/],
    ["password1234", /common/],
    ["P@ssw0rd1234!", /common/],
    ["PasswordPassword", /common/],
    ["qwertyuiop12", /common/],
    ["iloveyou2024", /common/],
    ["Welcome12345", /common/],
    ["lovelace2024", /your name/],
    ["Ada.Lovelace1", /your name/],
  ] as const)
    assert.match(weakness(password, about) ?? "", reason, password);
});

test("other passwords are taken", () => {
  for (const password of [
    "correct horse battery",
    "a completely new one",
    "a long password",
    "not the password",
    "wrong wrong wrong",
    "kT7#mw92Lq!x",
    "Ich mag Käsekuchen",
    "пароль из четырёх слов",
  ])
    assert.equal(weakness(password, about), null, password);
  const random = fc.stringMatching(/^[A-Za-z0-9]{16}$/);
  fc.assert(
    fc.property(random, (password) => {
      fc.pre(new Set(password.toLowerCase()).size > 8);
      assert.equal(weakness(password, []), null);
    }),
  );
});

test("every repetition of up to four characters is refused, whatever its length", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "grapheme-ascii", minLength: 1, maxLength: 4 }),
      fc.integer({ min: 12, max: 60 }),
      (unit, length) => {
        assert.notEqual(weakness(unit.repeat(60).slice(0, length), []), null);
      },
    ),
  );
});

test("what is left of a password besides common words decides: four letters of its own are enough", () => {
  for (const [password, isWeak] of [
    ["password-xyz-1", true],
    ["password-wxyz-1", false],
    ["football12345", true],
    ["f00tb4ll!!!!!", true],
    ["12football34dragon56", true],
    ["футбол football", false],
  ] as const)
    assert.equal(weakness(password, []) !== null, isWeak, password);
});

test("short parts of a name do not count, and parts of four letters do", () => {
  assert.equal(weakness("bob and more words", ["Bob"]), null);
  assert.equal(weakness("bob1234567890", ["Bob"]), null);
  assert.match(weakness("anna1234567890", ["Anna"]) ?? "", /your name/);
  assert.match(weakness("ＡＮＮＡ1234567890", ["anna@x.example"]) ?? "", /your name/);
  assert.match(weakness("anna1234567890", ["ＡＮＮＡ"]) ?? "", /your name/);
});

test("few different characters are refused, and a row that does not go on is no row", () => {
  assert.match(weakness("aabbccaabcbacc", []) ?? "", /repeats/);
  assert.equal(weakness("abdcacbdbadcxy", []), null);
  assert.match(weakness("lkjihgfedcba", []) ?? "", /sequence/);
  assert.match(weakness("890123456789", []) ?? "", /sequence/);
  assert.match(weakness("210987654321", []) ?? "", /sequence/);
  assert.equal(weakness("123456789013", []), null);
  assert.equal(weakness("abcdefghijkm", []), null);
});
