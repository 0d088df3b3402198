import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after } from "node:test";
import { createTestDatabase } from "../../support/database.ts";
import { startAssay } from "../../support/process.ts";
import { testRing } from "../../support/test-ring.ts";

const dataDir = mkdtempSync(join(tmpdir(), "assay-test-"));
after(() => rmSync(dataDir, { recursive: true, force: true }));

// A separate process, so that a busy service cannot keep this test from noticing.
const { url } = await startAssay({
  DATA_DIR: dataDir,
  DATABASE_URL: (await createTestDatabase()).url,
  SECRET_KEYS: testRing,
});

const account = { name: "Ada", email: "ada@example.com", password: "correct horse battery" };
/** Nearly as much as a route without credentials takes. */
const room = 15 * 1024;

/** The refusal of a sign-up, which needs no credentials. Others must be answered before the deadline. */
async function refusal(body: unknown): Promise<string> {
  const signal = AbortSignal.timeout(30_000);
  const headers = { "content-type": "application/json" };
  const sent = fetch(`${url}/v1/auth/sign-up/email`, {
    ...{ method: "POST", headers, signal },
    body: JSON.stringify(body),
  });
  const [answer, health] = await Promise.all([sent, fetch(`${url}/healthz`, { signal })]);
  assert.equal(health.status, 200);
  assert.equal(answer.status, 400);
  const { error } = (await answer.json()) as { error: { code: string; message: string } };
  assert.equal(error.code, "BAD_REQUEST");
  return error.message;
}

test("a text as large as a body may be is refused by its size, whatever it holds, and delays no other request", async () => {
  for (const name of [`${"a".repeat(room)}\u0001`, `${" ".repeat(room)}\u0001`, "\u0001".repeat(room / 6)])
    assert.equal(await refusal({ ...account, name }), "`name` must have at most 120 characters.");
  const email = `a@${"b.".repeat(room / 2)}`;
  assert.equal(await refusal({ ...account, email }), "`email` must have at most 254 characters.");
});

test("an unknown field is named, however many there are, and before a text that is too long", async () => {
  const many = Object.fromEntries(Array.from({ length: 750 }, (_, index) => [`field_${index}`, index]));
  assert.equal(await refusal(many), "`field_0` is not a field of this request.");
  assert.equal(
    await refusal({ ...account, name: "a".repeat(room), colour: "red" }),
    "`colour` is not a field of this request.",
  );
});

test("a public route takes no body over 16 KiB, and does not read it to say so", async () => {
  const send = (bytes: number) =>
    fetch(`${url}/v1/auth/sign-up/email`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify("x".repeat(bytes - 2)),
      signal: AbortSignal.timeout(30_000),
    });
  assert.equal((await send(16 * 1024)).status, 400);
  const answer = await send(16 * 1024 + 1);
  assert.equal(answer.status, 413);
  const { error } = (await answer.json()) as { error: { code: string; message: string } };
  assert.equal(`${error.code} ${error.message}`, "PAYLOAD_TOO_LARGE The request body is larger than 16 KiB.");
});
