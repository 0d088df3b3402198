import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import test from "node:test";
import type { Input } from "@assay/contract/client";
import type {
  ApiKeyId,
  AttemptId,
  DeliveryId,
  EndpointId,
  EventId,
  OrganizationId,
  SessionId,
  UserId,
} from "@assay/contract/ids";
import type { ParamsOf } from "@assay/contract/route";
import { Uuid, UuidOf } from "@assay/contract/schema";
import type { getSession } from "@assay/contract/sessions";
import { findDelivery } from "../../src/delivery/webhooks/delivery.store.ts";
import { findEndpoint } from "../../src/delivery/webhooks/endpoint.store.ts";
import { findEvent } from "../../src/delivery/webhooks/event.store.ts";
import type { Tx } from "../../src/platform/db/db.ts";
import type { MemberCaller, Tenant, TenantMember } from "../../src/platform/kernel/caller.ts";
import { newId, newUuid } from "../../src/platform/kernel/ids.ts";
import { findMembership, findUserById, removeUserSession } from "../../src/tenants/accounts/user.store.ts";
import { deleteApiKey } from "../../src/tenants/api-keys/api-key.store.ts";
import { findChallenge } from "../../src/tenants/domains/domain.store.ts";
import { findMember } from "../../src/tenants/organizations/member.store.ts";
import { lockOrganization } from "../../src/tenants/organizations/organization.store.ts";
import {
  findSession,
  heldSession,
  insertAttempt,
  lockSessionOfPerson,
  touchAttempt,
} from "../../src/verification/sessions/session.store.ts";

type Ids = {
  organizationId: OrganizationId;
  tenant: Tenant;
  member: MemberCaller;
  sessionId: SessionId;
  attemptId: AttemptId;
  deliveryId: DeliveryId;
  endpointId: EndpointId;
  eventId: EventId;
  userId: UserId;
  keyId: ApiKeyId;
};

/**
 * Never called: the compiler reads it. `@ts-expect-error` is an error if the line below it compiles. So the
 * type check fails as soon as one of these mistakes is possible.
 */
export function mistakesThatDoNotCompile(
  tx: Tx,
  caller: TenantMember,
  ids: Ids,
  text: string,
  now: Date,
): void {
  const {
    organizationId,
    tenant,
    member,
    sessionId,
    attemptId,
    deliveryId,
    endpointId,
    eventId,
    userId,
    keyId,
  } = ids;

  // What is meant compiles.
  void findSession(tx, tenant, sessionId);
  void heldSession(caller, sessionId);
  void lockSessionOfPerson(tx, sessionId);
  void findDelivery(tx, tenant, deliveryId, now);
  void findEndpoint(tx, tenant, endpointId);
  void findEvent(tx, tenant, eventId);
  void findMembership(tx, organizationId, userId);
  void deleteApiKey(tx, tenant, keyId);
  void touchAttempt(tx, attemptId, now);

  // Organization and noun, swapped.
  // @ts-expect-error
  void findSession(tx, sessionId, tenant);
  // @ts-expect-error
  void heldSession(sessionId, tenant);
  // @ts-expect-error
  void findDelivery(tx, deliveryId, tenant, now);
  // @ts-expect-error
  void findEndpoint(tx, endpointId, tenant);
  // @ts-expect-error
  void findEvent(tx, eventId, tenant);
  // @ts-expect-error
  void findMembership(tx, userId, organizationId);
  // @ts-expect-error
  void deleteApiKey(tx, keyId, tenant);

  // The organization left out.
  // @ts-expect-error
  void heldSession(null, sessionId);
  // @ts-expect-error
  void heldSession(sessionId);

  // Another noun's id.
  // @ts-expect-error
  void findSession(tx, userId, sessionId);
  // @ts-expect-error
  void findSession(tx, tenant, attemptId);
  // @ts-expect-error
  void lockSessionOfPerson(tx, attemptId);
  // @ts-expect-error
  void lockOrganization(tx, caller.userId);
  // @ts-expect-error
  void findUserById(tx, caller.organizationId);
  // @ts-expect-error
  void findDelivery(tx, tenant, eventId, now);
  // @ts-expect-error
  void touchAttempt(tx, sessionId, now);
  // @ts-expect-error
  void findMember(tx, organizationId, { id: userId });
  // @ts-expect-error
  void removeUserSession(tx, caller.userSessionId, caller.userId);
  // @ts-expect-error
  void findChallenge(tx, organizationId, keyId);
  const attempt = { deviceHash: Buffer.alloc(32), sessionExpiresAt: now, now };
  // @ts-expect-error
  void insertAttempt(tx, { ...attempt, id: attemptId, sessionId: attemptId, organizationId });
  // @ts-expect-error
  void findSession(tx, tenant, newId("va", now));
  // @ts-expect-error
  void findSession(tx, tenant, newUuid(now));

  // Text from outside that no contract has looked at.
  // @ts-expect-error
  void findSession(tx, tenant, text);
  // @ts-expect-error
  void findSession(tx, text, sessionId);
  // An organization without an environment: what it has in the other one would be found too.
  // @ts-expect-error
  void findSession(tx, { organizationId }, sessionId);
  // @ts-expect-error
  void findSession(tx, member, sessionId);
  // @ts-expect-error
  void lockOrganization(tx, text);

  // A validated request carries ids; a client may send plain text.
  const validated = (params: ParamsOf<typeof getSession>) => findSession(tx, tenant, params.id);
  void validated({ id: sessionId });
  // @ts-expect-error
  void validated({ id: text });
  const sent: Input<typeof getSession> = { params: { id: text } };
  void sent;
}

