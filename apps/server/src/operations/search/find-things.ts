import type { DeliveryId, EndpointId, EventId } from "@assay/contract/ids";
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

type Search = { text: string; kind?: FoundKind };

/** The matches for a text that a member typed. Each kind is looked up by an index. */
export async function findThings(core: SearchCore, caller: TenantMember, search: Search): Promise<Found[]> {
  const found = await findAll(core, caller, search);
  return search.kind === undefined ? found : found.filter(({ kind }) => kind === search.kind);
}

async function findAll(core: SearchCore, caller: TenantMember, search: Search): Promise<Found[]> {
  const text = search.text.trim();
  if (text === "") return [];
  const limit = search.kind === undefined ? searchLimits.ofEachKind : searchLimits.ofOneKind;
  const prefix = /^([a-z]{2,3})_[A-Za-z0-9]*$/.exec(text)?.[1];
  switch (prefix) {
    case "vs":
      return findSessions(core, await findSessionsByPrefix(core.db, caller, text, limit));
    case "evt":
      return findOneEvent(core, caller, knownId(text));
    case "whd":
      return findOneDelivery(core, caller, knownId(text));
    case "whe":
      return findOneEndpoint(core, caller, knownId(text));
    case "req":
      return findOneRequest(core, caller, text);
    default:
      return [
        ...(await findByReference(core, caller, text, limit)),
        ...(await findMembers(core, caller, text, limit)),
      ];
  }
}

function findSessions({ clock }: SearchCore, rows: readonly SessionRow[]): Found[] {
  const now = clock.now();
  return rows.map((row) => ({
    kind: "session",
    id: row.id,
    title: row.clientReferenceId,
    detail: statusAt({ status: row.status, expiresAt: row.expiresAt }, now),
    created_at: row.createdAt.toISOString(),
  }));
}

/** Exact references first, then those that begin with it. */
async function findByReference(
  core: SearchCore,
  caller: TenantMember,
  text: string,
  limit: number,
): Promise<Found[]> {
  const filter = {
    status: undefined,
    createdFrom: undefined,
    createdTo: undefined,
    clientReferenceId: text,
    limit,
    startingAfter: undefined,
  };
  const { items } = await listSessions(core.db, caller, filter, core.clock.now());
  const known = new Set(items.map(({ id }) => id));
  const longer = await findSessionsOfBeginning(core.db, caller, text, limit);
  return findSessions(core, [...items, ...longer.filter(({ id }) => !known.has(id))].slice(0, limit));
}

async function findMembers(
  { db }: SearchCore,
  caller: TenantMember,
  text: string,
  limit: number,
): Promise<Found[]> {
  const members = await searchMembers(db, caller.organizationId, text, limit);
  return members.map((member) => ({
    kind: "member",
    id: member.id,
    title: member.name,
    detail: member.email,
    created_at: member.createdAt.toISOString(),
  }));
}

async function findOneEvent({ db }: SearchCore, caller: TenantMember, id: EventId): Promise<Found[]> {
  const row = await findEvent(db, caller, id);
  if (row === null) return [];
  return [{ kind: "event", id, title: null, detail: row.type, created_at: row.createdAt.toISOString() }];
}

async function findOneDelivery(core: SearchCore, caller: TenantMember, id: DeliveryId): Promise<Found[]> {
  const row = await findDelivery(core.db, caller, id, core.clock.now());
  if (row === null) return [];
  return [
    { kind: "delivery", id, title: null, detail: row.eventType, created_at: row.createdAt.toISOString() },
  ];
}

async function findOneEndpoint({ db }: SearchCore, caller: TenantMember, id: EndpointId): Promise<Found[]> {
  const row = await findEndpoint(db, caller, id);
  if (row === null) return [];
  const createdAt = row.createdAt.toISOString();
  return [{ kind: "webhook_endpoint", id, title: row.name, detail: null, created_at: createdAt }];
}

async function findOneRequest({ db }: SearchCore, caller: TenantMember, requestId: string): Promise<Found[]> {
  const { items } = await listRequests(db, caller, { requestId, limit: 1 });
  return items.map((row) => ({
    kind: "api_request",
    id: row.requestId,
    title: null,
    detail: `${row.method} ${row.path} ${row.status}`,
    created_at: row.createdAt.toISOString(),
  }));
}
