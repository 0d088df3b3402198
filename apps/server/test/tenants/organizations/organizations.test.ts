import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "../../../src/platform/db/sql.ts";
import { dayMs } from "../../../src/platform/kernel/clock.ts";
import { openDocumentIdKey } from "../../../src/tenants/organizations/document-id-key.ts";
import { type Api, createKey, expectData, expectError, signUp, signUpOwner } from "../../support/api.ts";
import { readMails } from "../../support/mails.ts";
import { startTestService } from "../../support/service.ts";

const service = await startTestService();
const { api, core, clock } = service;

async function mailedToken(to: string): Promise<string> {
  const mail = (await readMails(service, to)).findLast((received) => /Invitation/.test(received.subject));
  const token = /\/invitations\/([A-Za-z0-9]{43})\s/.exec(mail?.text ?? "")?.[1];
  assert.ok(token, "the mail holds a link");
  return token;
}

async function addMember(owner: { api: Api }, role: string) {
  const person = await signUp(api);
  expectData(await owner.api.post("/v1/auth/orgs/invitations", { email: person.email, role }), 201);
  const token = await mailedToken(person.email);
  expectData(await person.api.post(`/v1/auth/invitations/${token}/accept`));
  const members = expectData<{ id: string; user_id: string }[]>(
    await owner.api.get("/v1/auth/orgs/members", { limit: 100 }),
  );
  const memberId = members.find((member) => member.user_id === person.userId)?.id;
  assert.ok(memberId);
  return { ...person, memberId };
}

async function memberIdOf(person: { api: Api; userId: string }): Promise<string> {
  const members = expectData<{ id: string; user_id: string }[]>(
    await person.api.get("/v1/auth/orgs/members", { limit: 100 }),
  );
  return members.find((member) => member.user_id === person.userId)?.id ?? "";
}

test("an organization starts in the sandbox with its creator as owner, and lists with the role", async () => {
  const owner = await signUp(api);
  assert.deepEqual(expectData(await owner.api.get("/v1/auth/orgs")), []);
  expectError(await owner.api.get("/v1/auth/orgs/members"), 400, "ORGANIZATION_REQUIRED");
  const created = expectData(
    await owner.api.post("/v1/auth/orgs", { name: " Acme ", slug: "acme-listed" }),
    201,
  );
  assert.equal(created.name, "Acme");
  assert.equal(created.environment, "sandbox");
  assert.equal(created.role, "owner");
  assert.deepEqual(expectData(await owner.api.get("/v1/auth/orgs")), [created]);
  expectError(
    await owner.api.post("/v1/auth/orgs", { name: "Other", slug: "acme-listed" }),
    409,
    "SLUG_TAKEN",
    /slug/,
  );
});

test("the profile is changed field by field, null clears, bad values name the field", async () => {
  const owner = await signUpOwner(api);
  const patch = (body: unknown) => owner.api.patch("/v1/auth/orgs", body);
  const full = expectData(
    await patch({
      name: "Acme Bank",
      slug: `acme-${process.pid}`,
      logo_url: "https://acme.example/logo.svg",
      website_url: "https://acme.example/",
      support_email: "help@acme.example",
      privacy_url: "https://acme.example/privacy",
      terms_url: "https://acme.example/terms",
    }),
  );
  assert.equal(full.support_email, "help@acme.example");
  const { name, ...others } = expectData(await patch({ name: "Acme, renamed" }));
  const { name: _, updated_at, ...before } = full;
  assert.equal(name, "Acme, renamed");
  assert.deepEqual({ ...others, updated_at }, { ...before, updated_at }, "what is not named stays");
  const cleared = expectData(await patch({ logo_url: null, support_email: null }));
  assert.equal(cleared.logo_url, null);
  assert.equal(cleared.support_email, null);
  assert.equal(cleared.website_url, "https://acme.example/");
  expectError(await patch({}), 400, "BAD_REQUEST", /at least one field/);
  expectError(await patch({ logo_url: "http://acme.example/" }), 400, "BAD_REQUEST", /`logo_url`/);
  expectError(await patch({ terms_url: "https://user:pw@acme.example/" }), 400, "BAD_REQUEST", /`terms_url`/);
  expectError(await patch({ support_email: "nobody" }), 400, "BAD_REQUEST", /`support_email`/);
  expectError(await patch({ environment: "live" }), 400, "BAD_REQUEST", /`environment` is not a field/);
  const other = await signUpOwner(api);
  expectError(await other.api.patch("/v1/auth/orgs", { slug: `acme-${process.pid}` }), 409, "SLUG_TAKEN");
  const logs = expectData<{ event: string }[]>(
    await owner.api.get("/v1/auth/orgs/audit-logs", { event: "organization.updated" }),
  );
  assert.equal(logs.length, 3);
});