test("a typed UUID has the schema of every other UUID", () => {
  assert.equal(JSON.stringify(UuidOf<OrganizationId>()), JSON.stringify(Uuid));
});

const root = new URL("../../src/", import.meta.url).pathname;
const sources = globSync("**/*.ts", { cwd: root })
  .filter((path) => !path.endsWith(".test.ts"))
  .map((path) => ({ path, text: readFileSync(root + path, "utf8") }));

test("a store function that takes the organization, or the tenant, takes it first, right after the connection", () => {
  let seen = 0;
  for (const { path, text } of sources.filter((source) => source.path.endsWith(".store.ts"))) {
    for (const [, name, list = ""] of text.matchAll(
      /export (?:async )?function (\w+)(?:<[^(]*>)?\(([\s\S]*?)\n?\)[:{ ]/g,
    )) {
      const parameters = list.split(",").map((each) => each.trim());
      // Members of an object are named, so their order does not matter.
      const owner = parameters.find((each) => /^(organizationId|tenant):/.test(each));
      if (owner === undefined || list.slice(0, list.indexOf(owner)).includes("{")) continue;
      const at = parameters.indexOf(owner);
      const first = /^(db|tx):/.test(parameters[0] ?? "") ? 1 : 0;
      assert.equal(at, first, `${name} in ${path}`);
      seen += 1;
    }
  }
  assert.ok(seen > 40, `${seen} functions were looked at`);
});

test("no id is plain text in the service, and one function says that text is an id", () => {
  const plain =
    /\b(organizationId|organization_id|sessionId|session_id|attemptId|attempt_id|userId|user_id|userSessionId|endpointId|endpoint_id|webhookEndpointId|webhook_endpoint_id|eventId|event_id|deliveryId|delivery_id|domainId|challengeId|redirectUriId|memberId|passkeyId)\??: (readonly )?string\b/;
  const cast = /\bas (readonly )?(\w+Id|Id<[^>]*>)\b/;
  for (const { path, text } of sources) {
    assert.equal(plain.exec(text)?.[0], undefined, path);
    assert.equal(cast.exec(text)?.[0], undefined, path);
  }
});
