import { createHash, createHmac } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import pg from "pg";
import { newId, newToken, newUuid } from "../../apps/server/src/kernel/ids.ts";
import { announce } from "./server-process.ts";

/**
 * The ceiling: node:http, the driver and the statements that the service sends to create and to read a session, written
 * out by hand. No routing, validation, envelope, headers, logs or metrics.
 */
const pool = new pg.Pool({
  connectionString: process.env.DATABASE_URL,
  max: Number(process.env.DATABASE_POOL_SIZE),
});
const publicUrl = "http://127.0.0.1:1";

const findOwner = `
    select k.id, k.organization_id, k.scopes, k.enabled, k.secret_hash, o.environment,
      o.pending_deletion_at is not null as frozen
    from api_keys k join organizations o on o.id = k.organization_id
    where k.secret_hash = any($1::bytea[])`;
const columns = `id, organization_id, status, failure_code, nfc_tries_used, liveness_tries_used, contract_version,
  share_fields, redirect_url, webhook_endpoint_id, client_reference_id, metadata, sandbox, expires_at, completed_at,
  created_at, updated_at`;
const findSession = `select ${columns} from sessions where id = $1 and organization_id = $2`;
const insertSession = `
    insert into sessions (id, organization_id, status, contract_version, share_fields, redirect_url,
      webhook_endpoint_id, client_reference_id, metadata, sandbox, cancel_token_hash, expires_at, created_at, updated_at)
    values ($1, $2, 'created', $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
    returning ${columns}`;
const insertAudit = `
    insert into audit_logs (id, organization_id, event, actor_kind, actor_id, target_id, details, created_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8)`;

async function readBody(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request) text += chunk;
  return text;
}

function show(row: Record<string, unknown>) {
  const { organization_id, ...shown } = row;
  return {
    ...shown,
    redirect_url: row.redirect_url ?? `${publicUrl}/verify/${row.id}/complete`,
    verification_url: `${publicUrl}/verify/${row.id}`,
  };
}

const server = createServer(async (request, response) => {
  const key = (request.headers.authorization ?? "").slice("Bearer ".length);
  // The benchmark stores the key under this hash for the bare server beside the service's own.
  const hash = createHmac("sha256", "bare").update(key).digest();
  const owner = (await pool.query({ name: "owner", text: findOwner, values: [[hash]] })).rows[0];
  if (request.method === "GET") {
    const id = (request.url ?? "").slice("/v1/sessions/".length);
    const { rows } = await pool.query({
      name: "session",
      text: findSession,
      values: [id, owner.organization_id],
    });
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ data: show(rows[0]), error: null }));
    return;
  }
  const body = JSON.parse(await readBody(request));
  const now = new Date();
  const id = newId("vs", now);
  const cancelToken = newToken();
  const client = await pool.connect();
  await client.query("begin");
  const created = await client.query({
    name: "insert",
    text: insertSession,
    values: [
      id,
      owner.organization_id,
      1,
      JSON.stringify(body.share_fields),
      null,
      null,
      body.client_reference_id,
      JSON.stringify(body.metadata),
      true,
      createHash("sha256").update(cancelToken).digest(),
      new Date(now.getTime() + 3_600_000),
      now,
      now,
    ],
  });
  await client.query({
    name: "entry",
    text: insertAudit,
    values: [newUuid(now), owner.organization_id, "session.created", "key", owner.id, id, "{}", now],
  });
  await client.query("commit");
  client.release();
  response.writeHead(201, { "content-type": "application/json" });
  response.end(
    JSON.stringify({ data: { ...show(created.rows[0]), cancel_token: cancelToken }, error: null }),
  );
});
process.on("SIGTERM", () => process.exit());
server.listen(0, "127.0.0.1", () => announce(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
