import assert from "node:assert/strict";
import test from "node:test";
import { deleteAccount, requestEmailChange, startTotp } from "@assay/contract/accounts";
import { errorsOf } from "@assay/contract/route";
import { Secret, TOTP } from "otpauth";
import { sql } from "../../../src/platform/db/sql.ts";
import { hourMs } from "../../../src/platform/kernel/clock.ts";
import { type Api, expectData, expectError, signUp, signUpOwner } from "../../support/api.ts";
import { latestToken, mailsTo, subjectsTo } from "../../support/mailed-links.ts";
import { startTestService } from "../../support/service.ts";

const service = await startTestService();
const { api, clock } = service;

const signIn = async (user: { email: string; password: string }) =>
  api.as(
    expectData(await api.post("/v1/auth/sign-in/email", { email: user.email, password: user.password }))
      .token,
  );

/** Makes `person` a member of the owner's organization, which becomes their active one. */
async function join(owner: { api: Api }, person: { api: Api; email: string }, role: string) {
  expectData(await owner.api.post("/v1/auth/orgs/invitations", { email: person.email, role }), 201);
  const texts = (await mailsTo(service, person.email)).map((mail) => mail.text);
  const token = /\/invitations\/([A-Za-z0-9]{43})\s/.exec(texts.at(-1) ?? "")?.[1];
  expectData(await person.api.post(`/v1/auth/invitations/${token}/accept`));
}

test("the account shows what protects it, and its name can be changed", async () => {
  const user = await signUp(api);
  assert.deepEqual(expectData(await user.api.get("/v1/auth/account")), {
    id: user.userId,
    name: "Ada Lovelace",
    email: user.email,
    email_verified: false,
    email_verification_required: false,
    language: null,
    has_password: true,
    totp_enabled: false,
    backup_codes_left: 0,
    passkey_count: 0,
    is_operator: false,
    created_at: clock.now().toISOString(),
  });
  assert.equal(expectData(await user.api.patch("/v1/auth/account", { name: " Ada King " })).name, "Ada King");
  expectError(await user.api.patch("/v1/auth/account", { name: "" }), 400, "BAD_REQUEST", /`name`/);
  expectError(
    await user.api.patch("/v1/auth/account", { email: "x@example.com" }),
    400,
    "BAD_REQUEST",
    /`email` is not a field/,
  );
  expectError(await api.get("/v1/auth/account"), 401, "UNAUTHORIZED");
  expectError(await api.patch("/v1/auth/account", { name: "X" }), 401, "UNAUTHORIZED");
});

test("a new password needs the present one and signs out every other session", async () => {
  const user = await signUp(api);
  const elsewhere = await signIn(user);
  await api.post("/v1/auth/sign-in/magic-link", { email: user.email });
  const link = await latestToken(service, user.email, "magic-link");
  const change = (current_password: string, new_password: string) =>
    user.api.post("/v1/auth/account/password", { current_password, new_password });
  expectError(
    await change("not the password", "a new long one"),
    400,
    "REAUTHENTICATION_FAILED",
    /`current_password`/,
  );
  expectError(await change(user.password, "short"), 400, "BAD_REQUEST", /`new_password`/);
  expectData(await elsewhere.get("/v1/auth/account"));
  assert.equal((await change(user.password, "a new long one")).status, 204);
  expectData(await user.api.get("/v1/auth/account"));
  expectError(await elsewhere.get("/v1/auth/account"), 401, "UNAUTHORIZED");
  expectError(await api.post("/v1/auth/sign-in/magic-link/verify", { token: link }), 401, "UNAUTHORIZED");
  await signIn({ ...user, password: "a new long one" });
  assert.ok((await subjectsTo(service, user.email)).includes("Your password was changed"));
});

