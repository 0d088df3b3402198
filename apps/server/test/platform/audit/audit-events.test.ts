import assert from "node:assert/strict";
import { test } from "node:test";
import { type AuditEvent, auditEvents } from "@assay/contract/audit";
import { dayMs, hourMs } from "../../../src/platform/kernel/clock.ts";
import { type Api, createKey, createPartner, expectData, signUp, signUpOwner } from "../../support/api.ts";
import { createAuthority } from "../../support/certificate.ts";
import { startDnsServer } from "../../support/dns-server.ts";
import { verifyDomain } from "../../support/domain.ts";
import { readMails } from "../../support/mails.ts";
import { createReceivingEndpoint, registration, startReceiver } from "../../support/receiver.ts";
import { startTestService } from "../../support/service.ts";
import { claimed, createSession, fail, judge, succeed } from "../../support/sessions.ts";
import { trustTestCountry } from "../../support/verify-device.ts";

/** Every action that is audited, done once: the log of the organization then names the event, who did it and to what. */
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
};
/** Who did what; in whose organization, where it is not the one that all share. */
type Done = { by: "system" | "person" | { user: string } | { key: string }; to: string; of?: Owner };

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

async function startedChallenge(host: { api: Api } = owner, name = newName()) {
  return expectData(
    await host.api.post("/v1/auth/orgs/domains/challenges/dns", { apex_domain: name }),
    201,
  ) as { challenge_id: string };
}

async function withRedirect() {
  const name = newName();
  await verifyDomain(owner, dns, name);
  const pattern = `https://${name}/done`;
  return expectData(await owner.api.post("/v1/auth/orgs/redirect-uris", { pattern }), 201).id as string;
}

const endpoint = (path = "") => createReceivingEndpoint(partner.api, `${receiver.url}${path}`);

/** A delivery that failed once and can be sent again. */
async function undelivered() {
  const { id } = await endpoint();
  const sent = expectData(await partner.api.post(`/v1/webhooks/endpoints/${id}/test`), 202);
  await runJob("deliver-webhooks");
  return { eventId: sent.event.id as string, deliveryId: sent.deliveries[0].id as string };
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
  return { of, domainId, putBack: () => dns.zone.set(record, kept) };
}

