import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { sql } from "../../../src/platform/db/sql.ts";
import { hourMs } from "../../../src/platform/kernel/clock.ts";
import { readTrust } from "../../../src/verification/trust/trust.store.ts";
import { type Api, createPartner } from "../../support/api.ts";
import { createAuthority } from "../../support/certificate.ts";
import { startReceiver } from "../../support/receiver.ts";
import { startTestService, type TestService } from "../../support/service.ts";
import { createTestAuthority } from "../../support/test-authority.ts";
import { operatorOf } from "../../support/trust.ts";
import { claimedSession, TestDevice, testDocument, trustTestCountry } from "../../support/verify-device.ts";

const authority = createTestAuthority("deviations");
const signedAt = new Date("2026-01-05T00:00:00Z");
const verify = { faceJudge: null };
const stern = { TRUST_POLICY: "document_deviates=refuse" };

async function verdictAt(t: TestContext, service: TestService, api: Api, id: string): Promise<string> {
  const { sessionId, socketToken } = await claimedSession(api);
  await service.core.db.run(sql`update sessions set sandbox = false where id = ${sessionId}`);
  const device = await TestDevice.connect(service.url, sessionId, socketToken);
  t.after(() => device.connection.close());
  await device.expect("welcome");
  const message = await device.passChip(testDocument(id, service.clock.now()));
  assert.ok(message.type === "step_result", JSON.stringify(message));
  return message.passed ? "passed" : (message.failure_code ?? "failed");
}

test("a deviation list decides about live documents of its state once its authority is trusted", async (t) => {
  const service = await startTestService({ verify, env: stern });
  await trustTestCountry(service);
  const { api } = await createPartner(service.api);
  const { bring, list, imports, audit, status } = await operatorOf(t, service);
  assert.equal(await verdictAt(t, service, api, "passport-valid"), "passed");

  const brought = await bring("faults.dl", authority.deviationList(signedAt));
  assert.match(brought, /Without effect: the deviation list from faults\.dl: No trusted authority vouches/);
  assert.match(brought, /Imported 0 certificates and 0 revocation lists, 1 deviation list\./);
  assert.match(
    await audit(),
    /Deviation lists: none\n {4}Without effect: the deviation list from faults\.dl/,
  );
  assert.match(await status(), /Deviation lists: 0, and 1 without effect\./);
  assert.equal(await verdictAt(t, service, api, "passport-valid"), "passed");

  await bring("authority.cer", authority.certificate);
  const line =
    /UT {2}deviation list of 2026-01-05: 1 deviations, signed by .*deviations document_signer; from faults\.dl/;
  assert.match(await list(), line);
  assert.match(await audit(), line);
  assert.match(await imports(), /faults\.dl: 0 certificates and 0 revocation lists, 1 deviation list/);
  assert.equal(await verdictAt(t, service, api, "passport-valid"), "document_authenticity_failed");
  assert.equal(await verdictAt(t, service, api, "identity-card-valid"), "passed", "it speaks of passports");

  // Its signer is revoked: what it says counts no more.
  await bring("revoked.crl", authority.revocationList(signedAt, true));
  assert.match(await audit(), /Without effect: the deviation list from faults\.dl: .*was revoked/);
  assert.equal(await verdictAt(t, service, api, "passport-valid"), "passed");
});

test("a source may bring a deviation list, if it is signed as it must be, and a newer one takes its place", async (t) => {
  const webAuthority = createAuthority();
  const host = await startReceiver(webAuthority);
  let body = Buffer.from(authority.deviationList(signedAt));
  host.answerWith((_request, response) => {
    response.writeHead(200).end(body);
    return null;
  });
  const service = await startTestService({
    env: {
      ...stern,
      WEBHOOK_ALLOWED_PRIVATE_HOSTS: "127.0.0.1",
      TRUST_SOURCES: `https://127.0.0.1:${host.port}/faults.dl`,
    },
    webhooks: { ca: webAuthority.certificate },
  });
  const { bring, list, status } = await operatorOf(t, service);
  const refresh = async () => {
    service.clock.advance(7 * hourMs);
    await service.runJob("refresh-trust");
  };
  const kept = async () =>
    (await readTrust(service.core.db)).records.flatMap(({ deviationLists = [] }) => deviationLists).length;
  await refresh();
  assert.equal(await kept(), 0);
  assert.match(await status(), /now: No trusted authority vouches for the signer of the deviation list/);
  await bring("authority.cer", authority.certificate);
  await refresh();
  assert.equal(await kept(), 1);
  assert.match(await list(), /deviation list of 2026-01-05/);
  body = Buffer.from(authority.deviationList(new Date("2026-01-25T00:00:00Z"), "V"));
  await refresh();
  assert.equal(await kept(), 1);
  assert.match(await list(), /deviation list of 2026-01-25/);
  body = Buffer.from(authority.deviationList(new Date("2026-01-15T00:00:00Z"), "V"));
  await refresh();
  assert.match(await status(), /now: It was signed at 2026-01-15.*before the current edition/);
  assert.match(await list(), /deviation list of 2026-01-25/);
});