test("the e-mail changes when the new address confirms it, and the old one gets a mail", async () => {
  const user = await signUp(api);
  const email = `new-${user.email}`;
  const ask = (body: object) => user.api.post("/v1/auth/account/email", body);
  expectError(await ask({ email }), 400, "REAUTHENTICATION_REQUIRED", /`password` or `code`/);
  expectError(
    await ask({ email, password: "wrong wrong" }),
    400,
    "REAUTHENTICATION_FAILED",
    /`password` is wrong/,
  );
  expectError(
    await ask({ email, code: "123456" }),
    400,
    "REAUTHENTICATION_CODE_UNUSABLE",
    /no second factor/,
  );
  expectError(await ask({ email: user.email, password: user.password }), 400, "EMAIL_UNCHANGED", /`email`/);
  expectError(await ask({ email: "nobody", password: user.password }), 400, "BAD_REQUEST", /`email`/);
  assert.deepEqual(expectData(await ask({ email, password: user.password }), 202), { accepted: true });
  assert.ok((await subjectsTo(service, user.email)).includes("Someone asked to change your email"));
  assert.equal(expectData(await user.api.get("/v1/auth/account")).email, user.email);

  await api.post("/v1/auth/sign-in/magic-link", { email: user.email });
  const oldLink = await latestToken(service, user.email, "magic-link");
  const token = await latestToken(service, email, "change-email");
  const confirm = "/v1/auth/account/email/confirm";
  const stranger = await signUp(api);
  expectError(await api.post(confirm, { token }), 401, "UNAUTHORIZED");
  expectError(await stranger.api.post(confirm, { token }), 400, "MAILED_TOKEN_INVALID", /`token`/);
  const account = expectData(await user.api.post(confirm, { token }));
  assert.equal(account.email, email);
  assert.equal(account.email_verified, true);
  expectError(await user.api.post(confirm, { token }), 400, "MAILED_TOKEN_INVALID", /`token`/);
  const notice = (await mailsTo(service, user.email)).find(
    ({ subject }) => subject === "Your email was changed",
  );
  assert.ok(notice?.text.includes(email), "it names the new address");
  expectError(await api.post("/v1/auth/sign-in/magic-link/verify", { token: oldLink }), 401, "UNAUTHORIZED");
  expectError(
    await api.post("/v1/auth/sign-in/email", { email: user.email, password: user.password }),
    401,
    "UNAUTHORIZED",
  );
  await signIn({ ...user, email });
});

test("a change to an e-mail that is taken looks the same and changes nothing", async () => {
  const [user, holder] = [await signUp(api), await signUp(api)];
  const ask = (email: string) => user.api.post("/v1/auth/account/email", { email, password: user.password });
  const taken = await ask(holder.email);
  const free = await ask(`free-${user.email}`);
  assert.equal(taken.text, free.text);
  assert.deepEqual(await subjectsTo(service, holder.email), ["This email already has an account"]);

  // Free when it was asked for, taken when it is confirmed.
  const token = await latestToken(service, `free-${user.email}`, "change-email");
  expectData(
    await api.post("/v1/auth/sign-up/email", {
      name: "Quick",
      email: `free-${user.email}`,
      password: "a long password",
    }),
    201,
  );
  expectError(
    await user.api.post("/v1/auth/account/email/confirm", { token }),
    409,
    "EMAIL_TAKEN",
    /`email`/,
  );
  assert.equal(expectData(await user.api.get("/v1/auth/account")).email, user.email);
});

test("a change of e-mail can be confirmed for an hour", async () => {
  const user = await signUp(api);
  const email = `late-${user.email}`;
  expectData(await user.api.post("/v1/auth/account/email", { email, password: user.password }), 202);
  const token = await latestToken(service, email, "change-email");
  clock.advance(hourMs);
  expectError(await user.api.post("/v1/auth/account/email/confirm", { token }), 400, "MAILED_TOKEN_INVALID");
});

