import assert from "node:assert/strict";
import { test } from "node:test";
import { readStatusList } from "@assay/credential/status-list/read-status-list";
import { statusAt } from "@assay/credential/status-list/status-list";
import { testCountryAnchors } from "@assay/credential/test-country/test-signer";
import { testStatusIndexes, testStatusUri } from "@assay/credential/test-country/test-status";
import { purposes } from "@assay/credential/trust-anchor";
import { startTestService } from "../../support/service.ts";

const { url, clock } = await startTestService({ role: "api" });

test("the service serves the status lists of the test country, signed by its authorities", async () => {
  for (const purpose of purposes) {
    const uri = testStatusUri(url, purpose);
    const response = await fetch(uri);
    assert.equal(response.status, 200);
    assert.equal(response.headers.get("content-type"), "application/statuslist+jwt");
    const anchors = testCountryAnchors();
    const list = await readStatusList(await response.text(), { uri, anchors, purpose, now: clock.now() });
    for (const [status, index] of Object.entries(testStatusIndexes))
      assert.equal(statusAt(list, index), status);
  }
  const unknown = await fetch(`${url}/oid4vp/test-country/status/library`);
  assert.deepEqual([unknown.status, await unknown.json()], [404, { error: "invalid_request" }]);
});