test("a user with two organizations chooses the one to act in, and only among their own", async () => {
  const owner = await signUpOwner(api);
  clock.advance(1);
  const second = expectData(
    await owner.api.post("/v1/auth/orgs", { name: "Second", slug: `second-${process.pid}` }),
    201,
  );
  const chosen = expectData(
    await owner.api.post("/v1/auth/orgs/active", { organizationId: owner.organizationId }),
  );
  assert.equal(chosen.id, owner.organizationId);
  expectData(await owner.api.patch("/v1/auth/orgs", { name: "First, renamed" }));
  const listed = expectData<{ id: string; name: string }[]>(await owner.api.get("/v1/auth/orgs"));
  assert.deepEqual(
    listed.map((organization) => organization.name),
    ["Second", "First, renamed"],
  );
  const page = await owner.api.get("/v1/auth/orgs", { limit: 1 });
  assert.equal(page.body.pagination?.next_cursor, second.id);
  const stranger = await signUp(api);
  expectError(
    await stranger.api.post("/v1/auth/orgs/active", { organizationId: second.id }),
    404,
    "NOT_FOUND",
  );
  expectError(await stranger.api.get("/v1/auth/orgs", { starting_after: second.id }), 400, "INVALID_REQUEST");
});

test("one account creates ten organizations, also when it asks for many at once; joining is not creating", async () => {
  const person = await signUp(api);
  const create = (n: number) =>
    person.api.post("/v1/auth/orgs", { name: `Number ${n}`, slug: `number-${process.pid}-${n}` });
  const answers = await Promise.all(Array.from({ length: 12 }, (_, n) => create(n)));
  assert.equal(answers.filter(({ status }) => status === 201).length, 10);
  const refusal = await create(12);
  expectError(refusal, 409, "ORGANIZATION_LIMIT_REACHED");
  assert.match(refusal.body.error?.hint ?? "", /may create 10 organizations/);
  const owner = await signUpOwner(api);
  expectData(await owner.api.post("/v1/auth/orgs/invitations", { email: person.email, role: "owner" }), 201);
  expectData(await person.api.post(`/v1/auth/invitations/${await mailedToken(person.email)}/accept`));
});

test("an invited person without an account signs up and joins with the role", async () => {
  const owner = await signUpOwner(api);
  const email = `new-person-${process.pid}@example.com`;
  const shownEmail = `NEW-PERSON-${process.pid}@example.com`;
  const invited = expectData(
    await owner.api.post("/v1/auth/orgs/invitations", { email: email.toUpperCase(), role: "admin" }),
    201,
  );
  assert.equal(invited.role, "admin");
  const token = await mailedToken(shownEmail);
  const shown = expectData(await api.get(`/v1/auth/invitations/${token}`));
  assert.match(shown.organization_name, /^Organization/);
  assert.equal(shown.role, "admin");
  assert.equal(shown.email, shownEmail);

  expectError(await api.post(`/v1/auth/invitations/${token}/accept`), 401, "UNAUTHORIZED");
  const somebodyElse = await signUp(api);
  expectError(
    await somebodyElse.api.post(`/v1/auth/invitations/${token}/accept`),
    403,
    "INVITATION_FOR_ANOTHER_EMAIL",
  );
  const signedUp = expectData(
    await api.post("/v1/auth/sign-up/email", { name: "New", email, password: "correct horse battery" }),
    201,
  );
  const person = api.as(signedUp.token);
  const joined = expectData(await person.post(`/v1/auth/invitations/${token}/accept`));
  assert.equal(joined.id, owner.organizationId);
  assert.equal(joined.role, "admin");
  expectData(await person.get("/v1/auth/orgs/invitations"));
  expectError(await person.post(`/v1/auth/invitations/${token}/accept`), 404, "NOT_FOUND");
  expectError(
    await owner.api.post("/v1/auth/orgs/invitations", { email, role: "member" }),
    409,
    "ALREADY_MEMBER",
    /already the address of a member/,
  );
});

