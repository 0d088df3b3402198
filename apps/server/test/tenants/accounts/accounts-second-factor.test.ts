import assert from "node:assert/strict";
import test from "node:test";
import { Secret, TOTP } from "otpauth";
import { sql } from "../../../src/platform/db/sql.ts";
import { hourMs, secondMs } from "../../../src/platform/kernel/clock.ts";
import { resealAll } from "../../../src/platform/key-ring/sealed-columns.store.ts";
import { KeyRing, parseRing } from "../../../src/platform/lib/key-ring.ts";
import { type Api, expectData, expectError, signUp } from "../../support/api.ts";
import { latestToken, subjectsTo } from "../../support/mailed-links.ts";
import { startTestService } from "../../support/service.ts";
import { testRing } from "../../support/test-ring.ts";

const service = await startTestService();
const { api, clock } = service;

const stepMs = 30 * secondMs;
const codeOf = (secret: string, steps = 0) =>
  TOTP.generate({ secret: Secret.fromBase32(secret), timestamp: clock.now().getTime() + steps * stepMs });

/** Turns the second factor on. The code that confirmed it is spent, so the clock moves to the next one. */
async function turnOn(user: { api: Api; password: string }) {
  const { secret } = expectData(
    await user.api.post("/v1/auth/account/totp/start", { password: user.password }),
  );
  const confirmed = await user.api.post("/v1/auth/account/totp/confirm", { code: codeOf(secret) });
  const { backup_codes: backupCodes } = expectData(confirmed);
  clock.advance(2 * stepMs);
  return { secret: secret as string, backupCodes: backupCodes as string[] };
}

const signIn = (user: { email: string; password: string }, code?: string) =>
  api.post("/v1/auth/sign-in/email", {
    email: user.email,
    password: user.password,
    ...(code === undefined ? {} : { code }),
  });

test("nothing is asked for until the secret is confirmed with a code", async () => {
  const user = await signUp(api);
  const { secret, otpauth_uri } = expectData(
    await user.api.post("/v1/auth/account/totp/start", { password: user.password }),
  );
  assert.equal(new URL(otpauth_uri).searchParams.get("secret"), secret);
  expectData(await signIn(user));
  // A second start replaces the first.
  const second = expectData(
    await user.api.post("/v1/auth/account/totp/start", { password: user.password }),
  ).secret;
  assert.notEqual(second, secret);
  expectError(
    await user.api.post("/v1/auth/account/totp/confirm", { code: codeOf(secret) }),
    400,
    "SECOND_FACTOR_CODE_INVALID",
    /`code`/,
  );
  const { backup_codes } = expectData(
    await user.api.post("/v1/auth/account/totp/confirm", { code: codeOf(second) }),
  );
  assert.equal(new Set(backup_codes).size, 10);
  const account = expectData(await user.api.get("/v1/auth/account"));
  assert.equal(account.totp_enabled, true);
  assert.equal(account.backup_codes_left, 10);
  expectError(await signIn(user), 401, "SECOND_FACTOR_REQUIRED");
  expectError(
    await user.api.post("/v1/auth/account/totp/start", { password: user.password }),
    409,
    "SECOND_FACTOR_ON",
    /is on/,
  );
  expectError(
    await user.api.post("/v1/auth/account/totp/confirm", { code: "123456" }),
    409,
    "SECOND_FACTOR_ON",
    /is on/,
  );
  assert.ok((await subjectsTo(service, user.email)).includes("Two-step sign-in was turned on"));
});

test("the factor is asked for only after the right password", async () => {
  const user = await signUp(api);
  const { secret } = await turnOn(user);
  const wrong = await signIn({ ...user, password: "not the password" });
  const unknown = await signIn({ email: "nobody@example.com", password: "not the password" });
  assert.equal(wrong.text, unknown.text);
  expectError(await signIn({ ...user, password: "wrong as well" }, codeOf(secret)), 401, "UNAUTHORIZED");
  const asked = await signIn(user);
  expectError(asked, 401, "SECOND_FACTOR_REQUIRED");
  assert.match(asked.body.error?.hint ?? "", /`code`/);
  assert.equal(asked.headers.get("set-cookie"), null);
  expectData(await signIn(user, codeOf(secret)));
});

test("a code works once, and none of an earlier step works after it", async () => {
  const user = await signUp(api);
  const { secret } = await turnOn(user);
  const code = codeOf(secret);
  const earlier = codeOf(secret, -1);
  expectData(await signIn(user, `${code.slice(0, 3)} ${code.slice(3)}`));
  expectError(await signIn(user, code), 401, "UNAUTHORIZED", /`code`/);
  expectError(await signIn(user, earlier), 401, "UNAUTHORIZED");
  expectData(await signIn(user, codeOf(secret, 1)));
  clock.advance(2 * stepMs);
  expectData(await signIn(user, codeOf(secret)));
  expectError(await signIn(user, codeOf(secret, 5)), 401, "UNAUTHORIZED");
});

test("the code that turned the factor on does not sign in", async () => {
  const user = await signUp(api);
  const { secret } = expectData(
    await user.api.post("/v1/auth/account/totp/start", { password: user.password }),
  );
  const code = codeOf(secret);
  expectData(await user.api.post("/v1/auth/account/totp/confirm", { code }));
  expectError(await signIn(user, code), 401, "UNAUTHORIZED");
});

test("of many at once with one code, one gets in", async () => {
  const user = await signUp(api);
  const { secret, backupCodes } = await turnOn(user);
  for (const code of [codeOf(secret), backupCodes[0]]) {
    const answers = await Promise.all(Array.from({ length: 4 }, () => signIn(user, code)));
    assert.deepEqual(answers.map((answer) => answer.status).sort(), [200, 401, 401, 401]);
    clock.advance(hourMs);
  }
});

