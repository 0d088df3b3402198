import { createHash, createHmac } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import pg from "pg";
import { newId, newToken } from "../../apps/server/src/platform/kernel/ids.ts";
import { announce } from "./server-process.ts";
import { findOwner, findSession, insert, insertValues } from "./session-statements.ts";

/**
 * The baseline: node:http, the driver and the service's statements to create and read a session, with their
 * values written by hand. No routing, validation, envelope, headers, logs or metrics.
 */
const pool = new pg.Pool({
  connectionString: process.env.DATABASE_URL,
  max: Number(process.env.DATABASE_POOL_SIZE ?? 10),
});
const publicUrl = "http://127.0.0.1:1";

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
