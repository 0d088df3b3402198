import assert from "node:assert/strict";
import test from "node:test";
import type { UserId } from "@assay/contract/ids";
import fc from "fast-check";
import { Secret, TOTP } from "otpauth";
import { newUuid } from "../../platform/kernel/ids.ts";
import {
  backupCodeHash,
  describeTotp,
  matchingStep,
  newBackupCode,
  newTotpSecret,
  readCode,
} from "./second-factor.ts";

// The secret of the test vectors in RFC 6238; its 8-digit codes end in these six.
const rfcSecret = Buffer.from("12345678901234567890");

test("codes are those of RFC 6238", () => {
  const vectors: [number, string][] = [
    [59, "287082"],
    [1111111109, "081804"],
    [1234567890, "005924"],
    [20000000000, "353130"],
  ];
  for (const [seconds, code] of vectors)
    assert.equal(matchingStep(rfcSecret, code, new Date(seconds * 1000)), Math.floor(seconds / 30));
});

test("a code is accepted one step early and late, not two", () => {
  const step = 37037037;
  const code = TOTP.generate({ secret: Secret.fromLatin1("12345678901234567890"), timestamp: step * 30_000 });
  const at = (steps: number) => matchingStep(rfcSecret, code, new Date((step + steps) * 30_000));
  assert.deepEqual([-2, -1, 0, 1, 2].map(at), [null, step, step, step, null]);
});

test("what is typed is read whatever its spaces, hyphens, case and look-alikes", () => {
  assert.deepEqual(readCode(" 492 039"), { kind: "totp", code: "492039" });
  assert.deepEqual(readCode("ABCD-EFGH-JKMN-0123"), { kind: "backup", code: "abcdefghjkmn0123" });
  assert.deepEqual(readCode("o1il-l000-0000-0000"), { kind: "backup", code: "0111100000000000" });
  fc.assert(
    fc.property(fc.string(), (text) => {
      const { code } = readCode(text);
      assert.equal(readCode(code).code, code);
    }),
  );
});

test("backup codes do not repeat and hash differently for every account", () => {
  const codes = new Set(Array.from({ length: 200 }, newBackupCode));
  assert.equal(codes.size, 200);
  for (const code of codes) assert.match(code, /^([0-9a-hjkmnp-tv-z]{4}-){3}[0-9a-hjkmnp-tv-z]{4}$/);
  const [code = ""] = codes;
  const [a, b] = [newUuid<UserId>(new Date()), newUuid<UserId>(new Date())];
  assert.deepEqual(backupCodeHash(a, code), backupCodeHash(a, code.toUpperCase().replaceAll("-", " ")));
  assert.notDeepEqual(backupCodeHash(a, code), backupCodeHash(b, code));
});

test("the address for the app names issuer, account and secret", () => {
  const { secret, otpauthUri } = describeTotp(newTotpSecret(), "ada@example.com");
  const uri = new URL(otpauthUri);
  assert.equal(uri.searchParams.get("secret"), secret);
  assert.equal(uri.searchParams.get("issuer"), "Assay");
  assert.match(decodeURIComponent(uri.pathname), /Assay:ada@example\.com$/);
});
