import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { knownId, newUuid } from "../../src/platform/kernel/ids.ts";
import { insertPasskey } from "../../src/tenants/accounts/passkey.store.ts";
import { createKey, createPartner, expectData, signUp } from "./api.ts";
import type { DnsServer } from "./dns-server.ts";
import { verifyDomain } from "./domain.ts";
import { registerListener } from "./listener-stream.ts";
import { createReceivingEndpoint } from "./receiver.ts";
import type { TestService } from "./service.ts";
import { claimed } from "./sessions.ts";

let counter = 0;

/**
 * An organization with one of everything that others must neither see nor change. `things`: identifiers by
 * noun. `words`: texts that no one outside may read.
 */
export async function furnishOrganization({ api, core, clock }: TestService, dns: DnsServer) {
  counter += 1;
  const name = `canary-${counter}-${process.pid}`;
  const partner = await createPartner(api);
  const { owner, organizationId } = partner;
  expectData(
    await owner.api.patch("/v1/auth/orgs", {
      name: `Organization ${name}`,
      support_email: `support-${name}@example.com`,
    }),
  );
  expectData(
    await owner.api.post("/v1/auth/orgs/business-details", {
      business_name: `Business ${name}`,
      business_jurisdiction: "Austria",
      business_registration_number: `FN ${name}`,
    }),
  );
  const idle = await createKey(owner, ["sessions:read"]);

  const domainName = `${name}.example`;
  const domainId = await verifyDomain(owner, dns, domainName);
  const pattern = `https://${domainName}/done`;
  const redirect = expectData(await owner.api.post("/v1/auth/orgs/redirect-uris", { pattern }), 201);
  const challenge = expectData(
    await owner.api.post("/v1/auth/orgs/domains/challenges/dns", { apex_domain: `open-${domainName}` }),
    201,
  );

  const guest = await signUp(api);
  const invitation = expectData(
    await owner.api.post("/v1/auth/orgs/invitations", { email: guest.email, role: "member" }),
    201,
  );
  const [member] = expectData<{ id: string }[]>(await owner.api.get("/v1/auth/orgs/members"));
  const [userSession] = expectData<{ id: string }[]>(await owner.api.get("/v1/auth/account/sessions"));
  assert.ok(member !== undefined && userSession !== undefined);
  const now = clock.now();
  const passkey = await core.db.transaction((tx) =>
    insertPasskey(tx, {
      id: newUuid(now),
      userId: knownId(owner.userId),
      name: `Passkey ${name}`,
      credentialId: randomBytes(32),
      publicKey: randomBytes(77),
      signatureCount: 0,
      transports: ["usb"],
      synced: false,
      now,
    }),
  );

  const endpoint = await createReceivingEndpoint(partner.api, "https://127.0.0.1:9/hook", {
    name: `Endpoint ${name}`,
  });
  const listener = await registerListener(partner.api, { name: `Listener ${name}` });
  const { event, deliveries } = expectData(
    await partner.api.post(`/v1/webhooks/endpoints/${endpoint.id}/test`),
    202,
  );
  const session = expectData(
    await partner.api.post("/v1/sessions", {
      client_reference_id: `order-${name}`,
      metadata: { note: `metadata-${name}` },
      webhook_endpoint_id: endpoint.id,
      redirect_url: pattern,
    }),
    201,
  );
  const template = expectData(
    await partner.api.post("/v1/templates", { name: `Template ${name}`, redirect_url: pattern }),
    201,
  );
  const attemptId = await claimed(core, session.id);
  // Open, so that cancelling it would do something.
  const openSession = expectData(await partner.api.post("/v1/sessions"), 201);

  return {
    ...partner,
    things: {
      organizationId,
      userId: owner.userId,
      userSessionId: userSession.id,
      passkeyId: passkey.id,
      apiKeyId: idle.id,
      domainId,
      challengeId: challenge.challenge_id as string,
      redirectUriId: redirect.id as string,
      invitationId: invitation.id as string,
      memberId: member.id,
      endpointId: endpoint.id,
      listenerId: listener.id,
      encryptionKeyId: endpoint.keyId,
      eventId: event.id as string,
      deliveryId: deliveries[0].id as string,
      sessionId: openSession.id as string,
      claimedSessionId: session.id as string,
      attemptId,
      templateId: template.id as string,
    },
    words: [
      name,
      owner.email,
      owner.token,
      guest.email,
      partner.key.secret,
      idle.secret,
      endpoint.secret,
      listener.secret,
      challenge.record_value as string,
      session.cancel_token as string,
    ],
  };
}

export type FurnishedOrganization = Awaited<ReturnType<typeof furnishOrganization>>;
