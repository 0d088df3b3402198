import assert from "node:assert/strict";
import { test } from "node:test";
import { type AuditEvent, auditEvents } from "@assay/contract/audit";
import { sql } from "../../../src/platform/db/sql.ts";
import { dayMs, hourMs } from "../../../src/platform/kernel/clock.ts";
import { type Api, createKey, createPartner, expectData, signUp, signUpOwner } from "../../support/api.ts";
import { createAuthority } from "../../support/certificate.ts";
import { startDnsServer } from "../../support/dns-server.ts";
import { verifyDomain } from "../../support/domain.ts";
import { readMails } from "../../support/mails.ts";
import { createReceivingEndpoint, registration, startReceiver } from "../../support/receiver.ts";
import { startTestService } from "../../support/service.ts";
import { claimed, createSession, fail, judge, succeed } from "../../support/sessions.ts";
import { agree } from "../../support/verify.ts";
import { trustTestCountry } from "../../support/verify-device.ts";

/** Performs every audited action once: the organization's log has its event, actor and target. */
const dns = await startDnsServer();
const authority = createAuthority();
const service = await startTestService({
  env: { DNS_RESOLVERS: dns.address, WEBHOOK_ALLOWED_PRIVATE_HOSTS: "127.0.0.1" },
  webhooks: { ca: authority.certificate },
});
const { api, core, clock, runJob } = service;
const receiver = await startReceiver(authority);
const partner = await createPartner(api);
const { owner, key } = partner;
// Its endpoints hold the deliveries of the scenarios below; none of them is answered with success.
receiver.answerWith(({ path }) => ({ status: path.endsWith("/gone") ? 410 : 500 }));

type Owner = Awaited<ReturnType<typeof signUpOwner>>;
type Entry = {
  event: string;
  actor_type: string;
  actor_id: string | null;
  target_id: string | null;
  environment: string | null;
  details: unknown;
};
/** The actor, the target, the organization unless it is the common one, and all details of the entry. */
type Done = {
  by: "system" | "person" | { user: string } | { key: string };
  to: string;
  of?: Owner;
  saying?: Record<string, unknown>;
};

const byOwner = { user: owner.userId };
const byKey = { key: key.id };
let counter = 0;
const newName = () => `audited-${++counter}.example`;

async function invited(role = "member", host: { api: Api } = owner) {
  const person = await signUp(api);
  const { id } = expectData(
    await host.api.post("/v1/auth/orgs/invitations", { email: person.email, role }),
    201,
  );
  const mail = (await readMails(service, person.email)).findLast(({ subject }) => /Invitation/.test(subject));
  const token = /\/invitations\/([A-Za-z0-9]{43})\s/.exec(mail?.text ?? "")?.[1] ?? assert.fail("no link");
  return { person, invitationId: id as string, token };
}

async function joined(host: { api: Api } = owner) {
  const { person, token } = await invited("member", host);
  expectData(await person.api.post(`/v1/auth/invitations/${token}/accept`));
  const members = expectData<{ id: string; user_id: string }[]>(
    await host.api.get("/v1/auth/orgs/members", { limit: 100 }),
  );
  const memberId = members.find((member) => member.user_id === person.userId)?.id ?? assert.fail();
  return { ...person, memberId };
}

async function withRedirect() {
  const name = newName();
  await verifyDomain(owner, dns, name);
  const pattern = `https://${name}/done`;
  const { id } = expectData(await owner.api.post("/v1/auth/orgs/redirect-uris", { pattern }), 201);
  return { id: id as string, pattern };
}

const endpoint = (path = "") => createReceivingEndpoint(partner.api, `${receiver.url}${path}`);

/** A delivery that failed once and can be sent again. */
async function undelivered() {
  const { id } = await endpoint();
  const sent = expectData(await partner.api.post(`/v1/webhooks/endpoints/${id}/test`), 202);
  await runJob("deliver-webhooks");
  return { eventId: sent.event.id as string, deliveryId: sent.deliveries[0].id as string };
}

async function template(): Promise<{ id: string; name: string }> {
  return expectData(await partner.api.post("/v1/templates", { name: newName() }), 201);
}

