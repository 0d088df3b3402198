import assert from "node:assert/strict";
import test from "node:test";
import { issueStatusList } from "@assay/credential/status-list/issue-status-list";
import { testStatusIndexes, testStatusUri } from "@assay/credential/test-country/test-status";
import type { Purpose } from "@assay/credential/trust-anchor";
import { sql } from "../../../src/platform/db/sql.ts";
import { dayMs, hourMs, later, minuteMs } from "../../../src/platform/kernel/clock.ts";
import { changeTrust, retireImports } from "../../../src/verification/trust/trust.store.ts";
import { checkStatus } from "../../../src/verification/wallet-status/check-status.ts";
import { createAuthority } from "../../support/certificate.ts";
import { startReceiver } from "../../support/receiver.ts";
import { startTestService } from "../../support/service.ts";
import { createWalletAuthority, trustWalletAuthority } from "../../support/wallet-authority.ts";

const webAuthority = createAuthority();
const authority = await createWalletAuthority("Status authority");
const stranger = await createWalletAuthority("Stranger");

/** A service that trusts one authority for PID, and a server with lists that the test plays. */
async function start(env: Record<string, string> = {}) {
  const host = await startReceiver(webAuthority);
  const service = await startTestService({
    env: { WEBHOOK_ALLOWED_PRIVATE_HOSTS: "127.0.0.1", ...env },
    webhooks: { ca: webAuthority.certificate },
  });
  const { clock, core } = service;
  const uri = `https://127.0.0.1:${host.port}/lists/1`;
  let served: { body: string; etag: string } | number = 404;
  host.answerWith(({ headers }, response) => {
    if (typeof served === "number") response.writeHead(served).end();
    else if (headers["if-none-match"] === served.etag) response.writeHead(304, { etag: served.etag }).end();
    else response.writeHead(200, { etag: served.etag }).end(served.body);
    return null;
  });
  const trusted = await trustWalletAuthority(service, authority.root.certificate, { purpose: "pid" });
  return {
    ...service,
    uri,
    trusted,
    requests: () => host.received.length,
    received: () => host.received,
    failWith: (status: number) => {
      served = status;
    },
    /** What the issuer publishes from now on: the credential at 7 is revoked, that at 8 suspended. */
    async publish(
      options: { ttlSeconds?: number; expiresAt?: Date; revoked?: number; at?: Date } = {},
      { root: _, signer } = authority,
    ) {
      const { revoked = 7, at = clock.now(), ...rest } = options;
      const statuses = new Map([
        [revoked, 1],
        [8, 2],
        [9, 3],
      ]);
      const order = { uri, bits: 2, size: 4096, statuses, issuedAt: at, ...rest } as const;
      const body = await issueStatusList(order, {
        chain: [signer.certificate],
        privateKey: signer.privateKey,
      });
      served = { body, etag: `"${at.getTime()}-${revoked}"` };
    },
    status: (index: number, purpose: Purpose = "pid", environment: "live" | "sandbox" = "live", at = uri) =>
      checkStatus(core, { uri: at, index }, { purpose, environment, now: clock.now() }),
  };
}

test("a list is fetched whole and once, and the entry that was looked up is in no request and no table", async () => {
  const { publish, status, requests, received, core } = await start();
  await publish();
  const found = await Promise.all([4, 7, 8, 9, 4096 * 4].map((index) => status(index)));
  // Application-specific values, and entries beyond the list, do not count as valid.
  assert.deepEqual(found, ["valid", "revoked", "suspended", "revoked", "revoked"]);
  assert.equal(await status(1234), "valid");
  assert.equal(requests(), 1, "concurrent callers wait for the same request");
  assert.ok(received().every(({ path }) => path === "/lists/1"));
  const rows = await core.db.rows<{ text: string }>(
    sql`select row_to_json(status_lists)::text as text from status_lists`,
  );
  assert.equal(rows.length, 1);
  assert.doesNotMatch(rows[0]?.text ?? "", /1234/);
});

