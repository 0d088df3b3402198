import assert from "node:assert/strict";
import test from "node:test";
import { createUser, preparePerson } from "../../../src/tenants/accounts/create-user.ts";
import { type Api, expectData, expectError, signUp } from "../../support/api.ts";
import { startMailSink } from "../../support/mail-sink.ts";
import { startTestService } from "../../support/service.ts";

const sink = await startMailSink();
const service = await startTestService({ env: { SMTP_URL: sink.url, PUBLIC_URL: "http://localhost:3000" } });
const { api } = service;
/** The same installation before it had a mail server: its accounts are signed in and not verified. */
const before = await startTestService({
  databaseUrl: service.databaseUrl,
  clock: service.clock,
  role: "api",
});

async function signUpBefore() {
  const user = await signUp(before.api);
  return { ...user, api: api.as(user.token) };
}

const linkTo = (email: string, page: string) => sink.tokenFor(service, email, page);

async function verifyLink(user: { api: Api; email: string }): Promise<string> {
  expectData(await user.api.post("/v1/auth/account/email/verification"), 202);
  return linkTo(user.email, "verify-email");
}

test("with a mail server an organization needs a verified e-mail", async () => {
  const user = await signUpBefore();
  const create = () =>
    user.api.post("/v1/auth/orgs", { name: "Acme", slug: `acme-${user.userId.slice(-12)}` });
  const refused = await create();
  expectError(refused, 403, "EMAIL_NOT_VERIFIED");
  assert.match(refused.body.error?.hint ?? "", /\/v1\/auth\/account\/email\/verification/);
  const account = expectData(await user.api.get("/v1/auth/account"));
  assert.equal(account.email_verification_required, true);
  assert.equal(account.email_verified, false);
  const token = await verifyLink(user);
  assert.equal(
    expectData(await user.api.post("/v1/auth/account/email/verify", { token })).email_verified,
    true,
  );
  expectData(await create(), 201);
});

test("an unverified account cannot add passkeys or a second factor", async () => {
  const user = await signUpBefore();
  expectError(
    await user.api.post("/v1/auth/passkeys/options", { password: user.password }),
    403,
    "EMAIL_NOT_VERIFIED",
  );
  expectError(
    await user.api.post("/v1/auth/account/totp/start", { password: user.password }),
    403,
    "EMAIL_NOT_VERIFIED",
  );
  const token = await verifyLink(user);
  expectData(await user.api.post("/v1/auth/account/email/verify", { token }));
  expectData(await user.api.post("/v1/auth/passkeys/options", { password: user.password }));
  expectData(await user.api.post("/v1/auth/account/totp/start", { password: user.password }));
});

test("a user who signed up with another person's e-mail is signed out when its owner signs in by link", async () => {
  const squatter = await signUpBefore();
  await api.post("/v1/auth/sign-in/magic-link", { email: squatter.email });
  const token = await linkTo(squatter.email, "magic-link");
  const owner = api.as(expectData(await api.post("/v1/auth/sign-in/magic-link/verify", { token })).token);
  const account = expectData(await owner.get("/v1/auth/account"));
  assert.equal(account.email_verified, true);
  assert.equal(account.has_password, false);
  expectError(await squatter.api.get("/v1/auth/account"), 401, "UNAUTHORIZED");
  const { email, password } = squatter;
  expectError(await api.post("/v1/auth/sign-in/email", { email, password }), 401, "UNAUTHORIZED");

  // The owner sets a password through the mailbox, because there is no password to change.
  expectError(
    await owner.post("/v1/auth/account/password", {
      current_password: password,
      new_password: "of the owner",
    }),
    409,
    "PASSWORD_NOT_SET",
    /no password/,
  );
  await api.post("/v1/auth/password/forgot", { email });
  const reset = await linkTo(email, "reset-password");
  assert.equal(
    (await api.post("/v1/auth/password/reset", { token: reset, password: "of the owner" })).status,
    204,
  );
  expectData(await api.post("/v1/auth/sign-in/email", { email, password: "of the owner" }));
});

test("a verified account keeps its password when it signs in by link", async () => {
  const user = await signUpBefore();
  const verify = await verifyLink(user);
  expectData(await user.api.post("/v1/auth/account/email/verify", { token: verify }));
  await api.post("/v1/auth/sign-in/magic-link", { email: user.email });
  const token = await linkTo(user.email, "magic-link");
  expectData(await api.post("/v1/auth/sign-in/magic-link/verify", { token }));
  expectData(await user.api.get("/v1/auth/account"));
  expectData(await api.post("/v1/auth/sign-in/email", { email: user.email, password: user.password }));
});

test("a reset proves the e-mail too", async () => {
  const user = await signUpBefore();
  await api.post("/v1/auth/password/forgot", { email: user.email });
  const token = await linkTo(user.email, "reset-password");
  const password = "a completely new one";
  assert.equal((await api.post("/v1/auth/password/reset", { token, password })).status, 204);
  const signedIn = expectData(await api.post("/v1/auth/sign-in/email", { email: user.email, password }));
  assert.equal(signedIn.user.email_verified, true);
});

test("an account that the operator makes is verified, and its fields are checked like those of a sign-up", async () => {
  const person = { name: "Root", email: "root@example.com", password: "a long password" };
  const user = await createUser(service.core, await preparePerson(person), { emailVerified: true });
  assert.ok(user.emailVerifiedAt);
  const { token } = expectData(
    await api.post("/v1/auth/sign-in/email", { email: person.email, password: person.password }),
  );
  expectData(await api.as(token).post("/v1/auth/orgs", { name: "Ops", slug: "ops" }), 201);
  const made = async (change: object) =>
    createUser(service.core, await preparePerson({ ...person, ...change }));
  await assert.rejects(made({}), { code: "EMAIL_TAKEN" });
  await assert.rejects(made({ email: "nobody" }), { code: "BAD_REQUEST", message: /`email`/ });
  await assert.rejects(made({ password: "short" }), { code: "BAD_REQUEST", message: /`password`/ });
});
