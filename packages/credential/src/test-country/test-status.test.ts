import assert from "node:assert/strict";
import test from "node:test";
import { readStatusList } from "../status-list/read-status-list.ts";
import { statusAt } from "../status-list/status-list.ts";
import { purposes } from "../trust-anchor.ts";
import { testCountryAnchors } from "./test-signer.ts";
import { testStatusIndexes, testStatusList, testStatusToken, testStatusUri } from "./test-status.ts";

const now = new Date("2026-11-18T12:00:00Z");
const service = "https://id.example.com";

for (const purpose of purposes)
  test(`the list of the test country for ${purpose} is signed, and is the one that is answered from memory`, async () => {
    const uri = testStatusUri(service, purpose);
    const token = await testStatusToken(service, purpose, now);
    const list = await readStatusList(token, { uri, anchors: testCountryAnchors(), purpose, now });
    assert.deepEqual(list, testStatusList(service, uri, now));
    for (const [status, index] of Object.entries(testStatusIndexes))
      assert.equal(statusAt(list, index), status);
  });

test("only addresses of this service are lists of the test country", () => {
  for (const uri of [
    "https://elsewhere.example/oid4vp/test-country/status/pid",
    `${service}/oid4vp/test-country/status/library`,
    `${service}/oid4vp/test-country/status/pid/`,
  ])
    assert.equal(testStatusList(service, uri, now), null, uri);
});
