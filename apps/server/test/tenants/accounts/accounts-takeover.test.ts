import assert from "node:assert/strict";
import test from "node:test";
import { Secret, TOTP } from "otpauth";
import { type Api, expectData, expectError, signUp } from "../../support/api.ts";
import { SoftwareAuthenticator } from "../../support/authenticator.ts";
import { startMailSink } from "../../support/mail-sink.ts";
import { startTestService } from "../../support/service.ts";

// An installation without mail that gets a mail server later: the same database, before and after.
const origin = "https://id.example.com";
const sink = await startMailSink();
const before = await startTestService({ env: { PUBLIC_URL: origin }, role: "api" });
const { clock } = before;
const mailing = await startTestService({
  env: { PUBLIC_URL: origin, SMTP_URL: sink.url },
  databaseUrl: before.databaseUrl,
  clock,
});
const { api } = mailing;

type Person = Awaited<ReturnType<typeof signUp>>;

const codeOf = (secret: string) =>
  TOTP.generate({ secret: Secret.fromBase32(secret), timestamp: clock.now().getTime() });

async function addPasskey(user: { api: Api }, proof: object) {
  const authenticator = new SoftwareAuthenticator(origin);
  const { options } = expectData(await user.api.post("/v1/auth/passkeys/options", proof));
  const response = authenticator.create(options);
  expectData(await user.api.post("/v1/auth/passkeys", { name: "Old phone", response }), 201);
  return authenticator;
}

async function turnOnCodes(user: Person) {
  const proof = { password: user.password };
  const { secret } = expectData(await user.api.post("/v1/auth/account/totp/start", proof));
  const confirmed = await user.api.post("/v1/auth/account/totp/confirm", { code: codeOf(secret) });
  const [backupCode = ""] = expectData<{ backup_codes: string[] }>(confirmed).backup_codes;
  return { secret: secret as string, backupCode };
}

async function signInByPasskey(authenticator: SoftwareAuthenticator) {
  const { options } = expectData(await api.post("/v1/auth/sign-in/passkey/options"));
  return api.post("/v1/auth/sign-in/passkey/verify", { response: authenticator.get(options) });
}

async function signInByLink(email: string) {
  expectData(await api.post("/v1/auth/sign-in/magic-link", { email }), 202);
  const token = await sink.tokenFor(mailing, email, "magic-link");
  return api.post("/v1/auth/sign-in/magic-link/verify", { token });
}

async function resetPassword(email: string, password: string) {
  expectData(await api.post("/v1/auth/password/forgot", { email }), 202);
  const token = await sink.tokenFor(mailing, email, "reset-password");
  assert.equal((await api.post("/v1/auth/password/reset", { token, password })).status, 204);
}

/** Signed up with another person's address before addresses were verified, and still signed in. */
async function squat() {
  const squatter = await signUp(before.api);
  const authenticator = await addPasskey(squatter, { password: squatter.password });
  const { backupCode } = await turnOnCodes(squatter);
  return { squatter, authenticator, backupCode };
}

for (const route of ["/v1/auth/passkeys/options", "/v1/auth/account/totp/start"])
  test(`an open session alone does not do with ${route}`, async () => {
    const user = await signUp(before.api);
    expectError(await user.api.post(route), 400, "REAUTHENTICATION_REQUIRED", /`password` or `code`/);
    expectError(await user.api.post(route, {}), 400, "REAUTHENTICATION_REQUIRED", /`password` or `code`/);
    expectError(
      await user.api.post(route, { code: "123456" }),
      400,
      "REAUTHENTICATION_CODE_UNUSABLE",
      /no second factor/,
    );
    for (let i = 0; i < 10; i++)
      expectError(
        await user.api.post(route, { password: "a wrong guess" }),
        400,
        "REAUTHENTICATION_FAILED",
        /`password`/,
      );
    expectError(await user.api.post(route, { password: user.password }), 429, "RATE_LIMITED");
  });

