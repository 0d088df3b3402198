import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { answerRequest } from "@assay/credential/test-wallet/answer-request";
import { readRequest } from "@assay/credential/test-wallet/read-request";
import { sql } from "../../../src/platform/db/sql.ts";
import { dayMs, later } from "../../../src/platform/kernel/clock.ts";
import { newUuid } from "../../../src/platform/kernel/ids.ts";
import { newIdentityKey, sealKey } from "../../../src/verification/wallet-identity/current-identity.ts";
import { insertIdentity } from "../../../src/verification/wallet-identity/wallet-identity.store.ts";
import { readChain } from "../../../src/verification/wallet-identity/wallet-identity.ts";
import { writeSandboxLeaf } from "../../../src/verification/wallet-identity/write-certificate.ts";
import { createPartner, expectData, expectError } from "../../support/api.ts";
import { createLivePartner } from "../../support/live.ts";
import { startTestService } from "../../support/service.ts";
import { agree } from "../../support/verify.ts";

// Nothing here reads documents: live is for wallets alone.
const noReader = { DESK_READERS: "false" };

test("in live a wallet method needs the operator's word, and counts as something that verifies people", async () => {
  const closed = await startTestService({ env: noReader });
  const partner = await createLivePartner(closed.core, closed.api);
  expectError(
    await partner.api.post("/v1/sessions", { methods: ["wallet_pid", "document_chip"] }),
    400,
    "INVALID_REQUEST",
    /^`methods` names wallet_pid, which the operator of this service has not enabled/,
  );
  expectError(await partner.api.post("/v1/sessions"), 409, "NO_READER_AVAILABLE");
});

test("an operator who trusts only issuers of wallet credentials can let organizations go live", async () => {
  const env = { ...noReader, WALLET_METHODS: "wallet_mdl" };
  const { api, core, clock } = await startTestService({ env });
  const { owner } = await createPartner(api);
  const isDone = async (name: string) => {
    const { points } = expectData(await owner.api.get("/v1/auth/orgs/go-live"));
    return (points as { point: string; done: boolean }[]).find(({ point }) => point === name)?.done;
  };
  assert.deepEqual([await isDone("state_trusted"), await isDone("reading_app_configured")], [false, true]);
  const importFor = async (scope: string) => {
    const sha256 = createHash("sha256").update(scope).digest("hex");
    await core.db.run(sql`
      insert into trust_imports (sha256, part, type, label, imported_at, brought_by, purpose, scope)
      values (${sha256}, 0, 'pem', 'test', ${clock.now()}, 'command', 'mdl', ${scope})`);
    await core.db.run(sql`
      insert into wallet_anchors (import_sha256, import_part, position, sha256, certificate, signs)
      values (${sha256}, 0, 0, ${sha256}, '', 'credentials')`);
  };
  await importFor("sandbox");
  assert.equal(await isDone("state_trusted"), false);
  await importFor("live");
  assert.equal(await isDone("state_trusted"), true);
});

