import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { runCommand } from "@assay/cli/command";
import { personalise } from "@assay/emrtd/node/test-country/personalise";
import { readPortrait } from "@assay/emrtd/node/test-country/portraits";
import { signerProfile } from "@assay/emrtd/node/test-country/signer-profiles";
import {
  createTestCountry,
  defaultTestSeed,
  testCountryTrust,
} from "@assay/emrtd/node/test-country/test-country";
import type { TestDocument } from "@assay/emrtd/virtual/test-document";
import { createVirtualChip } from "@assay/emrtd/virtual/virtual-chip";
import { skipWithoutPcscd, startPcscd } from "../../../../packages/emrtd/test/support/pcscd.ts";
import { readCommand } from "../../src/cli/read.command.ts";
import { loadConfig } from "../../src/config.ts";
import { sql } from "../../src/db/sql.ts";
import { changeTrust, insertImport } from "../../src/trust/trust.store.ts";
import { type Api, createPartner } from "../support/api.ts";
import { startTestService, type TestService } from "../support/service.ts";
import { claimedSession, TestDevice, testDocument } from "../support/verify-device.ts";

const verify = { faceJudge: null };
type Document = Pick<TestDocument, "files" | "chip">;

/** A passport that the test country signed with SHA-1. */
function weaklySigned(now: Date): Document {
  return personalise({
    country: createTestCountry(defaultTestSeed, now),
    profile: signerProfile("rsa-2048-sha1"),
    can: "123456",
    portrait: readPortrait("adult.jpg"),
    mrz: {
      format: "TD3",
      documentCode: "P",
      issuingState: "UTO",
      nationality: "UTO",
      documentNumber: "WEAK00001",
      dateOfBirth: "900101",
      dateOfExpiry: "331231",
      sex: "X",
      primaryName: "Weak",
    },
  });
}

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

test("the desk judges by the operator's policy as well", { skip: skipWithoutPcscd }, async (t) => {
  const document = weaklySigned(new Date());
  const daemon = await startPcscd();
  t.after(() => daemon.stop());
  await daemon.insert(createVirtualChip({ files: document.files, ...document.chip }));
  t.after(() => {
    delete process.env.TRUST_POLICY;
  });
  const read = async (policy: string) => {
    process.env.TRUST_POLICY = policy;
    const lines: string[] = [];
    const args = ["read", "--can", document.chip.can, "--test-country", "--socket", daemon.socketPath];
    const exitCode = await runCommand([readCommand], args, (line) => lines.push(line));
    return { exitCode, text: lines.join("\n") };
  };
  const warned = await read("");
  assert.equal(warned.exitCode, 0, warned.text);
  assert.match(warned.text, /warning .*: sha1/);
  const refused = await read("sha1=refuse");
  assert.equal(refused.exitCode, 3, refused.text);
  assert.match(refused.text, /FAILED .*: sha1/);
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
