import type { RequirementName } from "@assay/contract/facts";
import type { AttemptId, SessionId } from "@assay/contract/ids";
import type { FailureCode } from "@assay/contract/sessions";
import type { Queryable } from "../../platform/db/db.ts";
import { sql } from "../../platform/db/sql.ts";
import { later } from "../../platform/kernel/clock.ts";
import { ofSession, type SessionRow, sessionColumns } from "../sessions/session.store.ts";
import { inFlightMs } from "../sessions/session.ts";

export type StatusRow = SessionRow & {
  consentGiven: boolean;
  attempt: {
    id: AttemptId;
    step: string | null;
    heard_recently: boolean;
    refused: { failure_code: FailureCode; unmet_requirement: RequirementName | null } | null;
  } | null;
};

/** One statement, because it runs at every change of every watched session. */
export function findStatus(db: Queryable, sessionId: SessionId, now: Date): Promise<StatusRow | null> {
  return db.first<StatusRow>(sql`
    select ${sessionColumns},
      exists (select from consents c where c.session_id = ${sessionId}) as consent_given,
      (select json_build_object('id', a.id, 'step', k.step,
          'heard_recently', coalesce(a.last_seen_at > ${later(now, -inFlightMs)}, false),
          'refused', case when k.failure_code is not null
            then json_build_object('failure_code', k.failure_code, 'unmet_requirement', k.unmet_requirement) end)
        from attempts a left join attempt_sockets k on k.attempt_id = a.id
        where ${ofSession(sessionId, sql`a.`)} and a.status = 'in_progress') as attempt
    from sessions where id = ${sessionId}`);
}