test("live requests are made as the operator's own identity, and test credentials count for nothing there", async () => {
  const env = { ...noReader, WALLET_METHODS: "wallet_pid,wallet_mdl", WALLET_SCHEMES: "mdl=mdoc-openid4vp" };
  const { api, core, clock } = await startTestService({ env });
  const partner = await createLivePartner(core, api);
  const create = (body: object) => partner.api.post("/v1/sessions", body);
  const shareFields = { family_name: { required: true, reason: "We need it." } };
  expectError(await create({}), 409, "NO_READER_AVAILABLE");
  expectError(await create({ methods: ["wallet_age"] }), 400, "INVALID_REQUEST", /not enabled/);
  expectError(
    await create({ methods: ["wallet_pid", "document_chip"], share_fields: shareFields }),
    400,
    "INVALID_REQUEST",
    /^`methods` names wallet_pid, and this service has no wallet identity/,
  );

  const addIdentity = async (registration: readonly string[] = []) => {
    const now = clock.now();
    const [id, key] = [newUuid(now), newIdentityKey()];
    const validity = { from: later(now, -dayMs), until: later(now, 90 * dayMs) };
    const leaf = await writeSandboxLeaf("verify.example.org", key, newIdentityKey(), validity);
    const chain = readChain([leaf], now);
    const privateKeySealed = sealKey(core.ring, key, id);
    assert.ok(
      await insertIdentity(core.db, { id, environment: "live", privateKeySealed, registration }, chain, now),
    );
    return chain.clientId;
  };
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const given = [{ path: ["org.iso.18013.5.1", "given_name"] }];
  const listed = { format: "mso_mdoc", meta: { doctype_value: "org.iso.18013.5.1.mDL" }, claim: given };
  const unfit = `${part({ typ: "rc-wrp+jwt" })}.${part({ credentials: [listed] })}.c2lnbmVk`;
  await addIdentity([unfit]);
  expectError(
    await create({ methods: ["wallet_mdl"], share_fields: shareFields }),
    400,
    "INVALID_REQUEST",
    /not registered to ask wallets for `share_fields.family_name` by wallet_mdl/,
  );
  const { id: named } = expectData(
    await create({
      methods: ["wallet_mdl"],
      share_fields: {
        given_names: { required: true, reason: "We need it." },
        family_name: { required: false, reason: "We would like it." },
      },
    }),
    201,
  );
  await agree(api, named, ["given_names", "family_name", "service_document_id"]);
  const ofNamed = `/v1/verify/session/${named}`;
  const askedFor = async () => {
    const { link } = expectData(await api.post(`${ofNamed}/wallet`, { channel: "redirect" }), 201);
    const { query } = await readRequest(link as string, (url, init) => fetch(url, init));
    return JSON.stringify(query);
  };
  assert.match(await askedFor(), /given_name/);
  assert.doesNotMatch(
    await askedFor(),
    /family_name/,
    "what is optional and not registered is not asked for",
  );

  clock.advance(1000);
  const first = await addIdentity();
  const { id } = expectData(
    await create({ methods: ["wallet_mdl", "document_chip"], share_fields: shareFields }),
    201,
  );
  const path = `/v1/verify/session/${id}`;
  // Nothing reads chips here, so that way is not offered.
  const { ways } = expectData(await api.get(`${path}/details`));
  assert.deepEqual(ways, [
    { method: "wallet_mdl", channels: ["dc_api", "redirect"], looks_at: ["document_expiry_date"] },
  ]);
  await agree(api, id, ["family_name", "service_document_id"]);
  const ask = async () => {
    const made = await api.post(`${path}/wallet`, { channel: "redirect" });
    return expectData(made, 201).link as string;
  };
  const clientIdOf = (link: string) => new URLSearchParams(link.slice(link.indexOf("?"))).get("client_id");
  const link = await ask();
  assert.ok(link.startsWith("mdoc-openid4vp://?"));
  assert.equal(clientIdOf(link), first);

  // A request that is open stays good while another identity takes over.
  clock.advance(1000);
  const second = await addIdentity();
  const request = await readRequest(link, (url, init) => fetch(url, init));
  assert.equal(request.clientId, first);
  const { redirectUri } = await answerRequest(request, "valid", { fetch, now: clock.now() });
  assert.ok(!redirectUri?.includes("response_code"));
  const { attempt } = expectData(await api.get(`${path}/status`));
  assert.equal(attempt.refused.failure_code, "document_authenticity_failed");
  assert.equal(clientIdOf(await ask()), second);

  // If the registration no longer covers the session, the method is removed and refused.
  clock.advance(1000);
  await addIdentity([unfit]);
  assert.deepEqual(expectData(await api.get(`${path}/details`)).ways, []);
  expectError(await api.post(`${path}/wallet`, { channel: "redirect" }), 409, "WALLET_NOT_OFFERED");
  await core.db.run(sql`update wallet_identities set retired_at = ${clock.now()}`);
  assert.deepEqual(expectData(await api.get(`${ofNamed}/details`)).ways, []);
  expectError(await api.post(`${ofNamed}/wallet`, { channel: "dc_api" }), 409, "WALLET_NOT_OFFERED");
});

test("a proof of age needs no certificate in live: its link is not signed", async () => {
  const { api, core } = await startTestService({ env: { ...noReader, WALLET_METHODS: "wallet_age" } });
  const partner = await createLivePartner(core, api);
  const age = { age_over_18: { required: true, reason: "We may only serve adults." } };
  const body = { methods: ["wallet_age"], share_fields: age };
  const { id } = expectData(await partner.api.post("/v1/sessions", body), 201);
  const path = `/v1/verify/session/${id}`;
  const { ways } = expectData(await api.get(`${path}/details`));
  assert.deepEqual(ways, [{ method: "wallet_age", channels: ["age_link"], looks_at: [] }]);
  await agree(api, id, ["age_over_18", "service_document_id"]);
  const { link } = expectData(await api.post(`${path}/wallet`, { channel: "age_link" }), 201);
  assert.match(link as string, /^av:\/\/\?/);
  expectError(await api.post(`${path}/wallet`, { channel: "dc_api" }), 409, "WALLET_NOT_OFFERED");
  expectError(
    await partner.api.post("/v1/sessions", { ...body, requirements: { binding: "required" } }),
    400,
    "INVALID_REQUEST",
    /no wallet identity/,
  );
});
