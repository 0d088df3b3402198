import assert from "node:assert/strict";
import test from "node:test";
import { ApiError } from "../../platform/kernel/api-error.ts";
import { hashPassword, hashPasswordsCheaply, isPassword, refuseWeakPassword } from "./password.ts";

hashPasswordsCheaply();

test("a password is right by its text, however it is composed, and none is right for an account without one", async () => {
  const stored = await hashPassword("Ångström und mehr");
  assert.match(stored, /^\$argon2id\$/);
  assert.ok(await isPassword("Ångström und mehr", stored));
  assert.ok(await isPassword("A\u030angstro\u0308m und mehr", stored));
  assert.ok(!(await isPassword("Angstrom und mehr", stored)));
  assert.ok(!(await isPassword("not the password of anybody", null)), "not even that of the decoy");
  assert.ok(!(await isPassword("anything", null)));
});

test("a weak password is refused by the name of its field", () => {
  assert.doesNotThrow(() => refuseWeakPassword("new_password", "kT7#mw92Lq!x", []));
  assert.throws(
    () => refuseWeakPassword("new_password", "ada.lovelace", ["ada.lovelace@example.com"]),
    (error) =>
      error instanceof ApiError && /^`new_password` is too easy to guess: it consists of/.test(error.message),
  );
});