async function deletionCode(of: Owner): Promise<string> {
  expectData(await of.api.post("/v1/auth/orgs/request-delete", { organizationId: of.organizationId }), 202);
  const mail = (await readMails(service, of.email)).findLast(({ subject }) =>
    subject.startsWith("Code to delete"),
  );
  return /^([A-Z0-9]{8})$/m.exec(mail?.text ?? "")?.[1] ?? assert.fail("no code");
}

async function scheduledDeletion(): Promise<Owner> {
  const of = await signUpOwner(api);
  const code = await deletionCode(of);
  const body = { organizationId: of.organizationId, code };
  expectData(await of.api.post("/v1/auth/orgs/confirm-delete", body));
  return of;
}

async function acceptTerms(of: { api: Api }) {
  const { current } = expectData(await of.api.get("/v1/auth/orgs/rp-terms"));
  const { terms_version, terms_hash } = current;
  expectData(await of.api.post("/v1/auth/orgs/rp-terms", { terms_version, terms_hash }));
  return { terms_version, terms_hash };
}

const details = {
  business_name: "Acme Bank",
  business_jurisdiction: "Austria",
  business_registration_number: "FN 1",
};

/** A domain whose record was away for so long that it was downgraded. */
async function downgraded() {
  const of = await signUpOwner(api);
  const name = newName();
  const domainId = await verifyDomain(of, dns, name);
  const record = `_service-verification.${name}`;
  const kept = dns.zone.get(record) ?? [];
  dns.clear(record);
  for (let day = 0; day < 3; day++) {
    clock.advance(dayMs);
    await runJob("recheck-domains");
  }
  return { of, domainId, name, putBack: () => dns.zone.set(record, kept) };
}

