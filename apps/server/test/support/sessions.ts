import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import type { FailureCode } from "@assay/contract/sessions";
import type { Core } from "../../src/core.ts";
import { sql } from "../../src/db/sql.ts";
import { claimSession } from "../../src/sessions/claim-session.ts";
import { finishSession } from "../../src/sessions/finish-session.ts";
import { useTry } from "../../src/sessions/use-try.ts";
import { type Api, expectData } from "./api.ts";

export function deviceHash(name: string): Buffer {
  return createHash("sha256").update(name).digest();
}

export async function createSession(api: Api, body?: Record<string, unknown>): Promise<string> {
  return expectData(await api.post("/v1/sessions", body), 201).id;
}

/** What the verify flow does when a device takes the session. */
export function claim(core: Core, sessionId: string, device = "phone", mayTakeOver = false) {
  const now = core.clock.now();
  return core.db.transaction((tx) =>
    claimSession(tx, { sessionId, deviceHash: deviceHash(device), mayTakeOver, now }),
  );
}

export async function claimed(core: Core, sessionId: string, device = "phone"): Promise<string> {
  const result = await claim(core, sessionId, device);
  assert.equal(result.result, "claimed");
  return result.result === "claimed" ? result.attemptId : "";
}

export function succeed(core: Core, sessionId: string, attemptId: string, riskScore = 0.1) {
  const now = core.clock.now();
  const data = { claims: { family_name: "CANARY" }, selected_field_keys: ["family_name"] };
  return core.db.transaction((tx) =>
    finishSession(core, tx, {
      sessionId,
      attemptId,
      outcome: { status: "succeeded", data, riskScore },
      now,
    }),
  );
}

export function fail(
  core: Core,
  sessionId: string,
  attemptId: string,
  failureCode: FailureCode = "liveness_failed",
) {
  const now = core.clock.now();
  return core.db.transaction((tx) =>
    finishSession(core, tx, {
      sessionId,
      attemptId,
      outcome: { status: "failed", failureCode, riskScore: null },
      now,
    }),
  );
}

export function judge(
  core: Core,
  sessionId: string,
  attemptId: string,
  kind: "nfc" | "liveness",
  number: number,
  failureCode: FailureCode | null,
) {
  const now = core.clock.now();
  return core.db.transaction((tx) =>
    useTry(core, tx, { sessionId, attemptId, kind, number, failureCode, now }),
  );
}

export async function eventsOf(core: Core, sessionId: string): Promise<string[]> {
  const rows = await core.db.rows<{ type: string }>(
    sql`select type from events where session_id = ${sessionId} order by id`,
  );
  return rows.map((row) => row.type);
}
