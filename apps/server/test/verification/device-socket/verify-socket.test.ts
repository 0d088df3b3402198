import assert from "node:assert/strict";
import { test } from "node:test";
import { runDevice } from "@assay/device/run-device";
import { virtualPassport } from "@assay/device/virtual-passport";
import { testDocuments } from "@assay/emrtd/node/test-country/catalogue";
import { createPartner, expectData } from "../../support/api.ts";
import { createReceivingEndpoint, decrypt, startReceiver } from "../../support/receiver.ts";
import { startTestService } from "../../support/service.ts";

const receiver = await startReceiver();
const service = await startTestService({
  env: { WEBHOOK_ALLOWED_PRIVATE_HOSTS: "127.0.0.1" },
  webhooks: { ca: receiver.ca },
});
const partner = await createPartner(service.api);
await createReceivingEndpoint(partner.api, receiver.url);
const documents = testDocuments(service.clock.now());

async function eventOf(sessionId: string) {
  // A worker may already be sending the delivery, in this process or another, so wait for it.
  for (let seen = 0; ; seen++) {
    await receiver.until(seen + 1);
    const { event } = await decrypt(receiver.received[seen]?.body ?? "");
    if (event.metadata.verification_session_id === sessionId) return event;
  }
}

for (const document of documents) {
  test(`${document.id} ends in ${document.expectedFailureCode ?? "success"}`, async () => {
    const session = expectData(
      await partner.api.post("/v1/sessions", {
        share_fields: {
          family_name: { required: true, reason: "To greet you." },
          date_of_birth: { required: false, reason: "For statistics." },
          age_over_18: { required: true, reason: "The law asks." },
        },
      }),
      201,
    );
    const outcome = await runDevice({
      verificationUrl: session.verification_url,
      chip: virtualPassport(document),
      decline: ["date_of_birth"],
    });
    const code = document.expectedFailureCode;
    const ended = expectData(await partner.api.get(`/v1/sessions/${session.id}`));
    const event = await eventOf(session.id);
    if (code === null) {
      assert.deepEqual(outcome, { kind: "succeeded", sessionId: session.id });
      assert.equal(ended.status, "succeeded");
      assert.deepEqual([ended.nfc_tries_used, ended.liveness_tries_used], [1, 1]);
      assert.equal(event.type, "verification.session.succeeded");
      const { claims, selected_field_keys: selected } = event.data;
      assert.deepEqual(Object.keys(claims).sort(), ["age_over_18", "family_name", "service_document_id"]);
      assert.deepEqual([...selected].sort(), ["age_over_18", "family_name", "service_document_id"]);
      assert.equal(claims.age_over_18, document.id !== "passport-minor");
      assert.ok(document.mrzLines.join("").includes(claims.family_name));
      const [attempt] = expectData(
        await partner.api.get(`/v1/sessions/attempts/attempts?session_id=${session.id}`),
      );
      assert.equal(attempt.status, "succeeded");
      const doubted: Record<string, number> = {
        "passport-no-chip-proof": 0.44,
        "passport-no-revocation-list": 0.28,
      };
      assert.equal(attempt.risk_score, doubted[document.id] ?? 0.2);
    } else {
      assert.deepEqual(outcome, {
        kind: "failed",
        sessionId: session.id,
        failureCode: code,
        unmetRequirement: null,
      });
      assert.equal(ended.status, "failed");
      assert.equal(ended.failure_code, code);
      const tries =
        document.decidedBy === "face"
          ? { nfc_tries_used: 1, liveness_tries_used: 3 }
          : { nfc_tries_used: 3, liveness_tries_used: 0 };
      assert.deepEqual(event.data, {
        failure_code: code,
        unmet_requirement: null,
        ...tries,
        return_code_sha256: null,
      });
    }
  });
}
