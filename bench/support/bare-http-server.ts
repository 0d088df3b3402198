import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import pg from "pg";
import { findSessionOwner } from "../../apps/server/src/accounts/user.store.ts";
import { listAuditLogs } from "../../apps/server/src/audit/audit.store.ts";
import { announce } from "./server-process.ts";
import { statementOf } from "./statement-of.ts";

/**
 * The ceiling: node:http, the driver and the statements that the service sends for the same request, with their values written out by
 * hand. No routing, validation, envelope, headers, logs or metrics.
 */
const pool = new pg.Pool({
  connectionString: process.env.DATABASE_URL,
  max: Number(process.env.DATABASE_POOL_SIZE),
});

const [bytes, time, id] = [Buffer.alloc(1), new Date(0), "id" as never];
const findOwner = statementOf((db) => findSessionOwner(db, bytes, time));
assert.deepEqual(findOwner.values, [bytes, time]);
const listAudit = statementOf((db) => listAuditLogs(db, id, { limit: 1 }));
assert.deepEqual(listAudit.values, [id, 2, 2]);

const server = createServer(async (request, response) => {
  const token = (request.headers.authorization ?? "").slice("Bearer ".length);
  const tokenHash = createHash("sha256").update(token).digest();
  const { rows: owners } = await pool.query({
    name: "owner",
    text: findOwner.text,
    values: [tokenHash, new Date()],
  });
  const { rows } = await pool.query({
    name: "audit",
    text: listAudit.text,
    values: [owners[0].organization_id, 2, 2],
  });
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify({ data: rows.slice(0, 1), error: null }));
});
process.on("SIGTERM", () => process.exit());
server.listen(0, "127.0.0.1", () => announce(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