test("a copy is fresh for as long as its issuer allows, and no longer than the operator does", async () => {
  const { publish, status, requests, clock } = await start({ WALLET_STATUS_MAX_AGE: "3600" });
  await publish({ ttlSeconds: 600 });
  await status(4);
  clock.advance(10 * minuteMs - 1);
  await status(4);
  assert.equal(requests(), 1);
  clock.advance(1);
  await publish({ ttlSeconds: 86_400, revoked: 4 });
  assert.equal(await status(4), "revoked");
  assert.equal(requests(), 2);
  clock.advance(hourMs - 1);
  await status(4);
  assert.equal(requests(), 2);
  clock.advance(1);
  assert.equal(await status(4), "revoked", "the answer that nothing changed makes the copy fresh again");
  assert.equal(requests(), 3);
  clock.advance(hourMs - 1);
  await status(4);
  assert.equal(requests(), 3);
});

test("without a newer list the copy is stale, and what it says of others than the valid still holds", async () => {
  const { publish, status, requests, clock, failWith } = await start();
  await publish({ expiresAt: later(clock.now(), hourMs) });
  assert.equal(await status(4), "valid");
  failWith(500);
  clock.advance(hourMs);
  assert.equal(await status(4), "stale");
  assert.equal(await status(7), "revoked");
  assert.equal(await status(8), "suspended");
  assert.equal(requests(), 2, "an address that failed just now is not asked again");
  clock.advance(minuteMs);
  await publish();
  assert.equal(await status(4), "valid");
});

test("a list that is missing, too old, or not signed by an authority of this purpose does not count", async () => {
  const { publish, status, clock, failWith, uri } = await start();
  const next = () => clock.advance(minuteMs);
  failWith(404);
  assert.equal(await status(4), "no_list");
  next();
  await publish({}, stranger);
  assert.equal(await status(4), "no_list");
  next();
  await publish();
  assert.equal(await status(4, "mdl"), "no_list", "its authority is trusted for pid only");
  assert.equal(await status(4, "pid", "sandbox"), "no_list", "and in live only");
  assert.equal(await status(4, "pid", "live", uri.replace("https", "http")), "no_list");
  assert.equal(await status(4, "pid", "live", "https://10.0.0.1/list"), "no_list");
  assert.equal(await status(4), "valid");
  clock.advance(hourMs);
  await publish({ at: later(clock.now(), -2 * hourMs), revoked: 100 });
  assert.equal(await status(7), "revoked", "an older edition does not replace the copy");
  assert.equal(await status(4), "stale");
});

test("a list whose authority was taken back counts no longer, cached or not", async () => {
  const { publish, status, core, clock, trusted } = await start();
  await publish();
  assert.equal(await status(4), "valid");
  await changeTrust(core.db, clock.now(), "command", async (tx) =>
    (await retireImports(tx, trusted, clock.now())).map((subject) => ({
      act: "taken_back",
      subject,
      detail: "",
    })),
  );
  assert.equal(await status(4), "no_list");
});

test("the sandbox answers for its test country without asking itself, and live does not", async () => {
  const { status, core, requests } = await start();
  const uri = testStatusUri(core.publicUrl(), "pid");
  assert.equal(await status(testStatusIndexes.valid, "pid", "sandbox", uri), "valid");
  assert.equal(await status(testStatusIndexes.revoked, "pid", "sandbox", uri), "revoked");
  assert.equal(await status(testStatusIndexes.suspended, "pid", "sandbox", uri), "suspended");
  assert.equal(await status(testStatusIndexes.valid, "mdl", "sandbox", uri), "no_list");
  assert.equal(await status(testStatusIndexes.valid, "pid", "live", uri), "no_list");
  assert.equal(requests(), 0);
});

test("a list that is not needed is deleted after thirty days", async () => {
  const { publish, status, core, clock, runJob } = await start();
  await publish();
  await status(4);
  const count = async () => (await core.db.rows(sql`select uri from status_lists`)).length;
  clock.advance(30 * dayMs - 1);
  await runJob("purge-status-lists");
  assert.equal(await count(), 1);
  clock.advance(1);
  await runJob("purge-status-lists");
  assert.equal(await count(), 0);
});
