import assert from "node:assert/strict";
import test from "node:test";
import type { Method } from "@assay/contract/facts";
import type { Details } from "./api.ts";
import { chosenOf, offersOf, takesWallets, waysBehind } from "./offers.ts";

const way = (method: string) => ({ method: method as Method, channels: [], looks_at: [] });
const session = (methods: readonly string[], desks = false) =>
  ({ ways: methods.map(way), desk_readers: desks }) as Pick<Details, "ways" | "desk_readers">;

test("people choose between passport, wallet and age app, in the partner's order; identity and licence are one choice", () => {
  const all = session(["wallet_mdl", "wallet_age", "document_chip", "wallet_pid"]);
  assert.deepEqual(offersOf(all, { by: "code" }), ["wallet", "age", "chip"]);
  assert.deepEqual(
    waysBehind(all, "wallet").map(({ method }) => method),
    ["wallet_mdl", "wallet_pid"],
  );
  assert.deepEqual(offersOf(session(["document_chip"]), { by: "code" }), ["chip"]);
});

test("a passport that nothing can read is offered only where nothing else is", () => {
  const both = ["document_chip", "wallet_pid"];
  assert.deepEqual(offersOf(session(both), { by: "counter" }), ["wallet"]);
  assert.deepEqual(offersOf(session(both, true), { by: "counter" }), ["chip", "wallet"]);
  assert.deepEqual(offersOf(session(["document_chip"]), { by: "counter" }), ["chip"]);
});

test("an answer of the release before, and a method that the page does not know, break nothing", () => {
  const before = { desk_readers: false } as Pick<Details, "ways" | "desk_readers">;
  assert.deepEqual(offersOf(before, { by: "code" }), ["chip"]);
  assert.equal(takesWallets(before), false);
  assert.deepEqual(offersOf(session(["retina", "wallet_age"]), { by: "code" }), ["age"]);
});

test("a single way needs no choice, and an app that reads chips reads the chip", () => {
  assert.equal(chosenOf(["age"], "desktop", null), "age");
  assert.equal(chosenOf(["wallet", "chip"], "android", null), null);
  assert.equal(chosenOf(["wallet", "chip"], "android", "wallet"), "wallet");
  assert.equal(chosenOf(["wallet", "chip"], "android", "age"), null);
  assert.equal(chosenOf(["wallet", "chip"], "shell", "wallet"), "chip");
  assert.equal(chosenOf(["wallet", "chip"], "desk", null), "chip");
  assert.equal(chosenOf(["wallet", "age"], "shell", "age"), "age");
});