test("no table, log or answer holds the token of an invitation", async () => {
  const owner = await signUpOwner(api);
  const email = `hidden-${process.pid}@example.com`;
  const answer = await owner.api.post("/v1/auth/orgs/invitations", { email, role: "member" });
  const token = await mailedToken(email);
  assert.ok(!answer.text.includes(token));
  const rows = await core.db.rows(sql`select * from invitations`);
  assert.ok(!JSON.stringify(rows).includes(token));
  await api.get(`/v1/auth/invitations/${token}`);
  assert.ok(!service.logLines.join("").includes(token));
});

test("a link dies when used, declined, revoked, replaced or after 7 days", async () => {
  const owner = await signUpOwner(api);
  const email = `dying-${process.pid}@example.com`;
  const invite = async () => {
    clock.advance(1000);
    const made = expectData(
      await owner.api.post("/v1/auth/orgs/invitations", { email, role: "member" }),
      201,
    );
    return { id: made.id as string, token: await mailedToken(email) };
  };
  const isDead = async (token: string) =>
    expectError(await api.get(`/v1/auth/invitations/${token}`), 404, "NOT_FOUND");

  const first = await invite();
  const second = await invite();
  await isDead(first.token);
  assert.equal(expectData<unknown[]>(await owner.api.get("/v1/auth/orgs/invitations")).length, 1);
  assert.equal((await api.post(`/v1/auth/invitations/${second.token}/decline`)).status, 204);
  await isDead(second.token);
  expectError(await api.post(`/v1/auth/invitations/${second.token}/decline`), 404, "NOT_FOUND");

  const third = await invite();
  assert.equal((await owner.api.delete(`/v1/auth/orgs/invitations/${third.id}`)).status, 204);
  await isDead(third.token);
  expectError(await owner.api.delete(`/v1/auth/orgs/invitations/${third.id}`), 404, "NOT_FOUND");

  const fourth = await invite();
  clock.advance(7 * dayMs - 1);
  expectData(await api.get(`/v1/auth/invitations/${fourth.token}`));
  clock.advance(1);
  await isDead(fourth.token);
  assert.deepEqual(expectData(await owner.api.get("/v1/auth/orgs/invitations")), []);
  await isDead("nonsense");
  await service.runJob("purge-invitations");
  assert.equal((await core.db.rows(sql`select 1 from invitations where email = ${email}`)).length, 0);
});

test("roles: an admin neither changes an owner nor makes one; a member changes no one", async () => {
  const owner = await signUpOwner(api);
  const admin = await addMember(owner, "admin");
  const member = await addMember(owner, "member");
  const ownerId = await memberIdOf(owner);
  const path = (id: string) => `/v1/auth/orgs/members/${id}`;

  expectError(await admin.api.patch(path(ownerId), { role: "member" }), 403, "ROLE_REQUIRED", /owner/);
  expectError(await admin.api.delete(path(ownerId)), 403, "ROLE_REQUIRED", /owner/);
  expectError(await admin.api.patch(path(member.memberId), { role: "owner" }), 403, "ROLE_REQUIRED", /owner/);
  expectError(await admin.api.patch(path(admin.memberId), { role: "owner" }), 403, "ROLE_REQUIRED", /owner/);
  expectError(
    await admin.api.post("/v1/auth/orgs/invitations", { email: "x@example.com", role: "owner" }),
    403,
    "ROLE_REQUIRED",
  );
  const invited = expectData(
    await owner.api.post("/v1/auth/orgs/invitations", { email: "x@example.com", role: "owner" }),
    201,
  );
  expectError(await admin.api.delete(`/v1/auth/orgs/invitations/${invited.id}`), 403, "ROLE_REQUIRED");
  expectError(
    await admin.api.patch("/v1/auth/orgs", { agents_may_change_webhooks: true }),
    403,
    "ROLE_REQUIRED",
    /owner/,
  );
  expectError(await member.api.patch(path(admin.memberId), { role: "member" }), 403, "ROLE_REQUIRED");
  expectError(await member.api.delete(path(admin.memberId)), 403, "ROLE_REQUIRED");

  assert.equal(expectData(await admin.api.patch(path(member.memberId), { role: "admin" })).role, "admin");
  expectData(await member.api.get("/v1/auth/orgs/invitations"));
  expectData(await admin.api.delete(path(member.memberId)));
  expectError(await member.api.get("/v1/auth/orgs/members"), 400, "ORGANIZATION_REQUIRED");
  expectError(await admin.api.delete(path(member.memberId)), 404, "NOT_FOUND");
});

