import { createHmac } from "node:crypto";
import { sql } from "../../apps/server/src/platform/db/sql.ts";
import { openDatabase } from "./database.ts";
import { newOwner } from "./new-partner.ts";

/** An organization with two keys: one known to the service, and one that only the bare server can look up. */
export async function newTwoKeys(
  url: string,
  databaseUrl: string,
): Promise<{ readonly assay: string; readonly bare: string }> {
  const { send } = await newOwner(url, { name: "Bench", slug: "bench" });
  const scopes = ["sessions:read", "sessions:write"];
  const own = await send("/v1/auth/api-keys", { name: "assay", scopes });
  const other = await send("/v1/auth/api-keys", { name: "bare", scopes });
  const db = openDatabase(databaseUrl);
  const hash = createHmac("sha256", "bare")
    .update(other.key ?? "")
    .digest();
  await db.run(sql`update api_keys set secret_hash = ${hash} where id = ${other.id}`);
  await db.close();
  return { assay: own.key ?? "", bare: other.key ?? "" };
}
