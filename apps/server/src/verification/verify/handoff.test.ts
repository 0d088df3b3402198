import assert from "node:assert/strict";
import test from "node:test";
import type { SessionId } from "@assay/contract/ids";
import fc from "fast-check";
import { later } from "../../platform/kernel/clock.ts";
import { knownId } from "../../platform/kernel/ids.ts";
import { decideHandoff, handoffExpiry, hashDevice } from "./handoff.ts";

const now = new Date("2026-03-01T09:30:00.000Z");
const session = knownId<SessionId>("vs_1");
const phone = hashDevice(session, "phone");

const tokens = fc.record({
  expiresAt: fc.integer({ min: -400_000, max: 400_000 }).map((milliseconds) => later(now, milliseconds)),
  consumedAt: fc.constantFrom(null, now),
  deviceHash: fc.constantFrom(null, phone, hashDevice(session, "thief")),
  mayTakeOver: fc.boolean(),
});

test("a used token is good for the device that used it and for no other", () => {
  fc.assert(
    fc.property(tokens, (token) => {
      const decision = decideHandoff({ ...token, consumedAt: now }, phone, now);
      if (token.deviceHash === phone)
        assert.deepEqual(decision, { kind: "claim", firstUse: false, mayTakeOver: false });
      else assert.deepEqual(decision, { kind: "refuse", code: "HANDOFF_TOKEN_CONSUMED" });
    }),
  );
});

test("an unused token is good exactly until its expiry, and takes over only if it says so", () => {
  fc.assert(
    fc.property(tokens, (token) => {
      const fresh = { ...token, consumedAt: null, deviceHash: null };
      const decision = decideHandoff(fresh, phone, now);
      if (fresh.expiresAt > now)
        assert.deepEqual(decision, { kind: "claim", firstUse: true, mayTakeOver: token.mayTakeOver });
      else assert.deepEqual(decision, { kind: "refuse", code: "HANDOFF_TOKEN_EXPIRED" });
    }),
  );
  assert.deepEqual(decideHandoff(null, phone, now), { kind: "refuse", code: "HANDOFF_TOKEN_INVALID" });
});

test("a token lives five minutes, or as long as its session", () => {
  assert.deepEqual(handoffExpiry(now, later(now, 3_600_000)), later(now, 300_000));
  assert.deepEqual(handoffExpiry(now, later(now, 299_999)), later(now, 299_999));
});

test("the same device is another one in another session", () => {
  assert.ok(!hashDevice(session, "phone").equals(hashDevice(knownId("vs_2"), "phone")));
});

test("at the exact moment of its expiry a token is too old", () => {
  const now = new Date("2026-03-01T09:30:00.000Z");
  const token = { expiresAt: now, consumedAt: null, deviceHash: null, mayTakeOver: false };
  const device = hashDevice(session, "phone");
  assert.deepEqual(decideHandoff(token, device, now), { kind: "refuse", code: "HANDOFF_TOKEN_EXPIRED" });
  const before = new Date(now.getTime() - 1);
  assert.deepEqual(decideHandoff(token, device, before), {
    kind: "claim",
    firstUse: true,
    mayTakeOver: false,
  });
});