test("the last owner stays; after handing over they may leave", async () => {
  const owner = await signUpOwner(api);
  const other = await addMember(owner, "admin");
  const ownerId = await memberIdOf(owner);
  expectError(await owner.api.post("/v1/auth/orgs/leave"), 409, "LAST_OWNER", /last owner/);
  expectError(await owner.api.delete(`/v1/auth/orgs/members/${ownerId}`), 409, "LAST_OWNER", /last owner/);
  expectError(
    await owner.api.patch(`/v1/auth/orgs/members/${ownerId}`, { role: "member" }),
    409,
    "LAST_OWNER",
    /last owner/,
  );
  expectData(await owner.api.patch(`/v1/auth/orgs/members/${other.memberId}`, { role: "owner" }));
  assert.equal((await owner.api.post("/v1/auth/orgs/leave")).status, 204);
  expectError(await other.api.post("/v1/auth/orgs/leave"), 409, "LAST_OWNER");
});

test("owners who leave, remove and demote each other at once never leave none", async () => {
  for (let round = 0; round < 5; round++) {
    const owner = await signUpOwner(api);
    const others = [];
    for (let i = 0; i < 3; i++) others.push(await addMember(owner, "owner"));
    const ids = others.map((other) => other.memberId);
    await Promise.all([
      owner.api.post("/v1/auth/orgs/leave"),
      ...others.map((other, i) =>
        i === 0
          ? other.api.post("/v1/auth/orgs/leave")
          : other.api.patch(`/v1/auth/orgs/members/${other.memberId}`, { role: "member" }),
      ),
      owner.api.delete(`/v1/auth/orgs/members/${ids[1]}`),
      ...(others[2] ? [others[2].api.delete(`/v1/auth/orgs/members/${ids[0]}`)] : []),
    ]);
    const { count } = await core.db.one<{ count: number }>(
      sql`select count(*) as count from memberships where organization_id = ${owner.organizationId} and role = 'owner'`,
    );
    assert.ok(count >= 1, "an owner is left");
  }
});

test("another organization's members and invitations do not exist", async () => {
  const [one, other] = [await signUpOwner(api), await signUpOwner(api)];
  const memberId = await memberIdOf(one);
  expectError(
    await other.api.patch(`/v1/auth/orgs/members/${memberId}`, { role: "member" }),
    404,
    "NOT_FOUND",
  );
  expectError(await other.api.delete(`/v1/auth/orgs/members/${memberId}`), 404, "NOT_FOUND");
  const invited = expectData(
    await one.api.post("/v1/auth/orgs/invitations", { email: "y@example.com", role: "member" }),
    201,
  );
  expectError(await other.api.delete(`/v1/auth/orgs/invitations/${invited.id}`), 404, "NOT_FOUND");
});

test("every change of members is in the audit log, without an address", async () => {
  const owner = await signUpOwner(api);
  const admin = await addMember(owner, "admin");
  expectData(await owner.api.patch(`/v1/auth/orgs/members/${admin.memberId}`, { role: "member" }));
  expectData(await owner.api.delete(`/v1/auth/orgs/members/${admin.memberId}`));
  const logs = await owner.api.get<{ event: string }[]>("/v1/auth/orgs/audit-logs");
  assert.deepEqual(
    expectData(logs)
      .map((log) => log.event)
      .sort(),
    [
      "invitation.accepted",
      "invitation.created",
      "member.removed",
      "member.role_changed",
      "organization.created",
    ],
  );
  assert.ok(!logs.text.includes(admin.email));
});

type Listed = { id: string; name: string; enabled: boolean; created_by: { id: string; name: string } | null };

test("a key shows its creator, also after they have left, and no one once their account is deleted", async () => {
  const owner = await signUpOwner(api);
  const admin = await addMember(owner, "admin");
  const acting = admin.api;
  const made = expectData(
    await acting.post("/v1/auth/api-keys", { name: "Backend", scopes: ["sessions:read"] }),
    201,
  );
  const { name } = expectData(await acting.get("/v1/auth/account"));
  assert.deepEqual(made.created_by, { id: admin.userId, name });
  expectData(await owner.api.delete(`/v1/auth/orgs/members/${admin.memberId}`));
  const list = async () => expectData<Listed[]>(await owner.api.get("/v1/auth/api-keys"));
  assert.deepEqual((await list())[0]?.created_by, { id: admin.userId, name });
  await core.db.run(sql`delete from users where id = ${admin.userId}`);
  assert.equal((await list())[0]?.created_by, null);
});

