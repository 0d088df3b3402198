import assert from "node:assert/strict";
import { createHash, createHmac } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import pg from "pg";
import { newId, newToken, newUuid } from "../../apps/server/src/platform/kernel/ids.ts";
import { findKeyOwner } from "../../apps/server/src/tenants/api-keys/api-key.store.ts";
import { insertSession } from "../../apps/server/src/verification/sessions/session.store.ts";
import { findSessionWithConsent } from "../../apps/server/src/verification/sessions/session-consent.store.ts";
import { announce } from "./server-process.ts";
import { statementOf } from "./statement-of.ts";

/**
 * The baseline: node:http, the driver and the service's statements to create and read a session, with their
 * values written by hand. No routing, validation, envelope, headers, logs or metrics.
 */
const pool = new pg.Pool({
  connectionString: process.env.DATABASE_URL,
  max: Number(process.env.DATABASE_POOL_SIZE ?? 10),
});
const publicUrl = "http://127.0.0.1:1";

const [bytes, organizationId] = [Buffer.alloc(1), "organization" as never];
const findOwner = statementOf((db) => findKeyOwner(db, [bytes]));
assert.deepEqual(findOwner.values, [bytes]);
const tenant = { organizationId, environment: "sandbox" } as const;
const findSession = statementOf((db) => findSessionWithConsent(db, tenant, "vs" as never));
assert.deepEqual(findSession.values, ["vs", organizationId, true]);
const now = new Date(0);
const insert = statementOf((db) =>
  insertSession(
    db,
    {
      id: "vs" as never,
      organizationId,
      methods: ["document_chip"],
      contractVersion: 1,
      shareFields: {},
      requirements: {} as never,
      locale: null,
      redirectUrl: null,
      templateId: null,
      embedOrigin: null,
      webhookEndpointId: null,
      clientReferenceId: "reference",
      metadata: {},
      sandbox: true,
      cancelTokenHash: bytes,
      expiresAt: now,
      now,
    },
    { organizationId, event: "session.created", actor: { kind: "key", id: "key" } } as never,
    { limit: 100_000, countUpTo: 0 },
  ),
);

async function readBody(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request) text += chunk;
  return text;
}

function show(row: Record<string, unknown>) {
  const { organization_id, selected_field_keys, given_at, withdrawn_at, ...shown } = row;
  return {
    ...shown,
    redirect_url: row.redirect_url ?? `${publicUrl}/verify/${row.id}/complete`,
    verification_url: `${publicUrl}/verify/${row.id}`,
    consent: given_at === null ? null : { selected_field_keys, given_at, withdrawn_at },
  };
}

type Asked = { share_fields?: unknown; client_reference_id?: unknown; metadata?: unknown };

function insertValues(owner: Record<string, unknown>, id: string, tokenHash: Buffer, body: Asked): unknown[] {
  const at = new Date();
  const audit = [
    at,
    [newUuid(at)],
    [owner.organization_id],
    [true],
    ["session.created"],
    ["key"],
    [owner.id],
    [id],
    ["{}"],
  ];
  // Nothing is counted, as in nearly every creation on a busy service.
  const living = (status: string) => [owner.organization_id, true, status, "vs", 0];
  return [
    ...living("created"),
    ...living("in_progress"),
    id,
    owner.organization_id,
    null,
    1,
    JSON.stringify(body.share_fields ?? {}),
    "{}",
    null,
    null,
    null,
    null,
    body.client_reference_id,
    JSON.stringify(body.metadata ?? {}),
    true,
    tokenHash,
    new Date(at.getTime() + 3_600_000),
    at,
    at,
    100_000,
    ...audit,
  ];
}
assert.equal(insert.values.length, insertValues({}, "", bytes, {}).length);

const server = createServer(async (request, response) => {
  const key = (request.headers.authorization ?? "").slice("Bearer ".length);
  // The benchmark stores the key under this hash for the bare server beside the service's own.
  const hash = createHmac("sha256", "bare").update(key).digest();
  const owner = (await pool.query({ name: "owner", text: findOwner.text, values: [hash] })).rows[0];
  if (request.method === "GET") {
    const id = (request.url ?? "").slice("/v1/sessions/".length);
    const values = [id, owner.organization_id, true];
    const { rows } = await pool.query({ name: "session", text: findSession.text, values });
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ data: show(rows[0]), error: null }));
    return;
  }
  const body = JSON.parse(await readBody(request));
  const cancelToken = newToken();
  const tokenHash = createHash("sha256").update(cancelToken).digest();
  const values = insertValues(owner, newId("vs", new Date()), tokenHash, body);
  const { rows } = await pool.query({ name: "insert", text: insert.text, values });
  response.writeHead(201, { "content-type": "application/json" });
  response.end(JSON.stringify({ data: { ...show(rows[0]), cancel_token: cancelToken }, error: null }));
});
process.on("SIGTERM", () => process.exit());
server.listen(0, "127.0.0.1", () => announce(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
