import assert from "node:assert/strict";
import test from "node:test";
import type { OrganizationId, UserId } from "@assay/contract/ids";
import { later } from "../../platform/kernel/clock.ts";
import { knownId } from "../../platform/kernel/ids.ts";
import { boundCode, isDead, newDeletionCode } from "./deletion-code.ts";

const now = new Date("2026-03-01T09:30:00.000Z");

test("a code lives until its time is over or five tries were wrong", () => {
  const code = { wrongTries: 0, expiresAt: later(now, 1) };
  assert.ok(!isDead(code, now));
  assert.ok(!isDead({ ...code, wrongTries: 4 }, now));
  assert.ok(isDead({ ...code, wrongTries: 5 }, now));
  assert.ok(isDead({ ...code, expiresAt: now }, now));
});

test("codes have eight characters that look like no other, and do not repeat", () => {
  const codes = Array.from({ length: 500 }, newDeletionCode);
  for (const code of codes) assert.match(code, /^[A-HJKMNP-Z2-9]{8}$/);
  assert.equal(new Set(codes).size, codes.length);
});

test("a code is bound to organization and person, and typed in either case", () => {
  const [organization, person] = [knownId<OrganizationId>("o"), knownId<UserId>("p")];
  const code = boundCode(organization, person, "ABCD2345");
  assert.equal(boundCode(organization, person, "abcd2345"), code);
  assert.notEqual(boundCode(knownId("x"), person, "ABCD2345"), code);
  assert.notEqual(boundCode(organization, knownId("x"), "ABCD2345"), code);
});