/** A new event of the contract does not compile until its scenario is here. */
const scenarios: Record<AuditEvent, () => Promise<Done>> = {
  "organization.created": async () => {
    const of = await signUpOwner(api);
    const [{ name, slug } = assert.fail()] = expectData<{ name: string; slug: string }[]>(
      await of.api.get("/v1/auth/orgs"),
    );
    return { by: { user: of.userId }, to: of.organizationId, of, saying: { name, slug } };
  },
  "organization.updated": async () => {
    const saying = { support_email: "help@acme.example" };
    expectData(await owner.api.patch("/v1/auth/orgs", saying));
    return { by: byOwner, to: owner.organizationId, saying };
  },
  "member.role_changed": async () => {
    const member = await joined();
    expectData(await owner.api.patch(`/v1/auth/orgs/members/${member.memberId}`, { role: "admin" }));
    return { by: byOwner, to: member.userId, saying: { from: "member", to: "admin" } };
  },
  "member.removed": async () => {
    const member = await joined();
    expectData(await owner.api.delete(`/v1/auth/orgs/members/${member.memberId}`));
    return { by: byOwner, to: member.userId, saying: { role: "member" } };
  },
  "member.left": async () => {
    const member = await joined();
    assert.equal((await member.api.post("/v1/auth/orgs/leave")).status, 204);
    return { by: { user: member.userId }, to: member.userId, saying: { role: "member" } };
  },
  "member.account_deleted": async () => {
    const member = await joined();
    const gone = await member.api.post("/v1/auth/account/delete", { password: member.password });
    assert.equal(gone.status, 204);
    return { by: { user: member.userId }, to: member.userId, saying: {} };
  },
  "invitation.created": async () => ({
    by: byOwner,
    to: (await invited("admin")).invitationId,
    saying: { role: "admin" },
  }),
  "invitation.accepted": async () => {
    const { person, invitationId, token } = await invited();
    expectData(await person.api.post(`/v1/auth/invitations/${token}/accept`));
    return { by: { user: person.userId }, to: invitationId, saying: { role: "member" } };
  },
  "invitation.declined": async () => {
    const { invitationId, token } = await invited();
    assert.equal((await api.post(`/v1/auth/invitations/${token}/decline`)).status, 204);
    return { by: "person", to: invitationId, saying: { role: "member" } };
  },
  "invitation.revoked": async () => {
    const { invitationId } = await invited();
    assert.equal((await owner.api.delete(`/v1/auth/orgs/invitations/${invitationId}`)).status, 204);
    return { by: byOwner, to: invitationId, saying: { role: "member" } };
  },
  "domain.challenge_started": async () => {
    const saying = { apex_domain: newName() };
    const path = "/v1/auth/orgs/domains/challenges/dns";
    const { challenge_id } = expectData(await owner.api.post(path, saying), 201);
    return { by: byOwner, to: challenge_id, saying };
  },
  "domain.verified": async () => {
    const name = newName();
    const saying = { apex_domain: name, takeover: false };
    return { by: byOwner, to: await verifyDomain(owner, dns, name), saying };
  },
  "domain.lost": async () => {
    const name = newName();
    const domainId = await verifyDomain(owner, dns, name);
    await verifyDomain(await signUpOwner(api), dns, name);
    return { by: "system", to: domainId, saying: { apex_domain: name } };
  },
  "domain.downgraded": async () => {
    const { of, domainId, name } = await downgraded();
    return { by: "system", to: domainId, of, saying: { apex_domain: name } };
  },
  "domain.restored": async () => {
    const { of, domainId, name, putBack } = await downgraded();
    putBack();
    clock.advance(dayMs);
    await runJob("recheck-domains");
    return { by: "system", to: domainId, of, saying: { apex_domain: name } };
  },
  "domain.removed": async () => {
    const name = newName();
    const domainId = await verifyDomain(owner, dns, name);
    assert.equal((await owner.api.delete(`/v1/auth/orgs/domains/${domainId}`)).status, 204);
    return { by: byOwner, to: domainId, saying: { apex_domain: name } };
  },
  "redirect_uri.created": async () => {
    const { id, pattern } = await withRedirect();
    return { by: byOwner, to: id, saying: { pattern } };
  },
  "redirect_uri.deleted": async () => {
    const { id, pattern } = await withRedirect();
    assert.equal((await owner.api.delete(`/v1/auth/orgs/redirect-uris/${id}`)).status, 204);
    return { by: byOwner, to: id, saying: { pattern } };
  },
  "business_details.updated": async () => {
    expectData(await owner.api.post("/v1/auth/orgs/business-details", details));
    const saying = {
      type: "sole",
      name: "Acme Bank",
      jurisdiction: "Austria",
      registrationNumber: "FN 1",
    };
    return { by: byOwner, to: owner.organizationId, saying };
  },
  "rp_terms.accepted": async () => ({
    by: byOwner,
    to: owner.organizationId,
    saying: await acceptTerms(owner),
  }),
  "organization.went_live": async () => {
    const of = await signUpOwner(api);
    await acceptTerms(of);
    expectData(await of.api.post("/v1/auth/orgs/business-details", details));
    await verifyDomain(of, dns, newName());
    await trustTestCountry(service);
    expectData(await of.api.post("/v1/auth/orgs/go-live", { results: "poll_only" }));
    return { by: { user: of.userId }, to: of.organizationId, of, saying: { results: "poll_only" } };
  },
  "organization.deletion_requested": async () => {
    const of = await signUpOwner(api);
    await deletionCode(of);
    return { by: { user: of.userId }, to: of.organizationId, of, saying: {} };
  },
  "organization.deletion_confirmed": async () => {
    const of = await scheduledDeletion();
    const saying = { pending_deletion_at: new Date(clock.now().getTime() + 2 * dayMs).toISOString() };
    return { by: { user: of.userId }, to: of.organizationId, of, saying };
  },
  "organization.deletion_cancelled": async () => {
    const of = await scheduledDeletion();
    expectData(await of.api.post("/v1/auth/orgs/cancel-delete", { organizationId: of.organizationId }));
    return { by: { user: of.userId }, to: of.organizationId, of, saying: {} };
  },
  "api_key.created": async () => ({ by: byOwner, to: (await createKey(owner)).id }),
  "api_key.updated": async () => {
    const { id } = await createKey(owner);
    expectData(await owner.api.patch(`/v1/auth/api-keys/${id}`, { enabled: false }));
    return { by: byOwner, to: id };
  },
  "api_key.deleted": async () => {
    const { id } = await createKey(owner);
    assert.equal((await owner.api.delete(`/v1/auth/api-keys/${id}`)).status, 204);
    return { by: byOwner, to: id };
  },
  "session.created": async () => ({ by: byKey, to: await createSession(partner.api) }),
  "session.succeeded": async () => {
    const id = await createSession(partner.api);
    await succeed(core, id, await claimed(core, id));
    return { by: "person", to: id };
  },
  "session.failed": async () => {
    const id = await createSession(partner.api);
    await fail(core, id, await claimed(core, id), "document_expired");
    return { by: "person", to: id };
  },
  "session.face_rejected": async () => {
    const id = await createSession(partner.api);
    await judge(core, id, await claimed(core, id), "face", 1, "liveness_failed");
    return { by: "person", to: id };
  },
  "session.face_suspected": async () => {
    const id = await createSession(partner.api);
    await succeed(core, id, await claimed(core, id), 0.2, ["flat_thing"]);
    return { by: "person", to: id };
  },
  "session.wallet_rejected": async () => {
    const { id } = expectData(await partner.api.post("/v1/sessions", { methods: ["wallet_pid"] }), 201);
    await agree(api, id, ["service_document_id"]);
    const made = await api.post(`/v1/verify/session/${id}/wallet`, { channel: "redirect" });
    const { request_id: requestId } = expectData(made, 201);
    const body = new URLSearchParams({ response: "unreadable" });
    await fetch(`${api.url}/oid4vp/response/${requestId}`, { method: "POST", body });
    return { by: "person", to: id };
  },
  "session.expired": async () => {
    const id = await createSession(partner.api);
    clock.advance(hourMs);
    await runJob("expire-sessions");
    return { by: "system", to: id };
  },
  "session.cancelled": async () => {
    const id = await createSession(partner.api);
    assert.equal((await partner.api.post(`/v1/sessions/${id}/cancel`)).status, 204);
    return { by: byKey, to: id };
  },
  "session_template.created": async () => {
    const { id, name } = await template();
    return { by: byKey, to: id, saying: { name } };
  },
  "session_template.updated": async () => {
    const { id, name } = await template();
    const change = { locale: "de", redirect_url: null };
    expectData(await partner.api.patch(`/v1/templates/${id}`, change));
    return { by: byKey, to: id, saying: { name, changed: ["locale", "redirect_url"] } };
  },
  "session_template.deleted": async () => {
    const { id, name } = await template();
    assert.equal((await partner.api.delete(`/v1/templates/${id}`)).status, 204);
    return { by: byKey, to: id, saying: { name } };
  },
  "webhook_endpoint.created": async () => {
    const { id } = await endpoint();
    const { name } = expectData(await partner.api.get(`/v1/webhooks/endpoints/${id}`));
    return { by: byKey, to: id, saying: { name, host: new URL(receiver.url).host } };
  },
  "webhook_endpoint.updated": async () => {
    const { id } = await endpoint();
    expectData(await partner.api.patch(`/v1/webhooks/endpoints/${id}`, { name: "renamed" }));
    return { by: byKey, to: id, saying: { name: "renamed" } };
  },
  "webhook_endpoint.disabled": async () => {
    const { id } = await endpoint("/gone");
    expectData(await partner.api.post(`/v1/webhooks/endpoints/${id}/test`), 202);
    await runJob("deliver-webhooks");
    return { by: "system", to: id, saying: { reason: "endpoint_gone" } };
  },
  "webhook_endpoint.deleted": async () => {
    const { id } = await endpoint();
    const { name } = expectData(await partner.api.get(`/v1/webhooks/endpoints/${id}`));
    assert.equal((await partner.api.delete(`/v1/webhooks/endpoints/${id}`)).status, 204);
    return { by: byKey, to: id, saying: { name } };
  },
  "webhook_endpoint.tested": async () => {
    const { id } = await endpoint();
    const sent = expectData(await partner.api.post(`/v1/webhooks/endpoints/${id}/test`), 202);
    return { by: byKey, to: id, saying: { event_id: sent.event.id } };
  },
  "webhook_secret.revealed": async () => {
    const { id } = await endpoint();
    expectData(await owner.api.post(`/v1/webhooks/endpoints/${id}/signing-secret/reveal`));
    return { by: byOwner, to: id, saying: {} };
  },
  "webhook_secret.rotated": async () => {
    const { id } = await endpoint();
    expectData(await partner.api.post(`/v1/webhooks/endpoints/${id}/signing-secret/rotate`));
    return { by: byKey, to: id, saying: { overlap_hours: 0 } };
  },
  "webhook_key.registered": async () => {
    const { id } = await endpoint();
    const path = `/v1/webhooks/endpoints/${id}/keys`;
    const created = expectData(await partner.api.post(path, registration("key-2")), 201);
    return { by: byKey, to: created.id, saying: { key_id: "key-2", webhook_endpoint_id: id } };
  },
  "webhook_key.deactivated": async () => {
    const { id, keyId } = await endpoint();
    expectData(await partner.api.post(`/v1/webhooks/keys/${keyId}/deactivate`));
    return { by: byKey, to: keyId, saying: { key_id: "key-1", webhook_endpoint_id: id } };
  },
  "webhook_key.reactivated": async () => {
    const { id, keyId } = await endpoint();
    expectData(await partner.api.post(`/v1/webhooks/keys/${keyId}/deactivate`));
    expectData(await partner.api.post(`/v1/webhooks/keys/${keyId}/reactivate`));
    return { by: byKey, to: keyId, saying: { key_id: "key-1", webhook_endpoint_id: id } };
  },
  "webhook_endpoint.retried": async () => {
    const { deliveryId } = await undelivered();
    const delivery = expectData(await partner.api.get(`/v1/webhooks/deliveries/${deliveryId}`));
    const { webhook_endpoint_id: id, created_at: at } = delivery;
    const body = { created_from: at, created_to: at };
    await core.db.run(
      sql`update webhook_deliveries set status = 'failed', failed = true where id = ${deliveryId}`,
    );
    await core.db.run(sql`delete from webhook_delivery_queue where delivery_id = ${deliveryId}`);
    expectData(await partner.api.post(`/v1/webhooks/endpoints/${id}/retry-failed`, body), 202);
    return { by: byKey, to: id, saying: { deliveries: 1, ...body } };
  },
  "webhook_delivery.retried": async () => {
    const { deliveryId } = await undelivered();
    expectData(await partner.api.post(`/v1/webhooks/deliveries/${deliveryId}/retry`), 202);
    return { by: byKey, to: deliveryId, saying: {} };
  },
  "webhook_event.replayed": async () => {
    const { eventId } = await undelivered();
    expectData(await partner.api.post(`/v1/webhooks/events/${eventId}/replay`), 202);
    return { by: byKey, to: eventId, saying: { deliveries: 1 } };
  },
};

const actorOf = (by: Done["by"]) => {
  if (typeof by === "string") return { actor_type: by, actor_id: null };
  return "user" in by ? { actor_type: "user", actor_id: by.user } : { actor_type: "key", actor_id: by.key };
};

for (const event of auditEvents)
  test(`${event} is in the audit log once, with who did it, to what, in which environment and what else there is to say`, async () => {
    const { by, to, of = owner, saying } = await scenarios[event]();
    const entries = expectData<Entry[]>(
      await of.api.get("/v1/auth/orgs/audit-logs", { event, limit: 100 }),
    ).filter((entry) => entry.target_id === to);
    // An organization is changed by more than one of the scenarios; the newest entry is that of this one.
    assert.ok(entries.length === 1 || to === owner.organizationId, `${entries.length} entries for ${to}`);
    const [{ actor_type, actor_id, environment, details } = assert.fail(`nothing was written about ${to}`)] =
      entries;
    assert.deepEqual({ actor_type, actor_id }, actorOf(by));
    const belongsToOne = /^(session|session_template|webhook_\w+|api_key)\./.test(event);
    assert.equal(environment, belongsToOne ? "sandbox" : null);
    if (saying !== undefined) assert.deepEqual(details, saying);
  });
