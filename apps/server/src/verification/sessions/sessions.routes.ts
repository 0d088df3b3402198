import * as contract from "@assay/contract/sessions";
import type { Core } from "../../platform/core.ts";
import { type Binding, bind } from "../../platform/http/mount.ts";
import { ApiError } from "../../platform/kernel/api-error.ts";
import { parsePage, viewPage } from "../../platform/kernel/page.ts";
import { parseCreated } from "../../platform/kernel/times.ts";
import { cancelByPartner } from "./cancel-by-partner.ts";
import { createSession } from "./create-session.ts";
import { OpenSessions } from "./open-sessions.ts";
import { countSessions, findSession, listAttempts, listSessions } from "./session.store.ts";
import { viewAttempt, viewConsent, viewSession, viewTimeline } from "./session.view.ts";
import { findSessionWithConsent } from "./session-consent.store.ts";

export function sessionRoutes(core: Core): Binding[] {
  const { db, clock, publicUrl } = core;
  const openSessions = new OpenSessions(core.config.organizationMaxOpenSessions);
  return [
    bind(contract.createSession, async ({ caller, body }) => {
      const { row, cancelToken } = await createSession(core, caller, body, openSessions);
      return { ...viewSession(row, row.createdAt, publicUrl()), cancel_token: cancelToken };
    }),

    bind(contract.listSessions, async ({ caller, query }) => {
      const now = clock.now();
      const filter = {
        status: query.status,
        ...parseCreated(query),
        clientReferenceId: query.client_reference_id,
        referencePrefix: query.client_reference_id_prefix,
        metadata: metadataEntry(query.metadata),
        ...parsePage(query),
      };
      return viewPage(listSessions(db, caller, filter, now), (row) => viewSession(row, now, publicUrl()));
    }),

    bind(contract.getSession, async ({ caller, params }) => {
      const row = await findSessionWithConsent(db, caller, params.id);
      if (row === null) throw new ApiError("SESSION_NOT_FOUND");
      return { ...viewSession(row, clock.now(), publicUrl()), consent: viewConsent(row) };
    }),

    bind(contract.cancelSession, ({ caller, params }) => cancelByPartner(core, caller, params.id)),

    bind(contract.listAttempts, async ({ caller, query }) => {
      const now = clock.now();
      const filter = {
        sessionId: query.session_id,
        status: query.status,
        ...parsePage(query),
      };
      return viewPage(listAttempts(db, caller, filter, now), (row) => viewAttempt(row, now));
    }),

    bind(contract.countSessions, ({ caller, query }) =>
      countSessions(db, caller, parseCreated(query), clock.now()),
    ),

    bind(contract.readTimeline, async ({ caller, params }) => {
      const row = await findSession(db, caller, params.id);
      if (row === null) throw new ApiError("SESSION_NOT_FOUND");
      return viewTimeline(row);
    }),
  ];
}

/** `key:value` as metadata with this one entry. */
function metadataEntry(asked: string | undefined): Record<string, string> | undefined {
  if (asked === undefined) return undefined;
  const colon = asked.indexOf(":");
  return { [asked.slice(0, colon)]: asked.slice(colon + 1) };
}
