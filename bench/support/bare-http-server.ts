import { createHash } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import pg from "pg";
import { newUuid } from "../../apps/server/src/kernel/ids.ts";
import { announce } from "./server-process.ts";

/**
 * The ceiling: node:http, the driver and the statements that the service sends for the same two requests, written out by
 * hand. No routing, validation, envelope, headers, logs or metrics.
 */
const pool = new pg.Pool({
  connectionString: process.env.DATABASE_URL,
  max: Number(process.env.DATABASE_POOL_SIZE),
});

const findOwner = `
    select s.id, s.user_id, s.last_seen_at, u.name, u.email, m.organization_id, m.role, o.environment,
      o.pending_deletion_at is not null as frozen
    from user_sessions s
    join users u on u.id = s.user_id
    left join lateral (
      select organization_id, role from memberships m
      where m.user_id = s.user_id
        and (m.organization_id = s.active_organization_id
          or (select count(*) from memberships c where c.user_id = s.user_id) = 1)
      limit 1) m on true
    left join organizations o on o.id = m.organization_id
    where s.token_hash = $1 and s.expires_at > $2`;
const listAudit = `
        select id, event, actor_kind, actor_id, target_id, details, created_at from audit_logs
        where organization_id = $1 order by id::text collate by_organization desc limit $2`;
const insertKey = `
    insert into api_keys (id, organization_id, sandbox, name, scopes, secret_hash, hash_key_id, created_at, updated_at)
    values ($1, $2, true, $3, $4, $5, $6, $7, $8)
    returning id, name, scopes, enabled, request_count, last_used_at, created_at, updated_at`;
const insertAudit = `
    insert into audit_logs (id, organization_id, event, actor_kind, actor_id, target_id, details, created_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8)`;

async function readBody(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request) text += chunk;
  return text;
}

const server = createServer(async (request, response) => {
  const token = (request.headers.authorization ?? "").slice("Bearer ".length);
  const tokenHash = createHash("sha256").update(token).digest();
  const owner = (await pool.query({ name: "owner", text: findOwner, values: [tokenHash, new Date()] }))
    .rows[0];
  if (request.method === "GET") {
    const { rows } = await pool.query({ name: "audit", text: listAudit, values: [owner.organization_id, 2] });
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ data: rows.slice(0, 1), error: null }));
    return;
  }
  const body = JSON.parse(await readBody(request));
  const now = new Date();
  const id = newUuid(now);
  const client = await pool.connect();
  await client.query("begin");
  const secretHash = createHash("sha256").update(id).digest();
  const created = await client.query({
    name: "key",
    text: insertKey,
    values: [id, owner.organization_id, body.name, body.scopes, secretHash, "1", now, now],
  });
  const details = JSON.stringify({ name: body.name, scopes: body.scopes });
  await client.query({
    name: "entry",
    text: insertAudit,
    values: [newUuid(now), owner.organization_id, "api_key.created", "user", owner.user_id, id, details, now],
  });
  await client.query("commit");
  client.release();
  response.writeHead(201, { "content-type": "application/json" });
  response.end(JSON.stringify({ data: created.rows[0], error: null }));
});
process.on("SIGTERM", () => process.exit());
server.listen(0, "127.0.0.1", () => announce(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