test("a backup code signs in once", async () => {
  const user = await signUp(api);
  const other = await signUp(api);
  const { backupCodes } = await turnOn(user);
  await turnOn(other);
  const [code = "", next = ""] = backupCodes;
  expectError(await signIn(other, code), 401, "UNAUTHORIZED");
  expectData(await signIn(user, code.toUpperCase()));
  expectError(await signIn(user, code), 401, "UNAUTHORIZED");
  expectData(await signIn(user, next.replaceAll("-", "")));
  assert.equal(expectData(await user.api.get("/v1/auth/account")).backup_codes_left, 8);
});

test("a link is not used up by a missing or wrong code", async () => {
  const user = await signUp(api);
  const { secret } = await turnOn(user);
  await api.post("/v1/auth/sign-in/magic-link", { email: user.email });
  const token = await latestToken(service, user.email, "magic-link");
  const verify = (code?: string) =>
    api.post("/v1/auth/sign-in/magic-link/verify", { token, ...(code ? { code } : {}) });
  expectError(await verify(), 401, "SECOND_FACTOR_REQUIRED");
  expectError(await verify("000000"), 401, "UNAUTHORIZED", /`code`/);
  expectData(await verify(codeOf(secret)));
  expectError(await verify(codeOf(secret, 1)), 401, "UNAUTHORIZED", /link/);
});

test("a reset of the password does not turn the factor off", async () => {
  const user = await signUp(api);
  const { secret } = await turnOn(user);
  await api.post("/v1/auth/password/forgot", { email: user.email });
  const token = await latestToken(service, user.email, "reset-password");
  const password = "a completely new one";
  assert.equal((await api.post("/v1/auth/password/reset", { token, password })).status, 204);
  expectError(await signIn({ ...user, password }), 401, "SECOND_FACTOR_REQUIRED");
  expectData(await signIn({ ...user, password }, codeOf(secret)));
});

test("new backup codes replace the old ones", async () => {
  const user = await signUp(api);
  const { secret, backupCodes } = await turnOn(user);
  const path = "/v1/auth/account/totp/backup-codes";
  expectError(await user.api.post(path, { code: "000000" }), 400, "SECOND_FACTOR_CODE_INVALID");
  const fresh = expectData(await user.api.post(path, { code: codeOf(secret) })).backup_codes;
  assert.equal(fresh.length, 10);
  expectError(await signIn(user, backupCodes[0]), 401, "UNAUTHORIZED");
  expectData(await signIn(user, fresh[0]));
});

test("turning it off takes a code and forgets everything", async () => {
  const user = await signUp(api);
  for (const action of ["disable", "backup-codes"])
    expectError(
      await user.api.post(`/v1/auth/account/totp/${action}`, { code: "123456" }),
      409,
      "SECOND_FACTOR_OFF",
      /no second factor/,
    );
  expectError(
    await user.api.post("/v1/auth/account/totp/confirm", { code: "123456" }),
    409,
    "SECOND_FACTOR_NOT_STARTED",
  );
  const { backupCodes } = await turnOn(user);
  expectError(
    await user.api.post("/v1/auth/account/totp/disable", { code: "000000" }),
    400,
    "SECOND_FACTOR_CODE_INVALID",
  );
  expectError(await user.api.post("/v1/auth/account/totp/disable", {}), 400, "BAD_REQUEST", /`code`/);
  assert.equal((await user.api.post("/v1/auth/account/totp/disable", { code: backupCodes[3] })).status, 204);
  expectData(await signIn(user));
  const account = expectData(await user.api.get("/v1/auth/account"));
  assert.equal(account.totp_enabled, false);
  assert.equal(account.backup_codes_left, 0);
  await turnOn(user);
});

test("the secret is stored sealed and bound to its account; backup codes are stored as hashes", async () => {
  const user = await signUp(api);
  const { secret, backupCodes } = await turnOn(user);
  const row = await service.core.db.one<{ secret: Buffer }>(
    sql`select secret from second_factors where user_id = ${user.userId}`,
  );
  const plain = Buffer.from(Secret.fromBase32(secret).bytes);
  assert.ok(!row.secret.includes(plain));
  assert.deepEqual(service.core.ring.open("second-factor", row.secret, user.userId), plain);
  assert.throws(() => service.core.ring.open("second-factor", row.secret, "another account"));
  const codes = await service.core.db.rows<{ codeHash: Buffer }>(
    sql`select code_hash from backup_codes where user_id = ${user.userId}`,
  );
  assert.equal(codes.length, 10);
  for (const { codeHash } of codes)
    for (const code of backupCodes) assert.ok(!codeHash.includes(code.replaceAll("-", "")));
});

test("after a rotation of the key ring the secret opens with the new key alone", async () => {
  const user = await signUp(api);
  const { secret } = await turnOn(user);
  const old = parseRing(testRing);
  const [fresh] = parseRing(`2:${Buffer.alloc(32, 2).toString("base64")}`);
  assert.ok(fresh);
  await resealAll(service.core.db, new KeyRing([fresh, ...old]), service.core.clock.now());
  const row = await service.core.db.one<{ secret: Buffer }>(
    sql`select secret from second_factors where user_id = ${user.userId}`,
  );
  const plain = Buffer.from(Secret.fromBase32(secret).bytes);
  assert.deepEqual(new KeyRing([fresh]).open("second-factor", row.secret, user.userId), plain);
});
