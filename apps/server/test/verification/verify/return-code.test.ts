import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { minuteMs } from "../../../src/platform/kernel/clock.ts";
import { expireSessions } from "../../../src/verification/sessions/expire-sessions.job.ts";
import { createPartner, expectData, expectError } from "../../support/api.ts";
import { createAuthority } from "../../support/certificate.ts";
import { createReceivingEndpoint, decrypt, startReceiver } from "../../support/receiver.ts";
import { startTestService } from "../../support/service.ts";
import { fail, succeed } from "../../support/sessions.ts";
import {
  requiredKeys,
  shareFields,
  startVerification,
  takeSession,
  termsVersion,
} from "../../support/verify.ts";

const authority = createAuthority();
const service = await startTestService({
  env: { WEBHOOK_ALLOWED_PRIVATE_HOSTS: "127.0.0.1" },
  webhooks: { ca: authority.certificate },
});
const { api, clock, core, databaseUrl, logLines } = service;
/** Another process on the same database. */
const second = await startTestService({ databaseUrl, clock, role: "api" });
const partner = await createPartner(api);
const receiver = await startReceiver(authority);
await createReceivingEndpoint(partner.api, receiver.url);

/** The service's own job may have been faster. */
const expire = expireSessions(core, "expire-sessions");
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const withRedirect = { share_fields: shareFields, redirect_url: "https://shop.example.com/verified" };
const open = async (path: string, person = api): Promise<string | null> =>
  expectData(await person.post(`${path}/open`)).return_code;
const consentWith = (path: string, code?: string) =>
  api.post(`${path}/consent`, {
    selected_field_keys: requiredKeys,
    terms_version: termsVersion,
    ...(code === undefined ? {} : { return_code: code }),
  });

async function eventOf(sessionId: string): Promise<{ type: string; data: Record<string, unknown> }> {
  for (;;) {
    for (const { body } of receiver.received) {
      const { event } = await decrypt(body);
      if (event.metadata.verification_session_id === sessionId) return event;
    }
    await receiver.until(receiver.received.length + 1);
  }
}

test("the first browser that opens a session gets a code, and no other browser does", async () => {
  const { id, path } = await startVerification(partner.api, withRedirect);
  const shown = async () => expectData(await partner.api.get(`/v1/sessions/${id}`)).return_code_sha256;
  assert.equal(await shown(), null);
  const answers = await Promise.all([open(path), open(path, second.api), open(path), open(path, second.api)]);
  const codes = answers.filter((code) => code !== null);
  assert.equal(codes.length, 1);
  assert.match(codes[0] ?? "", /^[\w-]{43}$/);
  assert.equal(await open(path), null);
  assert.equal(await shown(), sha256(codes[0] ?? ""));
  assert.ok(!logLines.join("").includes(codes[0] ?? ""));
});

test("fetching the page or its data alone takes no code: a mail scanner leaves it to the person", async () => {
  const { id, path } = await startVerification(partner.api, withRedirect);
  assert.equal((await fetch(`${service.url}/verify/${id}`)).status, 200);
  expectData(await api.get(`${path}/details`));
  expectData(await api.get(`${path}/status`));
  assert.notEqual(await open(path), null);
});

test("a session without a redirect, one that has ended and one that has expired give no code", async () => {
  const { path } = await startVerification(partner.api);
  assert.equal(await open(path), null);
  const cancelled = await startVerification(partner.api, withRedirect);
  await partner.api.post(`/v1/sessions/${cancelled.id}/cancel`);
  assert.equal(await open(cancelled.path), null);
  const expired = await startVerification(partner.api, withRedirect);
  clock.advance(60 * minuteMs);
  assert.equal(await open(expired.path), null);
  expectError(await api.post(`/v1/verify/session/vs_${"a".repeat(64)}/open`), 404, "SESSION_NOT_FOUND");
});

test("each event that ends a session carries the hash of the code, and null where no browser has opened it", async () => {
  for (const opened of [true, false]) {
    const session = async () => {
      const { id, path } = await startVerification(partner.api, withRedirect);
      const code = opened ? await open(path) : null;
      return { id, path, hash: code === null ? null : sha256(code) };
    };
    const succeeded = await session();
    await succeed(core, succeeded.id, (await takeSession(api, succeeded.id)).attemptId);
    const failed = await session();
    await fail(core, failed.id, (await takeSession(api, failed.id)).attemptId);
    const cancelled = await session();
    await partner.api.post(`/v1/sessions/${cancelled.id}/cancel`);
    const expired = await session();
    clock.advance(60 * minuteMs);
    await expire();
    for (const [type, { id, hash }] of Object.entries({ succeeded, failed, cancelled, expired })) {
      const event = await eventOf(id);
      assert.equal(event.type, `verification.session.${type}`);
      assert.equal(event.data.return_code_sha256, hash, type);
    }
  }
});

test("with binding required, only the browser that opened the session may agree and read", async () => {
  const bound = { share_fields: shareFields, requirements: { binding: "required" } };
  const created = expectData(await partner.api.post("/v1/sessions", bound), 201);
  assert.deepEqual(created.requirements, {
    clone_detection: "preferred",
    revocation: "preferred",
    binding: "required",
  });
  const path = `/v1/verify/session/${created.id}`;
  // No browser has opened it, so no browser is the first one yet.
  expectError(await consentWith(path, "a-guess"), 403, "OTHER_BROWSER");
  const code = await open(path);
  assert.ok(code !== null);
  for (const guess of [undefined, "a-guess", code.toUpperCase()])
    expectError(await consentWith(path, guess), 403, "OTHER_BROWSER");
  expectData(await consentWith(path, code), 201);
  const { handoff_token: token } = expectData(await api.post(`${path}/handoff`), 201);
  const claim = (returnCode?: string) =>
    api.post(`${path}/claim`, {
      handoff_token: token,
      device_id: "phone",
      ...(returnCode === undefined ? {} : { return_code: returnCode }),
    });
  expectError(await claim(), 403, "OTHER_BROWSER");
  expectError(await claim("a-guess"), 403, "OTHER_BROWSER");
  // The refusals took nothing: the token is still good for the browser that opened the session.
  expectData(await claim(code), 201);
  // The code proves the browser only. Without a redirect there is nothing to compare.
  assert.equal(expectData(await partner.api.get(`/v1/sessions/${created.id}`)).return_code_sha256, null);
});

test("without the requirement any browser may agree, and a handoff needs no code", async () => {
  const { id, path } = await startVerification(partner.api, withRedirect);
  await open(path);
  await takeSession(api, id);
  assert.equal(expectData(await api.get(`${path}/status`)).status, "in_progress");
});

test("the guide's sample accepts the right code and nothing else", async () => {
  const guide = readFileSync(join(import.meta.dirname, "../../../../../docs/return-code.md"), "utf8");
  const [, sample] = /```ts\n([^`]*isSameBrowser[^`]*)```/.exec(guide) ?? [];
  assert.ok(sample);
  const folder = mkdtempSync(join(tmpdir(), "assay-sample-"));
  try {
    writeFileSync(join(folder, "sample.ts"), sample);
    const { isSameBrowser } = await import(join(folder, "sample.ts"));
    assert.equal(isSameBrowser("a-code", sha256("a-code")), true);
    for (const wrong of ["", "a-codes", "A-CODE", sha256("a-code")])
      assert.equal(isSameBrowser(wrong, sha256("a-code")), false);
    assert.equal(isSameBrowser("a-code", ""), false);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
