import assert from "node:assert/strict";
import { test } from "node:test";
import { runDevice } from "@assay/device/run-device";
import { virtualPassport } from "@assay/device/virtual-passport";
import { personalise } from "@assay/emrtd/node/test-country/personalise";
import { readPortrait } from "@assay/emrtd/node/test-country/portraits";
import { signerProfile } from "@assay/emrtd/node/test-country/signer-profiles";
import { createTestCountry, defaultTestSeed } from "@assay/emrtd/node/test-country/test-country";
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
const country = createTestCountry(defaultTestSeed, service.clock.now());
const year = country.year;

/** Born on 1 July of a year that is 111 years ago, or 11. */
function passport(fullYear: number | null) {
  return personalise({
    country,
    can: "123456",
    portrait: readPortrait("elder.jpg"),
    profile: signerProfile("brainpoolP256r1-sha256-explicit"),
    chipAuthentication: "ecdh_aes128",
    mrz: {
      format: "TD3",
      documentCode: "P",
      issuingState: "UTO",
      nationality: "UTO",
      documentNumber: "UT9001TST",
      dateOfBirth: `${String((year - 11) % 100).padStart(2, "0")}0701`,
      dateOfExpiry: `${String((year + 5) % 100).padStart(2, "0")}1231`,
      sex: "F",
      primaryName: "Centenaria",
      secondaryName: "Clara",
    },
    ...(fullYear === null ? {} : { details: { fullDateOfBirth: `${fullYear}0701` } }),
  });
}

async function verify(document: ReturnType<typeof passport>, fields: readonly string[]) {
  const reason = "The law asks.";
  const shareFields = Object.fromEntries(fields.map((field) => [field, { required: true, reason }]));
  const session = expectData(await partner.api.post("/v1/sessions", { share_fields: shareFields }), 201);
  await runDevice({ verificationUrl: session.verification_url, chip: virtualPassport(document) });
  const ended = expectData(await partner.api.get(`/v1/sessions/${session.id}`));
  await service.runJob("deliver-webhooks");
  for (const { body } of receiver.received) {
    const { event } = await decrypt(body);
    if (event.metadata.verification_session_id === session.id) return { ended, data: event.data };
  }
  return assert.fail("no event was received");
}

test("a person over a hundred is as old as DG11 says, and a child too", async () => {
  const fields = ["date_of_birth", "age_over_18"];
  const old = await verify(passport(year - 111), fields);
  assert.equal(old.data.claims.date_of_birth, `${year - 111}-07-01`);
  assert.equal(old.data.claims.age_over_18, true);
  const young = await verify(passport(year - 11), fields);
  assert.equal(young.data.claims.date_of_birth, `${year - 11}-07-01`);
  assert.equal(young.data.claims.age_over_18, false);
});

test("without DG11 neither the date nor an age that hangs on it is guessed", async () => {
  for (const field of ["date_of_birth", "age_over_18"]) {
    const { ended } = await verify(passport(null), [field]);
    assert.equal(ended.status, "failed");
    assert.equal(ended.failure_code, "document_data_invalid");
  }
});

test("a session that asks for neither gets the rest", async () => {
  const { ended, data } = await verify(passport(null), ["family_name"]);
  assert.equal(ended.status, "succeeded");
  assert.equal(data.claims.family_name, "CENTENARIA");
});
