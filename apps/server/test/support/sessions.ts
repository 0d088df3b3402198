import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { serialize } from "node:v8";
import type { AttemptId, OrganizationId, SessionId } from "@assay/contract/ids";
import type { CancelReason, FailureCode } from "@assay/contract/sessions";
import { parseMrzLines } from "@assay/emrtd/mrz/parse-mrz";
import { personActor } from "../../src/platform/audit/audit.store.ts";
import type { Core } from "../../src/platform/core.ts";
import type { Tx } from "../../src/platform/db/db.ts";
import { sql } from "../../src/platform/db/sql.ts";
import { knownId } from "../../src/platform/kernel/ids.ts";
import { recordTry } from "../../src/verification/attempts/record-try.ts";
import type { DocumentStep as Step } from "../../src/verification/evidence/document-chip/document-chip.ts";
import { judgedTryOf } from "../../src/verification/evidence/document-chip/judged-try.ts";
import type { ChipContent, ProvenChip } from "../../src/verification/evidence/document-chip/proof.ts";
import type { JudgedTry } from "../../src/verification/evidence/kinds.ts";
import type { TryVerdict } from "../../src/verification/evidence/verdict.ts";
import { cancelSession } from "../../src/verification/sessions/cancel-session.ts";
import { claimSession } from "../../src/verification/sessions/claim-session.ts";
import {
  findSessionOfPerson,
  lockSessionOfPerson,
  type SessionRow,
} from "../../src/verification/sessions/session.store.ts";
import { type Api, expectData } from "./api.ts";
import { specimenLines } from "./specimen-mrz.ts";

export function deviceHash(name: string): Buffer {
  return createHash("sha256").update(name).digest();
}

export async function createSession(api: Api, body?: Record<string, unknown>): Promise<SessionId> {
  return expectData(await api.post("/v1/sessions", body), 201).id;
}

/** What the verify flow does when a device takes the session. */
export function claim(core: Core, sessionId: string, device = "phone", mayTakeOver = false) {
  const now = core.clock.now();
  return core.db.transaction(async (tx) =>
    claimSession(tx, await held(tx, sessionId), { deviceHash: deviceHash(device), mayTakeOver, now }),
  );
}

async function held(tx: Tx, sessionId: string): Promise<SessionRow> {
  const session = await lockSessionOfPerson(tx, knownId(sessionId));
  assert.ok(session !== null, "there is no such session");
  return session;
}

/** What the verify flow does when the person aborts or withdraws. */
export function cancelAsPerson(core: Core, sessionId: string, reason: CancelReason) {
  const now = core.clock.now();
  return core.db.transaction(async (tx) =>
    cancelSession(core, tx, await held(tx, sessionId), { reason, actor: personActor, now }),
  );
}

export async function claimed(core: Core, sessionId: string, device = "phone"): Promise<AttemptId> {
  const result = await claim(core, sessionId, device);
  assert.ok(result.kind === "claimed", result.kind);
  return result.attemptId;
}

/** A verified chip whose holder is called CANARY. */
function canaryChip(now: Date): ProvenChip {
  const mrz = parseMrzLines(specimenLines({ primaryName: "CANARY" }), now);
  const content = serialize({ mrz } satisfies ChipContent);
  return { kind: "document_chip", content, level: "chip_genuine", revocation: "checked", warnings: [] };
}

async function record(core: Core, sessionId: string, attemptId: string, judged: JudgedTry) {
  // An existing organization, even if the session does not exist.
  const { organizationId, sandbox } = await core.db.one<{
    organizationId: OrganizationId;
    sandbox: boolean;
  }>(sql`
    select coalesce((select organization_id from sessions where id = ${sessionId}),
      (select id from organizations limit 1)) as organization_id,
      coalesce((select sandbox from sessions where id = ${sessionId}), true) as sandbox`);
  return recordTry(
    core,
    {
      sessionId: knownId(sessionId),
      attemptId: knownId(attemptId),
      organizationId,
      sandbox,
      selectedFieldKeys: ["family_name"],
    },
    judged,
  );
}

async function nextTry(core: Core, sessionId: string, step: Step): Promise<number> {
  const session = await findSessionOfPerson(core.db, knownId(sessionId));
  return 1 + (session?.steps[step]?.tries ?? 0);
}

/** The face passes after the chip, and the session with it. */
export async function succeed(
  core: Core,
  sessionId: string,
  attemptId: string,
  riskScore = 0.1,
  signs: readonly string[] = [],
) {
  const session = await findSessionOfPerson(core.db, knownId(sessionId));
  const triesOf = (step: Step) => session?.steps[step]?.tries ?? 0;
  if (session !== null && session.steps.chip?.passed_at === undefined)
    await passChip(core, sessionId, attemptId, 1 + triesOf("chip"));
  const number = 1 + triesOf("face");
  const verdict = { failureCode: null };
  return record(core, sessionId, attemptId, tryOf(core, "face", number, verdict, riskScore, signs));
}

/** A try as the flow would judge it, of the canary, with this score. */
function tryOf(
  core: Core,
  step: Step,
  number: number,
  verdict: TryVerdict,
  riskScore = 0,
  signs: readonly string[] = [],
): JudgedTry {
  const proven = canaryChip(core.clock.now());
  const face = { simulated: false, risk: 0, device: "unattested" as const, checks: [], signs };
  const judged = judgedTryOf({ step, number, verdict }, { chip: proven, proven, face, failedTries: 0 });
  return { ...judged, riskScore };
}

/** Every try that is left fails. */
export async function fail(
  core: Core,
  sessionId: string,
  attemptId: string,
  failureCode: FailureCode = "liveness_failed",
) {
  const step = failureCode === "liveness_failed" || failureCode === "selfie_face_mismatch" ? "face" : "chip";
  for (let number = await nextTry(core, sessionId, step); ; number++) {
    const recorded = await judge(core, sessionId, attemptId, step, number, failureCode);
    if (recorded.kind !== "counted") return recorded;
  }
}

export function passChip(core: Core, sessionId: string, attemptId: string, number: number) {
  const verdict = { failureCode: null };
  return record(core, sessionId, attemptId, tryOf(core, "chip", number, verdict));
}

export function judge(
  core: Core,
  sessionId: string,
  attemptId: string,
  step: Step,
  number: number,
  failureCode: FailureCode,
) {
  return record(core, sessionId, attemptId, tryOf(core, step, number, { failureCode }));
}

export async function eventsOf(core: Core, sessionId: string): Promise<string[]> {
  const rows = await core.db.rows<{ type: string }>(
    sql`select type from events where session_id = ${sessionId} order by id`,
  );
  return rows.map((row) => row.type);
}