test("an e-mail is verified by its signed-in owner, once", async () => {
  const [user, stranger] = [await signUp(api), await signUp(api)];
  assert.deepEqual(await mailsTo(service, user.email), [], "without a mail server signing up mails nothing");
  expectData(await user.api.post("/v1/auth/account/email/verification"), 202);
  const token = await latestToken(service, user.email, "verify-email");
  const path = "/v1/auth/account/email/verify";
  expectError(await api.post(path, { token }), 401, "UNAUTHORIZED");
  expectError(await stranger.api.post(path, { token }), 400, "MAILED_TOKEN_INVALID");
  assert.equal(expectData(await user.api.post(path, { token })).email_verified, true);
  expectError(await user.api.post(path, { token }), 400, "MAILED_TOKEN_INVALID", /`token`/);
  // The address is verified, so no further mail is sent.
  expectData(await user.api.post("/v1/auth/account/email/verification"), 202);
  assert.equal((await mailsTo(service, user.email)).length, 1);

  expectData(await stranger.api.post("/v1/auth/account/email/verification"), 202);
  const late = await latestToken(service, stranger.email, "verify-email");
  clock.advance(24 * hourMs);
  expectError(await stranger.api.post(path, { token: late }), 400, "MAILED_TOKEN_INVALID");
});

test("a link that was mailed for one purpose serves no other", async () => {
  const user = await signUp(api);
  const email = `other-${user.email}`;
  expectData(await user.api.post("/v1/auth/account/email/verification"), 202);
  expectData(await user.api.post("/v1/auth/account/email", { email, password: user.password }), 202);
  await api.post("/v1/auth/sign-in/magic-link", { email: user.email });
  await api.post("/v1/auth/password/forgot", { email: user.email });
  const tokens = {
    verify: await latestToken(service, user.email, "verify-email"),
    change: await latestToken(service, email, "change-email"),
    signIn: await latestToken(service, user.email, "magic-link"),
    reset: await latestToken(service, user.email, "reset-password"),
  };
  const uses = {
    verify: (token: string) => user.api.post("/v1/auth/account/email/verify", { token }),
    change: (token: string) => user.api.post("/v1/auth/account/email/confirm", { token }),
    signIn: (token: string) => api.post("/v1/auth/sign-in/magic-link/verify", { token }),
    reset: (token: string) => api.post("/v1/auth/password/reset", { token, password: "a new password" }),
  };
  for (const [use, send] of Object.entries(uses))
    for (const [purpose, token] of Object.entries(tokens))
      if (purpose !== use) assert.ok([400, 401].includes((await send(token)).status), `${purpose} as ${use}`);
  // None of these tries has used a link up.
  expectData(await uses.verify(tokens.verify));
  expectData(await uses.change(tokens.change));
});

test("own sessions are listed newest first and can be ended", async () => {
  const user = await signUp(api);
  clock.advance(1000);
  const second = await signIn(user);
  clock.advance(1000);
  const third = await signIn(user);
  const list = expectData(await second.get("/v1/auth/account/sessions"));
  assert.equal(list.length, 3);
  assert.deepEqual(
    list.map((session: { current: boolean }) => session.current),
    [false, true, false],
  );
  assert.deepEqual(Object.keys(list[0]).sort(), [
    "created_at",
    "current",
    "id",
    "last_seen_at",
    "user_agent",
  ]);
  const page = await second.get("/v1/auth/account/sessions", { limit: 2 });
  const rest = await second.get("/v1/auth/account/sessions", {
    starting_after: page.body.pagination?.next_cursor ?? "",
  });
  assert.equal(expectData(rest)[0].id, list[2].id);

  const stranger = await signUp(api);
  const path = `/v1/auth/account/sessions/${list[0].id}`;
  expectError(await stranger.api.delete(path), 404, "NOT_FOUND");
  const ended = await second.delete(path);
  assert.deepEqual([ended.status, ended.headers.get("set-cookie")], [204, null], "the own session goes on");
  expectError(await third.get("/v1/auth/account"), 401, "UNAUTHORIZED");
  expectError(await second.delete(path), 404, "NOT_FOUND");
  expectError(await second.delete("/v1/auth/account/sessions/nonsense"), 400, "BAD_REQUEST", /`id`/);

  assert.equal((await second.post("/v1/auth/account/sessions/revoke-others")).status, 204);
  expectError(await user.api.get("/v1/auth/account"), 401, "UNAUTHORIZED");
  const left = expectData(await second.get("/v1/auth/account/sessions"));
  assert.equal(left.length, 1);
  const own = await second.delete(`/v1/auth/account/sessions/${left[0].id}`);
  assert.match(own.headers.get("set-cookie") ?? "", /Max-Age=0/);
  expectError(await second.get("/v1/auth/account"), 401, "UNAUTHORIZED");
});

