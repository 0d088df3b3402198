import { type FoundKind, type FoundThing, searchLimits } from "@assay/contract/search";
import type { Static } from "typebox";
import { findDelivery } from "../../delivery/webhooks/delivery.store.ts";
import { findEndpoint } from "../../delivery/webhooks/endpoint.store.ts";
import { findEvent } from "../../delivery/webhooks/event.store.ts";
import type { Queryable } from "../../platform/db/db.ts";
import type { TenantMember } from "../../platform/kernel/caller.ts";
import type { Clock } from "../../platform/kernel/clock.ts";
import { knownId } from "../../platform/kernel/ids.ts";
import { listRequests } from "../../tenants/api-keys/api-request.store.ts";
import { searchMembers } from "../../tenants/organizations/member.store.ts";
import {
  findSessionsByPrefix,
  findSessionsOfBeginning,
  listSessions,
  type SessionRow,
} from "../../verification/sessions/session.store.ts";
import { statusAt } from "../../verification/sessions/session.ts";

type Found = Static<typeof FoundThing>;
type SearchCore = { db: Queryable; clock: Clock };
/** What differs between kinds; every row has an id and the time of its creation. */
type Shown = Omit<Found, "created_at" | "id"> & { id?: string };

type Search = { text: string; kind?: FoundKind };

/** The matches for a text that a member typed. Each kind is looked up by an index. */
export async function findThings(core: SearchCore, caller: TenantMember, search: Search): Promise<Found[]> {
  const found = await findAll(core, caller, search);
  return search.kind === undefined ? found : found.filter(({ kind }) => kind === search.kind);
}

async function findAll(core: SearchCore, caller: TenantMember, search: Search): Promise<Found[]> {
  const { db } = core;
  const now = core.clock.now();
  const text = search.text.trim();
  if (text === "") return [];
  const limit = search.kind === undefined ? searchLimits.ofEachKind : searchLimits.ofOneKind;
  const prefix = /^([a-z]{2,3})_[A-Za-z0-9]*$/.exec(text)?.[1];
  switch (prefix) {
    case "vs":
      return showSessions(await findSessionsByPrefix(db, caller, text, limit), now);
    case "evt":
      return show([await findEvent(db, caller, knownId(text))], ({ type }) => ({
        kind: "event",
        title: null,
        detail: type,
      }));
    case "whd":
      return show([await findDelivery(db, caller, knownId(text), now)], ({ eventType }) => ({
        kind: "delivery",
        title: null,
        detail: eventType,
      }));
    case "whe":
      return show([await findEndpoint(db, caller, knownId(text))], ({ name }) => ({
        kind: "webhook_endpoint",
        title: name,
        detail: null,
      }));
    case "req":
      return show((await listRequests(db, caller, { requestId: text, limit: 1 })).items, (row) => ({
        kind: "api_request",
        id: row.requestId,
        title: null,
        detail: `${row.method} ${row.path} ${row.status}`,
      }));
    default:
      return [
        ...showSessions(await findByReference(core, caller, text, limit), now),
        ...show(await searchMembers(db, caller.organizationId, text, limit), ({ name, email }) => ({
          kind: "member",
          title: name,
          detail: email,
        })),
      ];
  }
}

function show<Row extends { id: string; createdAt: Date }>(
  rows: readonly (Row | null)[],
  showOne: (row: Row) => Shown,
): Found[] {
  return rows
    .filter((row) => row !== null)
    .map((row) => ({ id: row.id, ...showOne(row), created_at: row.createdAt.toISOString() }));
}

function showSessions(rows: readonly SessionRow[], now: Date): Found[] {
  return show(rows, (row) => ({
    kind: "session",
    title: row.clientReferenceId,
    detail: statusAt(row, now),
  }));
}

/** Exact references first, then those that begin with it. */
async function findByReference(
  { db, clock }: SearchCore,
  caller: TenantMember,
  text: string,
  limit: number,
): Promise<SessionRow[]> {
  const { items } = await listSessions(db, caller, { clientReferenceId: text, limit }, clock.now());
  const known = new Set(items.map(({ id }) => id));
  const longer = await findSessionsOfBeginning(db, caller, text, limit);
  return [...items, ...longer.filter(({ id }) => !known.has(id))].slice(0, limit);
}
