import assert from "node:assert/strict";
import { test } from "node:test";
import { TrustReader } from "./trust-reader.ts";
import { packTrust } from "./trust-snapshot.ts";

test("a survey is made once for each version and hour, and one that failed is not kept", async () => {
  const at = (time: string) => new Date(`2026-03-01T${time}Z`);
  const reader = new TrustReader();
  const first = reader.survey(packTrust(1, []), at("09:00:00"));
  assert.equal(reader.survey(packTrust(1, []), at("09:59:59")), first);
  assert.deepEqual((await first).revocationListAddresses, []);
  const nextHour = reader.survey(packTrust(1, []), at("10:00:00"));
  assert.notEqual(nextHour, first);
  const nextVersion = reader.survey(packTrust(2, []), at("10:00:00"));
  assert.notEqual(nextVersion, nextHour);
  assert.deepEqual([(await nextHour).version, (await nextVersion).version], [1, 2]);
  await reader.close();
  const failed = reader.survey(packTrust(3, []), at("10:00:00"));
  await assert.rejects(failed);
  const again = reader.survey(packTrust(3, []), at("10:00:00"));
  assert.notEqual(again, failed);
  await assert.rejects(again);
});