test("removing a member says what they made, and disables their keys where that is asked for", async () => {
  const owner = await signUpOwner(api);
  const [kept, stopped] = [await addMember(owner, "admin"), await addMember(owner, "admin")];
  const keyOf = async (person: { api: Api }) => {
    const scopes = ["sessions:read", "webhooks:write"];
    const { key } = expectData(await person.api.post("/v1/auth/api-keys", { name: "Made", scopes }), 201);
    return api.as(key);
  };
  const keys = { owner: await keyOf(owner), kept: await keyOf(kept), stopped: await keyOf(stopped) };
  expectData(await keys.stopped.post("/v1/webhooks/endpoints", { url: "https://93.184.216.34/" }), 201);
  const members = expectData<{ user_id: string; made: object }[]>(
    await owner.api.get("/v1/auth/orgs/members"),
  );
  const before = { active_api_keys: 1, webhook_endpoints: 1, webhook_keys: 0 };
  assert.deepEqual(members.find(({ user_id }) => user_id === stopped.userId)?.made, before);

  const removal = expectData(await owner.api.delete(`/v1/auth/orgs/members/${kept.memberId}`));
  assert.deepEqual([removal.made.active_api_keys, removal.disabled_api_keys], [1, 0]);
  const disabling = expectData(
    await owner.api.delete(`/v1/auth/orgs/members/${stopped.memberId}?disable_keys=true`),
  );
  assert.deepEqual([disabling.made.active_api_keys, disabling.disabled_api_keys], [0, 1]);
  expectData(await keys.owner.get("/v1/sessions"));
  expectData(await keys.kept.get("/v1/sessions"));
  expectError(await keys.stopped.get("/v1/sessions"), 401, "UNAUTHORIZED");

  const mails = (await readMails(service, owner.email)).filter(({ subject }) => /^API keys of/.test(subject));
  assert.equal(mails.length, 2);
  assert.match(mails[0]?.text ?? "", /now disabled: 0\.[\s\S]*still work: 1\./);
  assert.match(mails[1]?.text ?? "", /now disabled: 1\.[\s\S]*still work: 0\./);
  const removals = expectData<{ details: object }[]>(
    await owner.api.get("/v1/auth/orgs/audit-logs", { event: "member.removed" }),
  );
  assert.deepEqual(
    removals.map(({ details }) => details),
    [
      { role: "admin", active_api_keys: 0, disabled_api_keys: 1 },
      { role: "admin", active_api_keys: 1, disabled_api_keys: 0 },
    ],
  );
});

test("demoting an admin disables the keys that they made where that is asked for, and no other", async () => {
  const owner = await signUpOwner(api);
  const admin = await addMember(owner, "admin");
  for (const person of [owner, admin])
    expectData(await person.api.post("/v1/auth/api-keys", { name: person.userId, scopes: [] }), 201);
  const changed = expectData(
    await owner.api.patch(`/v1/auth/orgs/members/${admin.memberId}`, { role: "member", disable_keys: true }),
  );
  assert.deepEqual([changed.role, changed.made.active_api_keys, changed.disabled_api_keys], ["member", 0, 1]);
  const listed = expectData<Listed[]>(await owner.api.get("/v1/auth/api-keys"));
  assert.deepEqual(
    listed.map(({ name, enabled }) => [name, enabled]),
    [
      [admin.userId, false],
      [owner.userId, true],
    ],
  );
});

test("the key for document identifiers is made with the organization and stays the same", async () => {
  const owner = await signUpOwner(api);
  await createKey(owner);
  const key = await openDocumentIdKey(core, owner.organizationId);
  assert.equal(key.length, 32);
  await core.db.run(sql`update organizations set document_id_key = null where id = ${owner.organizationId}`);
  const made = await openDocumentIdKey(core, owner.organizationId);
  assert.ok(!made.equals(key));
  assert.ok((await openDocumentIdKey(core, owner.organizationId)).equals(made));
});

