import assert from "node:assert/strict";
import test from "node:test";
import { sql } from "../../../src/platform/db/sql.ts";
import { dayMs } from "../../../src/platform/kernel/clock.ts";
import { createUser, preparePerson } from "../../../src/tenants/accounts/create-user.ts";
import { type Api, expectData, expectError, signUp, signUpOwner } from "../../support/api.ts";
import { startMailSink } from "../../support/mail-sink.ts";
import { latestToken } from "../../support/mailed-links.ts";
import { startTestService, type TestService } from "../../support/service.ts";

const sink = await startMailSink();
const publicUrl = "http://localhost:3000";
const mailing = await startTestService({
  env: { SMTP_URL: sink.url, PUBLIC_URL: publicUrl, TRUST_PROXY: "127.0.0.1" },
});
const password = "correct horse battery";

const create = (api: Api, email: string, headers: Record<string, string> = {}) =>
  api.post("/v1/auth/sign-up/email", { name: "Ada", email, password }, headers);

const signIn = (api: Api, email: string, given: object = {}) =>
  api.post("/v1/auth/sign-in/email", { email, password, ...given });

async function settle(email: string) {
  const token = await sink.tokenFor(mailing, email, "verify-email");
  return expectData(await signIn(mailing.api, email, { verification_token: token }));
}

test("with a mail server a new and a taken address get exactly the same answer, and only the mail differs", async () => {
  const { api } = mailing;
  expectData(await create(api, "taken@example.com"), 202);
  await settle("taken@example.com");
  const [fresh, taken] = [await create(api, "fresh@example.com"), await create(api, "Taken@example.com")];
  assert.deepEqual(expectData(fresh, 202), { token: null, user: null });
  assert.equal(fresh.text, taken.text);
  assert.equal(fresh.status, taken.status);
  for (const answer of [fresh, taken]) assert.equal(answer.headers.get("set-cookie"), null);
  const subjects = async (email: string) =>
    (await sink.mailsTo(mailing, email)).map(({ subject }) => subject);
  assert.deepEqual(await subjects("fresh@example.com"), ["Verify your email"]);
  assert.deepEqual((await subjects("taken@example.com")).sort(), [
    "Verify your email",
    "You already have an account",
  ]);
  const notice = (await sink.mailsTo(mailing, "taken@example.com")).find(({ subject }) =>
    /already/.test(subject),
  );
  assert.match(notice?.text ?? "", /dashboard\/sign-in/);
  assert.match(notice?.text ?? "", /dashboard\/forgot-password/);
});

test("signing in afterwards does not reveal it either: the right password counts for nothing without the mailed link", async () => {
  const { api } = mailing;
  expectData(await create(api, "new-one@example.com"), 202);
  const guess = (email: string, address: string) =>
    api.post("/v1/auth/sign-in/email", { email, password }, { "x-forwarded-for": address });
  const own = await guess("new-one@example.com", "198.51.100.1");
  const other = await signIn(api, "taken@example.com", { password: "a wrong password" });
  expectError(own, 401, "UNAUTHORIZED");
  assert.equal(own.text, other.text);
  // It is counted as a wrong guess as well.
  for (let i = 0; i < 9; i++)
    expectError(await guess("new-one@example.com", "198.51.100.1"), 401, "UNAUTHORIZED");
  expectError(await guess("new-one@example.com", "198.51.100.1"), 429, "RATE_LIMITED");
});

test("the mailed link and the password together sign in and prove the address; either alone does not", async () => {
  const { api } = mailing;
  const email = "together@example.com";
  expectData(await create(api, email), 202);
  const token = await sink.tokenFor(mailing, email, "verify-email");
  const refused = (given: object) =>
    signIn(api, email, given).then((answer) => expectError(answer, 401, "UNAUTHORIZED"));
  await refused({});
  await refused({ verification_token: "x".repeat(43) });
  await refused({ verification_token: token, password: "a wrong password" });
  expectData(await create(api, "neighbour@example.com"), 202);
  await refused({
    verification_token: await sink.tokenFor(mailing, "neighbour@example.com", "verify-email"),
  });
  const answer = await signIn(api, email, { verification_token: token });
  const { user } = expectData(answer);
  assert.equal(user.email_verified, true);
  assert.match(answer.headers.get("set-cookie") ?? "", /^assay_session=/);
  expectData(await signIn(api, email));
});

test("a user who lost the mail signs in by a link or a reset", async () => {
  const { api } = mailing;
  expectData(await create(api, "lost@example.com"), 202);
  expectData(await api.post("/v1/auth/password/forgot", { email: "lost@example.com" }), 202);
  const token = await sink.tokenFor(mailing, "lost@example.com", "reset-password");
  assert.equal((await api.post("/v1/auth/password/reset", { token, password })).status, 204);
  expectData(await signIn(api, "lost@example.com"));
});

test("sign-ups with one address fill no mailbox, and the limit does not reveal whether there is an account", async () => {
  const { api } = mailing;
  expectData(await create(api, "flooded@example.com"), 202);
  await settle("flooded@example.com");
  mailing.clock.advance(dayMs);
  for (const email of ["flooded@example.com", "not-flooded@example.com"]) {
    const from = (i: number) => ({ "x-forwarded-for": `203.0.113.${i}` });
    for (let i = 0; i < 20; i++) expectData(await create(api, email, from(i)), 202);
    for (let i = 0; i < 4; i++) expectData(await create(api, email, from(99)), 202);
    expectData(await create(api, email, from(99)), 202);
    expectError(await create(api, email, from(99)), 429, "RATE_LIMITED");
  }
  const notices = (await sink.mailsTo(mailing, "flooded@example.com")).filter(({ subject }) =>
    /already/.test(subject),
  );
  assert.equal(notices.length, 8);
});