test("an account is deleted with everything that is its alone", async () => {
  const user = await signUp(api);
  const remove = (body?: object) => user.api.post("/v1/auth/account/delete", body);
  expectError(await remove({}), 400, "REAUTHENTICATION_REQUIRED", /`password` or `code`/);
  expectError(await remove({ password: "not the password" }), 400, "REAUTHENTICATION_FAILED", /`password`/);
  expectData(await user.api.get("/v1/auth/account"));
  const gone = await remove({ password: user.password });
  assert.equal(gone.status, 204);
  assert.match(gone.headers.get("set-cookie") ?? "", /Max-Age=0/);
  expectError(await user.api.get("/v1/auth/account"), 401, "UNAUTHORIZED");
  expectError(
    await api.post("/v1/auth/sign-in/email", { email: user.email, password: user.password }),
    401,
    "UNAUTHORIZED",
  );
  assert.deepEqual(await subjectsTo(service, user.email), ["Your account was deleted"]);
  expectData(
    await api.post("/v1/auth/sign-up/email", { name: "Again", email: user.email, password: user.password }),
    201,
  );
});

test("a code of the second factor is proof as well", async () => {
  const user = await signUp(api);
  const { secret } = expectData(
    await user.api.post("/v1/auth/account/totp/start", { password: user.password }),
  );
  const code = () => TOTP.generate({ secret: Secret.fromBase32(secret), timestamp: clock.now().getTime() });
  expectData(await user.api.post("/v1/auth/account/totp/confirm", { code: code() }));
  const remove = (given: string) => user.api.post("/v1/auth/account/delete", { code: given });
  expectError(await remove(code()), 400, "SECOND_FACTOR_CODE_INVALID", /`code`/);
  for (const route of [deleteAccount, startTotp, requestEmailChange])
    assert.ok(errorsOf(route).includes("SECOND_FACTOR_CODE_INVALID"), route.path);
  clock.advance(60_000);
  assert.equal((await remove(code())).status, 204);
});

test("a sole owner cannot delete the account, and sees which organizations prevent it", async () => {
  const owner = await signUpOwner(api);
  const [first] = expectData(await owner.api.get("/v1/auth/account/owned-organizations")).organizations;
  assert.deepEqual(Object.keys(first).sort(), ["id", "name", "slug"]);
  assert.equal(first.id, owner.organizationId);
  const remove = () => owner.api.post("/v1/auth/account/delete", { password: owner.password });
  const refused = await remove();
  expectError(refused, 409, "SOLE_OWNER", /sole owner/);
  assert.ok(refused.body.error?.hint.includes(first.name));

  // A member who is no owner does not help; a second owner does.
  const partner = await signUpOwner(api);
  await join(owner, partner, "admin");
  expectError(await remove(), 409, "SOLE_OWNER");
  const members = expectData<{ id: string; user_id: string }[]>(await owner.api.get("/v1/auth/orgs/members"));
  const memberId = members.find((member) => member.user_id === partner.userId)?.id;
  expectData(await owner.api.patch(`/v1/auth/orgs/members/${memberId}`, { role: "owner" }));
  assert.deepEqual(expectData(await owner.api.get("/v1/auth/account/owned-organizations")).organizations, []);
  assert.equal((await remove()).status, 204);

  // Shared things stay, and the log says who left.
  const owned = expectData(await partner.api.get("/v1/auth/account/owned-organizations")).organizations;
  assert.deepEqual(
    owned.map((organization: { id: string }) => organization.id).sort(),
    [owner.organizationId, partner.organizationId].sort(),
  );
  const [went] = expectData(
    await partner.api.get("/v1/auth/orgs/audit-logs", { event: "member.account_deleted" }),
  );
  assert.equal(went.actor_id, owner.userId);
});

