import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import {
  createTestCountry,
  defaultTestSeed,
  testCountryTrust,
} from "@assay/emrtd/node/test-country/test-country";
import type { TestDocument } from "@assay/emrtd/virtual/test-document";
import { loadConfig } from "../../../src/load-config.ts";
import { sql } from "../../../src/platform/db/sql.ts";
import { changeTrust, insertImport } from "../../../src/verification/trust/trust.store.ts";
import { type Api, createPartner } from "../../support/api.ts";
import { startTestService, type TestService } from "../../support/service.ts";
import { weaklySigned } from "../../support/trust.ts";
import { claimedSession, TestDevice, testDocument } from "../../support/verify-device.ts";

const verify = { faceJudge: null };
type Document = Pick<TestDocument, "files" | "chip">;

async function verdictAt(
  t: TestContext,
  service: TestService,
  api: Api,
  document: Document,
  kind: "live" | "sandbox",
): Promise<string> {
  const { sessionId, socketToken } = await claimedSession(api);
  if (kind === "live")
    await service.core.db.run(sql`update sessions set sandbox = false where id = ${sessionId}`);
  const device = await TestDevice.connect(service.url, sessionId, socketToken);
  t.after(() => device.connection.close());
  await device.expect("welcome");
  const message = await device.passChip(document as TestDocument);
  assert.ok(message.type === "step_result", JSON.stringify(message));
  return message.passed ? "passed" : (message.failure_code ?? "failed");
}

test("a document is judged by the operator's policy, live and in the sandbox", async (t) => {
  const lenient = await startTestService({ verify });
  const { databaseUrl, clock, core } = lenient;
  const stern = await startTestService({
    databaseUrl,
    clock,
    verify,
    env: { TRUST_POLICY: "revocation_list_missing=refuse, sha1=refuse" },
  });
  // Trusted without its revocation lists.
  const [record] = testCountryTrust(createTestCountry(defaultTestSeed, clock.now()));
  assert.ok(record !== undefined);
  await changeTrust(core.db, clock.now(), "command", async (tx) => {
    await insertImport(tx, { ...record, revocationLists: [] }, 0, "command");
    return [{ act: "imported", subject: "", detail: "" }];
  });
  const { api } = await createPartner(lenient.api);
  const [weak, valid] = [weaklySigned(clock.now()), testDocument("passport-valid", clock.now())];
  const verdicts = async (document: Document, kind: "live" | "sandbox") => [
    await verdictAt(t, lenient, api, document, kind),
    await verdictAt(t, stern, api, document, kind),
  ];
  const refused = ["passed", "document_authenticity_failed"];
  assert.deepEqual(await verdicts(valid, "live"), refused, "no revocation list");
  assert.deepEqual(await verdicts(weak, "sandbox"), refused, "SHA-1");
  assert.deepEqual(
    await verdicts(valid, "sandbox"),
    ["passed", "passed"],
    "the test country has its revocation lists",
  );
});

test("the test country's own passport passes in the sandbox under the strict policy", async (t) => {
  const service = await startTestService({ verify, env: { TRUST_POLICY: "strict" } });
  const { api } = await createPartner(service.api);
  const valid = testDocument("passport-valid", service.clock.now());
  assert.equal(await verdictAt(t, service, api, valid, "sandbox"), "passed");
});

for (const [policy, problem] of [
  ["sha-1=refuse", /TRUST_POLICY cannot be used: "sha-1" is no switch of the policy; there are /],
  ["sha1=perhaps", /TRUST_POLICY cannot be used: sha1 must be one of accept, warn, refuse/],
  ["country_mismatch=accept", /TRUST_POLICY cannot be used: "country_mismatch" is always refused/],
] as const) {
  test(`a service with the policy ${policy} does not start, and names the switch`, () => {
    assert.throws(() => loadConfig({ TRUST_POLICY: policy }), problem);
  });
}