test("what is changed of a profile is what comes back, and addresses with either half of a credential are refused", async () => {
  const owner = await signUpOwner(api);
  const patch = (body: object) => owner.api.patch("/v1/auth/orgs", body);
  const fields = ["logo_url", "website_url", "privacy_url", "terms_url"];
  const addresses = Object.fromEntries(fields.map((field) => [field, `https://acme.example/${field}`]));
  const changed = expectData(await patch({ ...addresses, name: " Acme ", brand_color: "#ABCDEF" }));
  for (const [field, address] of Object.entries(addresses)) assert.equal(changed[field], address);
  assert.deepEqual([changed.name, changed.brand_color], ["Acme", "#abcdef"]);
  assert.equal(expectData(await patch({ brand_color: null })).name, "Acme", "what is left out stays");
  for (const field of fields)
    for (const bad of [
      "https://user@acme.example/",
      "https://:pw@acme.example/",
      "https://",
      "ftp://acme.example/",
    ])
      expectError(await patch({ [field]: bad }), 400, "BAD_REQUEST", new RegExp(`\`${field}\``));
  const kept = expectData(await patch({ agents_may_change_webhooks: true }));
  assert.deepEqual([kept.agents_may_change_webhooks, kept.logo_url], [true, addresses.logo_url]);
  clock.advance(1000);
  const later = expectData(await patch({ name: "Acme again" }));
  assert.deepEqual([later.updated_at, later.created_at], [clock.now().toISOString(), changed.created_at]);
});

test("organizations, members and invitations are listed newest first, page by page", async () => {
  const owner = await signUpOwner(api);
  for (const n of [1, 2]) {
    clock.advance(1);
    expectData(
      await owner.api.post("/v1/auth/orgs", { name: `Page ${n}`, slug: `page-${process.pid}-${n}` }),
      201,
    );
  }
  for (const role of ["member", "admin"]) {
    clock.advance(1);
    await addMember(owner, role);
    const email = `${role}-${owner.userId}@example.com`;
    expectData(await owner.api.post("/v1/auth/orgs/invitations", { email, role }), 201);
  }
  const more = `more-${owner.userId}@example.com`;
  clock.advance(1);
  expectData(await owner.api.post("/v1/auth/orgs/invitations", { email: more, role: "owner" }), 201);
  for (const path of ["/v1/auth/orgs", "/v1/auth/orgs/members", "/v1/auth/orgs/invitations"]) {
    const all = expectData<{ id: string; created_at: string }[]>(await owner.api.get(path));
    assert.equal(all.length, 3, path);
    assert.deepEqual(
      all.map(({ created_at }) => created_at),
      all
        .map(({ created_at }) => created_at)
        .toSorted()
        .toReversed(),
    );
    const first = await owner.api.get<typeof all>(path, { limit: 2 });
    const rest = await owner.api.get<typeof all>(path, { limit: 2, starting_after: all[1]?.id ?? "" });
    assert.deepEqual([...expectData(first), ...expectData(rest)], all, path);
    assert.deepEqual([first.body.pagination?.has_more, rest.body.pagination?.has_more], [true, false]);
  }
});

test("a role that is given again changes nothing, and its keys are disabled where that is asked for", async () => {
  const owner = await signUpOwner(api);
  const admin = await addMember(owner, "admin");
  expectData(await admin.api.post("/v1/auth/api-keys", { name: "Made", scopes: [] }), 201);
  const change = async (body: object) =>
    expectData(await owner.api.patch(`/v1/auth/orgs/members/${admin.memberId}`, body));
  const entries = async (event: string) =>
    expectData<{ details: object }[]>(await owner.api.get("/v1/auth/orgs/audit-logs", { event })).map(
      ({ details }) => details,
    );
  const same = await change({ role: "admin" });
  assert.deepEqual([same.role, same.made.active_api_keys, same.disabled_api_keys], ["admin", 1, 0]);
  assert.deepEqual(await entries("member.role_changed"), []);
  const disabled = await change({ role: "admin", disable_keys: true });
  assert.deepEqual([disabled.made.active_api_keys, disabled.disabled_api_keys], [0, 1]);
  assert.deepEqual(await entries("member.role_changed"), []);
  assert.deepEqual(await entries("api_key.updated"), [{ enabled: false, reason: "creator_lost_right" }]);
  const mailed = async () =>
    (await readMails(service, owner.email)).filter(({ subject }) => /^API keys of/.test(subject));
  assert.equal((await mailed()).length, 0, "an admin may have keys");
  expectData(await admin.api.post("/v1/auth/api-keys", { name: "Made later", scopes: [] }), 201);
  await change({ role: "member" });
  assert.deepEqual(await entries("member.role_changed"), [
    { from: "admin", to: "member", active_api_keys: 1, disabled_api_keys: 0 },
  ]);
  assert.equal((await mailed()).length, 1);
  await change({ role: "owner" });
  assert.equal((await mailed()).length, 1);
});