test("a code of the second factor adds a passkey, once", async () => {
  const user = await signUp(before.api);
  const { secret } = await turnOnCodes(user);
  clock.advance(60_000);
  const code = codeOf(secret);
  await addPasskey(user, { code });
  expectError(
    await user.api.post("/v1/auth/passkeys/options", { code }),
    400,
    "SECOND_FACTOR_CODE_INVALID",
    /`code`/,
  );
});

test("the first proof of an address by link ends passkeys and second factor of the earlier user", async () => {
  const { squatter, authenticator, backupCode } = await squat();
  // No code is asked for: the owner of the mailbox cannot have it.
  const signedIn = expectData(await signInByLink(squatter.email));
  const account = expectData(await api.as(signedIn.token).get("/v1/auth/account"));
  assert.deepEqual(
    [
      account.email_verified,
      account.has_password,
      account.totp_enabled,
      account.passkey_count,
      account.backup_codes_left,
    ],
    [true, false, false, 0, 0],
  );
  expectError(await signInByPasskey(authenticator), 401, "UNAUTHORIZED");
  expectError(await squatter.api.get("/v1/auth/account"), 401, "UNAUTHORIZED");
  const { email, password } = squatter;
  expectError(
    await api.post("/v1/auth/sign-in/email", { email, password, code: backupCode }),
    401,
    "UNAUTHORIZED",
  );
  const notice = (await sink.mailsTo(mailing, email)).at(-1);
  assert.equal(notice?.subject, "Your email was verified");
  assert.match(notice?.text ?? "", /Old phone.*Two-step sign-in was turned off/s);
});

test("the first proof of an address by a reset does so too", async () => {
  const { squatter, authenticator } = await squat();
  const password = "of the true owner";
  await resetPassword(squatter.email, password);
  const { token } = expectData(await api.post("/v1/auth/sign-in/email", { email: squatter.email, password }));
  const account = expectData(await api.as(token).get("/v1/auth/account"));
  assert.deepEqual([account.email_verified, account.totp_enabled, account.passkey_count], [true, false, 0]);
  expectError(await signInByPasskey(authenticator), 401, "UNAUTHORIZED");
});

test("a reset of a proven account ends passkeys, names them, and still asks for the second factor", async () => {
  const user = await signUp(before.api);
  const authenticator = await addPasskey(user, { password: user.password });
  expectData(await user.api.post("/v1/auth/account/email/verification"), 202);
  const verify = await sink.tokenFor(mailing, user.email, "verify-email");
  expectData(await user.api.post("/v1/auth/account/email/verify", { token: verify }));
  const { secret } = await turnOnCodes(user);
  clock.advance(60_000);
  const password = "a completely new one";
  await resetPassword(user.email, password);
  expectError(await signInByPasskey(authenticator), 401, "UNAUTHORIZED");
  const signIn = (code?: string) =>
    api.post("/v1/auth/sign-in/email", { email: user.email, password, ...(code ? { code } : {}) });
  expectError(await signIn(), 401, "SECOND_FACTOR_REQUIRED");
  const { token } = expectData(await signIn(codeOf(secret)));
  assert.equal(expectData(await api.as(token).get("/v1/auth/account")).passkey_count, 0);
  const notice = (await sink.mailsTo(mailing, user.email)).find(({ subject }) => /was reset/.test(subject));
  assert.match(notice?.text ?? "", /Old phone/);
});

test("a secret that was shown before a reset cannot be confirmed after it", async () => {
  const user = await signUp(before.api);
  const proof = { password: user.password };
  const { secret } = expectData(await user.api.post("/v1/auth/account/totp/start", proof));
  const password = "a completely new one";
  await resetPassword(user.email, password);
  const { token } = expectData(await api.post("/v1/auth/sign-in/email", { email: user.email, password }));
  const confirmed = await api.as(token).post("/v1/auth/account/totp/confirm", { code: codeOf(secret) });
  expectError(confirmed, 409, "SECOND_FACTOR_NOT_STARTED", /nothing to confirm/);
});