test("of two owners who delete their accounts at once, one stays", async () => {
  const [one, two] = [await signUpOwner(api), await signUp(api)];
  await join(one, two, "owner");
  const answers = await Promise.all(
    [one, two].map((user) => user.api.post("/v1/auth/account/delete", { password: user.password })),
  );
  assert.deepEqual(answers.map((answer) => answer.status).sort(), [204, 409]);
});

test("none of these routes answers without a sign-in", async () => {
  for (const path of ["passkeys", "account", "account/sessions", "account/owned-organizations"])
    expectError(await api.get(`/v1/auth/${path}`), 401, "UNAUTHORIZED");
  for (const path of [
    "passkeys/options",
    "passkeys",
    "account/totp/start",
    "account/totp/confirm",
    "account/totp/disable",
    "account/totp/backup-codes",
    "account/password",
    "account/email",
    "account/email/confirm",
    "account/email/verification",
    "account/email/verify",
    "account/sessions/revoke-others",
    "account/delete",
  ])
    expectError(await api.post(`/v1/auth/${path}`), 401, "UNAUTHORIZED");
});

test("the last use of a session is noted every ten minutes at most", async () => {
  const user = await signUp(api);
  const signedUpAt = clock.now().toISOString();
  const lastSeen = async () =>
    expectData<{ last_seen_at: string }[]>(await user.api.get("/v1/auth/account/sessions"))[0]?.last_seen_at;
  clock.advance(hourMs / 6);
  assert.equal(await lastSeen(), signedUpAt);
  clock.advance(1);
  await lastSeen();
  assert.equal(await lastSeen(), clock.now().toISOString());
});

test("the own address in another spelling is confirmed like a new one, and no other address is mailed", async () => {
  const user = await signUp(api);
  const [name = "", domain] = user.email.split("@");
  const email = `${name.toUpperCase()}@${domain}`;
  expectData(await user.api.post("/v1/auth/account/email", { email, password: user.password }), 202);
  const token = await latestToken(service, email, "change-email");
  assert.equal(expectData(await user.api.post("/v1/auth/account/email/confirm", { token })).email, email);
  assert.ok(!(await subjectsTo(service, email)).includes("This email already has an account"));
  await signIn(user);
});

test("an account whose password was taken away by the proof of its address has none to change", async () => {
  const user = await signUp(api);
  await service.core.db.run(sql`update users set password_hash = null where id = ${user.userId}`);
  assert.equal(expectData(await user.api.get("/v1/auth/account")).has_password, false);
  const body = { current_password: user.password, new_password: "a completely new one" };
  expectError(await user.api.post("/v1/auth/account/password", body), 409, "PASSWORD_NOT_SET");
  expectError(
    await user.api.post("/v1/auth/account/delete", { password: user.password }),
    400,
    "REAUTHENTICATION_FAILED",
  );
});

test("a language is kept until another one is chosen", async () => {
  const user = await signUp(api);
  const change = async (body: object) => expectData(await user.api.patch("/v1/auth/account", body)).language;
  assert.equal(await change({ name: "Ada", language: "de" }), "de");
  assert.equal(await change({ name: "Ada" }), "de");
  assert.equal(await change({ name: "Ada", language: "fr" }), "fr");
});