test("two sign-ups with one address at once make one account, and both are answered alike", async () => {
  const answers = await Promise.all(
    Array.from({ length: 4 }, () => create(mailing.api, "racing@example.com")),
  );
  for (const answer of answers) assert.deepEqual(expectData(answer, 202), { token: null, user: null });
  const rows = await mailing.core.db.rows(sql`select from users where email_folded = 'racing@example.com'`);
  assert.equal(rows.length, 1);
});

async function startWith(mode: string): Promise<TestService> {
  const service = await startTestService({ env: { SIGN_UP: mode } });
  const rules = expectData(await service.api.get("/v1/auth/sign-up"));
  assert.deepEqual(rules, { mode, email_verification_required: false });
  return service;
}

test("where sign-up is closed only the operator makes accounts", async () => {
  const { api, core } = await startWith("closed");
  const refused = await create(api, "ada@example.com");
  expectError(refused, 403, "SIGN_UP_CLOSED", /does not accept sign-ups/);
  assert.match(refused.body.error?.hint ?? "", /operator/);
  const person = await preparePerson({ name: "Root", email: "root@example.com", password });
  await createUser(core, person, { emailVerified: true });
  const { token } = expectData(await signIn(api, "root@example.com"));
  expectData(await api.as(token).post("/v1/auth/orgs", { name: "Ops", slug: "ops" }), 201);
});

test("with a mail server the answer does not reveal who is invited, and only invited people get an account", async () => {
  const service = await startTestService({
    env: { SMTP_URL: sink.url, PUBLIC_URL: publicUrl, SIGN_UP: "invited" },
  });
  const { api, core } = service;
  const person = await preparePerson({ name: "Root", email: "root@example.org", password });
  await createUser(core, person, { emailVerified: true });
  const owner = api.as(expectData(await signIn(api, "root@example.org")).token);
  expectData(await owner.post("/v1/auth/orgs", { name: "Ops", slug: "ops-with-mail" }), 201);
  const invitation = { email: "guest@example.org", role: "admin" };
  expectData(await owner.post("/v1/auth/orgs/invitations", invitation), 201);
  const invited = await create(api, "guest@example.org");
  const stranger = await create(api, "stranger@example.org");
  assert.equal(invited.status, 202);
  assert.deepEqual([stranger.status, stranger.text], [invited.status, invited.text]);
  const rows = await core.db.rows<{ email: string }>(sql`select email from users order by email`);
  assert.deepEqual(
    rows.map(({ email }) => email),
    ["guest@example.org", "root@example.org"],
  );
});

test("a password that is guessed early is refused where it is set, and the field is named", async () => {
  const { api } = await startWith("open");
  const attempt = (chosen: string) =>
    api.post("/v1/auth/sign-up/email", { name: "Grace Hopper", email: "weak@example.com", password: chosen });
  for (const chosen of ["aaaaaaaaaaaa", "1234567890", "Password123!", "hopper-grace-1"])
    expectError(await attempt(chosen), 400, "BAD_REQUEST", /`password` is too easy to guess/);
  const { token } = expectData(await attempt(password), 201);
  const changed = await api
    .as(token)
    .post("/v1/auth/account/password", { current_password: password, new_password: "aaaaaaaaaaaa" });
  expectError(changed, 400, "BAD_REQUEST", /`new_password` is too easy to guess: it repeats/);
});

test("where sign-up takes an invitation, only an address with one that is good makes an account", async () => {
  const service = await startWith("invited");
  const { api, core, clock } = service;
  const person = await preparePerson({ name: "Root", email: "root@example.com", password });
  await createUser(core, person, { emailVerified: true });
  const owner = api.as(expectData(await signIn(api, "root@example.com")).token);
  expectData(await owner.post("/v1/auth/orgs", { name: "Ops", slug: "ops" }), 201);
  const invite = (email: string) => owner.post("/v1/auth/orgs/invitations", { email, role: "admin" });

  expectError(await create(api, "guest@example.com"), 403, "INVITATION_REQUIRED", /`email`/);
  expectData(await invite("Guest@Example.com"), 201);
  expectError(await create(api, "other@example.com"), 403, "INVITATION_REQUIRED");
  // An address with an account but without an invitation gets the same answer.
  assert.equal((await create(api, "root@example.com")).text, (await create(api, "other@example.com")).text);
  const { token } = expectData(await create(api, "guest@example.com"), 201);
  assert.ok(token);

  const revoked = expectData(await invite("revoked@example.com"), 201);
  assert.equal((await owner.delete(`/v1/auth/orgs/invitations/${revoked.id}`)).status, 204);
  expectError(await create(api, "revoked@example.com"), 403, "INVITATION_REQUIRED");
  expectData(await invite("late@example.com"), 201);
  // Its sender may no longer send it.
  await core.db.run(sql`update memberships set role = 'member'`);
  expectError(await create(api, "late@example.com"), 403, "INVITATION_REQUIRED");
  await core.db.run(sql`update memberships set role = 'owner'`);
  clock.advance(7 * dayMs);
  expectError(await create(api, "late@example.com"), 403, "INVITATION_REQUIRED");
});

test("without a mail server signing up signs in at once, and a taken address is refused as such", async () => {
  const service = await startTestService();
  const rules = expectData(await service.api.get("/v1/auth/sign-up"));
  assert.deepEqual(rules, { mode: "open", email_verification_required: false });
  const owner = await signUpOwner(service.api);
  expectError(await create(service.api, owner.email), 409, "EMAIL_TAKEN", /`email`/);
  const user = await signUp(service.api);
  expectData(await user.api.post("/v1/auth/account/email/verification"), 202);
  await latestToken(service, user.email, "verify-email");
  expectData(await signIn(service.api, user.email));
});
