import assert from "node:assert/strict";
import test from "node:test";
import { type GoLivePoint, goLivePoints } from "@assay/contract/go-live";
import { type BusinessDetails, changedText, isComplete } from "./business-details.ts";
import { readinessOf, whatIsMissing } from "./go-live-readiness.ts";
import { isCurrent } from "./rp-terms.ts";

/** All points are done except these. */
const without = (...open: GoLivePoint[]) =>
  Object.fromEntries(goLivePoints.map((point) => [point, !open.includes(point)])) as Record<
    GoLivePoint,
    boolean
  >;

test("live opens when all that is required is done; what only warns keeps nothing closed", () => {
  assert.deepEqual(whatIsMissing(without()), []);
  for (const { point, required, missing } of readinessOf(without()))
    assert.deepEqual(whatIsMissing(without(point)), required ? [missing] : [], point);
  assert.equal(whatIsMissing(without(...goLivePoints)).length, goLivePoints.length - 1);
  assert.deepEqual(
    readinessOf(without("domain_verified"))
      .filter(({ done }) => !done)
      .map(({ point }) => point),
    ["domain_verified"],
  );
});

test("who polls needs no endpoint, and everything else as before", () => {
  assert.equal(whatIsMissing(without("results_received")).length, 1);
  assert.deepEqual(whatIsMissing(without("results_received"), "poll_only"), []);
  assert.equal(whatIsMissing(without("results_received", "domain_verified"), "poll_only").length, 1);
});

test("details are complete with name and jurisdiction, and for a business with its number", () => {
  const sole: BusinessDetails = { type: "sole", name: "A", jurisdiction: "AT", registrationNumber: null };
  assert.ok(isComplete(sole));
  assert.ok(!isComplete({ ...sole, name: null }));
  assert.ok(!isComplete({ ...sole, jurisdiction: null }));
  assert.ok(!isComplete({ ...sole, type: "business" }));
  assert.ok(isComplete({ ...sole, type: "business", registrationNumber: "FN 1" }));
});

test("a text that is left out stays, and null or blank clears it", () => {
  assert.equal(changedText("old", undefined), "old");
  assert.equal(changedText(null, undefined), null);
  assert.equal(changedText("old", " new "), "new");
  for (const cleared of [null, "", "  "]) assert.equal(changedText("old", cleared), null);
});

test("terms are accepted by version, text and jurisdiction together", () => {
  const terms = { version: "1", hash: "sha256:a", jurisdiction: "EU", text: "…" };
  const accepted = { termsVersion: "1", termsHash: "sha256:a", jurisdiction: "EU" };
  assert.ok(isCurrent(accepted, terms));
  for (const other of [{ termsVersion: "2" }, { termsHash: "sha256:b" }, { jurisdiction: "US" }])
    assert.ok(!isCurrent({ ...accepted, ...other }, terms));
  assert.ok(!isCurrent(null, terms));
});