/** An event that is added to the contract does not compile until its scenario is here. */
const scenarios: Record<AuditEvent, () => Promise<Done>> = {
  "organization.created": async () => {
    const of = await signUpOwner(api);
    return { by: { user: of.userId }, to: of.organizationId, of };
  },
  "organization.updated": async () => {
    expectData(await owner.api.patch("/v1/auth/orgs", { support_email: "help@acme.example" }));
    return { by: byOwner, to: owner.organizationId };
  },
  "member.role_changed": async () => {
    const member = await joined();
    expectData(await owner.api.patch(`/v1/auth/orgs/members/${member.memberId}`, { role: "admin" }));
    return { by: byOwner, to: member.userId };
  },
  "member.removed": async () => {
    const member = await joined();
    expectData(await owner.api.delete(`/v1/auth/orgs/members/${member.memberId}`));
    return { by: byOwner, to: member.userId };
  },
  "member.left": async () => {
    const member = await joined();
    assert.equal((await member.api.post("/v1/auth/orgs/leave")).status, 204);
    return { by: { user: member.userId }, to: member.userId };
  },
  "member.account_deleted": async () => {
    const member = await joined();
    const gone = await member.api.post("/v1/auth/account/delete", { password: member.password });
    assert.equal(gone.status, 204);
    return { by: { user: member.userId }, to: member.userId };
  },
  "invitation.created": async () => ({ by: byOwner, to: (await invited()).invitationId }),
  "invitation.accepted": async () => {
    const { person, invitationId, token } = await invited();
    expectData(await person.api.post(`/v1/auth/invitations/${token}/accept`));
    return { by: { user: person.userId }, to: invitationId };
  },
  "invitation.declined": async () => {
    const { invitationId, token } = await invited();
    assert.equal((await api.post(`/v1/auth/invitations/${token}/decline`)).status, 204);
    return { by: "person", to: invitationId };
  },
  "invitation.revoked": async () => {
    const { invitationId } = await invited();
    assert.equal((await owner.api.delete(`/v1/auth/orgs/invitations/${invitationId}`)).status, 204);
    return { by: byOwner, to: invitationId };
  },
  "domain.challenge_started": async () => ({ by: byOwner, to: (await startedChallenge()).challenge_id }),
  "domain.verified": async () => ({ by: byOwner, to: await verifyDomain(owner, dns, newName()) }),
  "domain.lost": async () => {
    const name = newName();
    const domainId = await verifyDomain(owner, dns, name);
    await verifyDomain(await signUpOwner(api), dns, name);
    return { by: "system", to: domainId };
  },
  "domain.downgraded": async () => {
    const { of, domainId } = await downgraded();
    return { by: "system", to: domainId, of };
  },
  "domain.restored": async () => {
    const { of, domainId, putBack } = await downgraded();
    putBack();
    clock.advance(dayMs);
    await runJob("recheck-domains");
    return { by: "system", to: domainId, of };
  },
  "domain.removed": async () => {
    const domainId = await verifyDomain(owner, dns, newName());
    assert.equal((await owner.api.delete(`/v1/auth/orgs/domains/${domainId}`)).status, 204);
    return { by: byOwner, to: domainId };
  },
  "redirect_uri.created": async () => ({ by: byOwner, to: await withRedirect() }),
  "redirect_uri.deleted": async () => {
    const id = await withRedirect();
    assert.equal((await owner.api.delete(`/v1/auth/orgs/redirect-uris/${id}`)).status, 204);
    return { by: byOwner, to: id };
  },
  "business_details.updated": async () => {
    expectData(await owner.api.post("/v1/auth/orgs/business-details", details));
    return { by: byOwner, to: owner.organizationId };
  },
  "rp_terms.accepted": async () => {
    await acceptTerms(owner);
    return { by: byOwner, to: owner.organizationId };
  },
  "organization.went_live": async () => {
    const of = await signUpOwner(api);
    await acceptTerms(of);
    expectData(await of.api.post("/v1/auth/orgs/business-details", details));
    await verifyDomain(of, dns, newName());
    await trustTestCountry(service);
    expectData(await of.api.post("/v1/auth/orgs/go-live", { results: "poll_only" }));
    return { by: { user: of.userId }, to: of.organizationId, of };
  },
  "organization.deletion_requested": async () => {
    const of = await signUpOwner(api);
    await deletionCode(of);
    return { by: { user: of.userId }, to: of.organizationId, of };
  },
  "organization.deletion_confirmed": async () => {
    const of = await scheduledDeletion();
    return { by: { user: of.userId }, to: of.organizationId, of };
  },
  "organization.deletion_cancelled": async () => {
    const of = await scheduledDeletion();
    expectData(await of.api.post("/v1/auth/orgs/cancel-delete", { organizationId: of.organizationId }));
    return { by: { user: of.userId }, to: of.organizationId, of };
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
  "webhook_endpoint.created": async () => ({ by: byKey, to: (await endpoint()).id }),
  "webhook_endpoint.updated": async () => {
    const { id } = await endpoint();
    expectData(await partner.api.patch(`/v1/webhooks/endpoints/${id}`, { name: "renamed" }));
    return { by: byKey, to: id };
  },
  "webhook_endpoint.disabled": async () => {
    const { id } = await endpoint("/gone");
    expectData(await partner.api.post(`/v1/webhooks/endpoints/${id}/test`), 202);
    await runJob("deliver-webhooks");
    return { by: "system", to: id };
  },
  "webhook_endpoint.deleted": async () => {
    const { id } = await endpoint();
    assert.equal((await partner.api.delete(`/v1/webhooks/endpoints/${id}`)).status, 204);
    return { by: byKey, to: id };
  },
  "webhook_endpoint.tested": async () => {
    const { id } = await endpoint();
    expectData(await partner.api.post(`/v1/webhooks/endpoints/${id}/test`), 202);
    return { by: byKey, to: id };
  },
  "webhook_secret.revealed": async () => {
    const { id } = await endpoint();
    expectData(await owner.api.post(`/v1/webhooks/endpoints/${id}/signing-secret/reveal`));
    return { by: byOwner, to: id };
  },
  "webhook_secret.rotated": async () => {
    const { id } = await endpoint();
    expectData(await partner.api.post(`/v1/webhooks/endpoints/${id}/signing-secret/rotate`));
    return { by: byKey, to: id };
  },
  "webhook_key.registered": async () => {
    const { id } = await endpoint();
    const path = `/v1/webhooks/endpoints/${id}/keys`;
    return { by: byKey, to: expectData(await partner.api.post(path, registration("key-2")), 201).id };
  },
  "webhook_key.deactivated": async () => {
    const { keyId } = await endpoint();
    expectData(await partner.api.post(`/v1/webhooks/keys/${keyId}/deactivate`));
    return { by: byKey, to: keyId };
  },
  "webhook_key.reactivated": async () => {
    const { keyId } = await endpoint();
    expectData(await partner.api.post(`/v1/webhooks/keys/${keyId}/deactivate`));
    expectData(await partner.api.post(`/v1/webhooks/keys/${keyId}/reactivate`));
    return { by: byKey, to: keyId };
  },
  "webhook_delivery.retried": async () => {
    const { deliveryId } = await undelivered();
    expectData(await partner.api.post(`/v1/webhooks/deliveries/${deliveryId}/retry`), 202);
    return { by: byKey, to: deliveryId };
  },
  "webhook_event.replayed": async () => {
    const { eventId } = await undelivered();
    expectData(await partner.api.post(`/v1/webhooks/events/${eventId}/replay`), 202);
    return { by: byKey, to: eventId };
  },
};

const actorOf = (by: Done["by"]) => {
  if (typeof by === "string") return { actor_type: by, actor_id: null };
  return "user" in by ? { actor_type: "user", actor_id: by.user } : { actor_type: "key", actor_id: by.key };
};

for (const event of auditEvents)
  test(`${event} is in the audit log once, with who did it, to what and in which environment`, async () => {
    const { by, to, of = owner } = await scenarios[event]();
    const entries = expectData<Entry[]>(
      await of.api.get("/v1/auth/orgs/audit-logs", { event, limit: 100 }),
    ).filter((entry) => entry.target_id === to);
    // An organization is changed by more than one of the scenarios; the newest entry is that of this one.
    assert.ok(entries.length === 1 || to === owner.organizationId, `${entries.length} entries for ${to}`);
    const [{ actor_type, actor_id, environment } = assert.fail(`nothing was written about ${to}`)] = entries;
    assert.deepEqual({ actor_type, actor_id }, actorOf(by));
    const belongsToOne = /^(session|webhook_\w+|api_key)\./.test(event);
    assert.equal(environment, belongsToOne ? "sandbox" : null);
  });
