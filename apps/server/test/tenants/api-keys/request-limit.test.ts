import assert from "node:assert/strict";
import test from "node:test";
import { grantOperator } from "../../../src/operations/operator/operator.store.ts";
import { dayMs, hourMs, secondMs } from "../../../src/platform/kernel/clock.ts";
import { knownId } from "../../../src/platform/kernel/ids.ts";
import { type Api, createKey, createPartner, expectData, expectError } from "../../support/api.ts";
import { startTestService } from "../../support/service.ts";

const maxPerSecond = 5;
// Each process counts for itself.
const { api, core, clock, runJob } = await startTestService({
  machines: 1,
  env: { ORGANIZATION_REQUESTS_PER_SECOND: String(maxPerSecond), METRICS_TOKEN: "scraper" },
});

/** It has made a request before, so that the key is known, and has a whole second left. */
async function knownPartner() {
  const partner = await createPartner(api);
  const second = await createKey(partner.owner);
  for (const as of [partner.api, second.api, partner.owner.api]) expectData(await as.get("/v1/sessions"));
  clock.advance(secondMs);
  return { ...partner, second: second.api };
}

const statusesOf = async (callers: readonly Api[]) => {
  const statuses: number[] = [];
  for (const caller of callers) statuses.push((await caller.get("/v1/sessions")).status);
  return statuses;
};
const times = (count: number, caller: Api) => Array.from({ length: count }, () => caller);

test("an organization is refused with 503 and Retry-After beyond its requests of a second, and served in the next", async () => {
  const flood = await knownPartner();
  assert.deepEqual(
    await statusesOf(times(maxPerSecond, flood.api)),
    times(maxPerSecond, flood.api).map(() => 200),
  );
  const refused = await flood.api.post("/v1/sessions", {});
  expectError(refused, 503, "REQUEST_RATE_EXCEEDED");
  assert.match(refused.headers.get("retry-after") ?? "", /^[1-3]$/);
  clock.advance(secondMs);
  assert.deepEqual(expectData<unknown[]>(await flood.api.get("/v1/sessions")), [], "nothing was done");
});

test("keys and access tokens of an organization count together, other organizations and the dashboard do not", async () => {
  const flood = await knownPartner();
  const quiet = await knownPartner();
  const both = [flood.api, flood.second, flood.owner.api, flood.api, flood.second];
  assert.deepEqual(await statusesOf(both), [200, 200, 200, 200, 200]);
  assert.deepEqual(await statusesOf([flood.api, flood.second, flood.owner.api]), [503, 503, 503]);
  assert.deepEqual(await statusesOf(times(maxPerSecond, quiet.api)), [200, 200, 200, 200, 200]);
  const page = await fetch(`${api.url}/v1/sessions`, {
    headers: { cookie: `assay_session=${flood.owner.token}` },
  });
  assert.equal(page.status, 200);
});

test("refusals are in the log, and counted for the organization and for the operator", async () => {
  const { owner, organizationId, api: partner, key } = await knownPartner();
  const other = await knownPartner();
  const ids: (string | null)[] = [];
  for (let i = 0; i < maxPerSecond; i++) expectData(await partner.get("/v1/sessions"));
  for (let i = 0; i < 7; i++) ids.push((await partner.get("/v1/sessions")).headers.get("x-request-id"));
  await runJob("flush-key-usage");
  clock.advance(secondMs);
  type Entry = { request_id: string; status: number; error_code: string; count: number };
  const entries = expectData<Entry[]>(
    await owner.api.get("/v1/auth/orgs/api-requests", { status_class: "5xx", api_key_id: key.id }),
  );
  // Refusals between two writes are one entry; the service also writes on its own schedule.
  assert.equal(
    entries.reduce((sum, { count }) => sum + count, 0),
    7,
  );
  assert.ok(
    entries.every(({ status, error_code }) => status === 503 && error_code === "REQUEST_RATE_EXCEEDED"),
  );
  assert.equal(entries.at(-1)?.request_id, ids[0]);
  const limitOf = async (of: { api: Api }) => {
    clock.advance(secondMs);
    return expectData(await of.api.get("/v1/auth/orgs/request-limit"));
  };
  const limit = { requests_per_second: maxPerSecond };
  assert.deepEqual(await limitOf(owner), { ...limit, refused_last_hour: 7, refused_last_day: 7 });
  assert.deepEqual(await limitOf(other.owner), { ...limit, refused_last_hour: 0, refused_last_day: 0 });
  await core.db.transaction((tx) => grantOperator(tx, knownId(other.owner.userId), clock.now()));
  const sizes = expectData<{ id: string; refused_requests: number }[]>(
    await other.owner.api.get("/v1/operator/organizations"),
  );
  assert.deepEqual(
    sizes
      .filter(({ id }) => [organizationId, other.organizationId].includes(id as never))
      .map((size) => size.refused_requests),
    [0, 7],
  );
  clock.advance(hourMs);
  assert.deepEqual(await limitOf(owner), { ...limit, refused_last_hour: 0, refused_last_day: 7 });
  clock.advance(dayMs);
  assert.deepEqual(await limitOf(owner), { ...limit, refused_last_hour: 0, refused_last_day: 0 });
});

test("the metrics count refusals apart, and an organization at its limit is no overload", async () => {
  const { text } = await api.as("scraper").get("/metrics");
  const count = Number(
    /^assay_admission_refused_total\{reason="organization_rate"\} (\d+)$/m.exec(text)?.[1],
  );
  assert.ok(count >= 11, text);
  assert.match(text, /^assay_admission_overloaded 0$/m);
  assert.match(text, /^assay_admission_refused_total\{reason="queue_full"\} 0$/m);
});

test("credentials that were made up, and requests without any, count for no organization", async () => {
  clock.advance(secondMs);
  const madeUp = api.as(`kk_${"0".repeat(32)}`);
  for (let i = 0; i < 3 * maxPerSecond; i++) {
    expectError(await madeUp.get("/v1/sessions"), 401, "UNAUTHORIZED");
    expectError(await api.get("/v1/sessions"), 401, "UNAUTHORIZED");
  }
});
