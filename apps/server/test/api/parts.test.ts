import assert from "node:assert/strict";
import test from "node:test";
import type { OrganizationId } from "@assay/contract/ids";
import type pg from "pg";
import type { Queryable } from "../../src/db/db.ts";
import { endOf } from "../../src/db/parts.ts";
import { divideTable, listParts } from "../../src/db/parts.store.ts";
import { Sql, sql } from "../../src/db/sql.ts";
import { dayMs, hourMs, later, minuteMs } from "../../src/kernel/clock.ts";
import { newId, newUuid } from "../../src/kernel/ids.ts";
import { growingTable, growingTables } from "../../src/retention/divided-tables.store.ts";
import { keepParts } from "../../src/retention/keep-parts.job.ts";
import { createPartner, expectData } from "../support/api.ts";
import { createSession } from "../support/sessions.ts";
import { startTestService } from "../support/service.ts";

const { api, clock, core } = await startTestService({ config: { databaseParts: "all" } });
const { db } = core;
const partner = await createPartner(api);

/** Everything that a table holds, as one text. */
async function contents(table: string): Promise<string> {
  const { rows } = await db.one<{ rows: string }>(
    sql`select coalesce(json_agg(t order by t::text), '[]')::text as rows from ${new Sql([table], [])} t`,
  );
  return rows;
}

test("a process that dies anywhere while it divides a table leaves one that takes rows, and another goes on", async () => {
  await createSession(partner.api);
  const table = growingTable("sessions");
  const before = await contents("sessions");
  let statements = 0;
  for (let dies = 1; ; dies++) {
    const outcome = await db
      .withConnection(async (client) => {
        statements = 0;
        const dying = new Proxy(client, {
          get: (target, name) =>
            name !== "query"
              ? Reflect.get(target, name)
              : async (...query: unknown[]) => {
                  statements += 1;
                  // The connection goes with the process; nothing is undone by hand.
                  if (statements >= dies) throw new Error("killed");
                  return Reflect.apply(target.query, target, query);
                },
        });
        await divideTable(dying as pg.PoolClient, table, table.alsoInParts, clock.now(), 10_000);
        return "divided" as const;
      })
      .catch((error: Error) => error.message);
    assert.equal(await contents("sessions"), before, `killed at statement ${dies}`);
    if (outcome === "divided") break;
    assert.equal(outcome, "killed");
  }
  assert.ok(statements > 30);
  await createSession(partner.api);
});
