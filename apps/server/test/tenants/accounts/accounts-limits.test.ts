import assert from "node:assert/strict";
import test from "node:test";
import { sql } from "../../../src/platform/db/sql.ts";
import { hourMs, minuteMs, secondMs } from "../../../src/platform/kernel/clock.ts";
import { type Answer, type Api, createPartner, expectData, expectError, signUp } from "../../support/api.ts";
import { latestToken, mailsTo } from "../../support/mailed-links.ts";
import { startTestService } from "../../support/service.ts";

// Two processes with one database, folder and clock. The proxy in front of them sends the caller's address.
const env = { TRUST_PROXY: "127.0.0.1" };
const service = await startTestService({ env });
const second = await startTestService({
  env: { ...env, DATA_DIR: service.dataDir },
  databaseUrl: service.databaseUrl,
  clock: service.clock,
});
// Either process may have taken the work, so both finish it.
const both = {
  dataDirs: service.dataDirs,
  runJob: async (name: string) => {
    await service.runJob(name);
    await second.runJob(name);
  },
};
const { api, clock } = service;

let addresses = 0;
const newAddress = () => {
  addresses += 1;
  return `198.51.${addresses >> 8}.${addresses & 255}`;
};

const signIn = (address: string, email: string, password: string, at: Api = api, code?: string) =>
  at.post(
    "/v1/auth/sign-in/email",
    { email, password, ...(code ? { code } : {}) },
    { "x-forwarded-for": address },
  );

function expectLimited(answer: Answer): number {
  expectError(answer, 429, "RATE_LIMITED");
  const seconds = Number(answer.headers.get("retry-after"));
  assert.ok(Number.isInteger(seconds) && seconds > 0, "Retry-After says how long");
  return seconds;
}

const freeGuesses = 10;

async function exhaust(address: string, email: string) {
  for (let i = 0; i < freeGuesses; i++)
    expectError(await signIn(address, email, "a wrong guess"), 401, "UNAUTHORIZED");
}

test("guesses at a password are slowed down more and more, the right password included, and the wait ends", async () => {
  const { email, password } = await signUp(api);
  const address = newAddress();
  await exhaust(address, email);
  const waits: number[] = [];
  for (let i = 0; i < 9; i++) {
    const wait = expectLimited(await signIn(address, email, password));
    waits.push(wait);
    clock.advance(wait * secondMs);
    expectError(await signIn(address, email, "a wrong guess"), 401, "UNAUTHORIZED");
  }
  assert.deepEqual(waits.slice(0, 3), [10, 20, 40]);
  assert.deepEqual(
    waits,
    waits.toSorted((a, b) => a - b),
  );
  assert.equal(waits.at(-1), 15 * 60);
  clock.advance(15 * minuteMs);
  expectData(await signIn(address, email, password));
  // A success resets the count.
  await exhaust(address, email);
});

test("asking during the wait does not make it longer", async () => {
  const { email, password } = await signUp(api);
  const address = newAddress();
  await exhaust(address, email);
  assert.equal(expectLimited(await signIn(address, email, "x")), 10);
  clock.advance(4 * secondMs);
  assert.equal(expectLimited(await signIn(address, email, "x")), 6);
  clock.advance(6 * secondMs);
  expectData(await signIn(address, email, password));
});

test("a stranger who guesses does not lock the owner out", async () => {
  const user = await signUp(api);
  await exhaust(newAddress(), user.email);
  // From another address, with a session that is open, and by link.
  expectData(await signIn(newAddress(), user.email, user.password));
  expectData(await user.api.get("/v1/auth/account"));
  await api.post("/v1/auth/sign-in/magic-link", { email: user.email });
  const token = await latestToken(both, user.email, "magic-link");
  expectData(await api.post("/v1/auth/sign-in/magic-link/verify", { token }));
});

test("many addresses that guess at one account wait together; an address that was signed in from does not", async () => {
  const user = await signUp(api);
  const home = newAddress();
  expectData(await signIn(home, user.email, user.password));
  for (let i = 0; i < 30; i++)
    expectError(await signIn(newAddress(), user.email, "a wrong guess"), 401, "UNAUTHORIZED");
  const wait = expectLimited(await signIn(newAddress(), user.email, "a wrong guess"));
  assert.ok(wait <= 300);
  expectData(await signIn(home, user.email, user.password));
  clock.advance(wait * secondMs);
  expectData(await signIn(newAddress(), user.email, user.password));
});

test("one address that guesses at many accounts is slowed down; who signed in from there before is not", async () => {
  const address = newAddress();
  const neighbour = await signUp(api);
  expectData(await signIn(address, neighbour.email, neighbour.password));
  for (let i = 0; i < 60; i++)
    expectError(await signIn(address, `many-${i}@example.com`, "a wrong guess"), 401, "UNAUTHORIZED");
  expectLimited(await signIn(address, "many-60@example.com", "a wrong guess"));
  expectData(await signIn(address, neighbour.email, neighbour.password));
  expectError(await signIn(newAddress(), "many-60@example.com", "a wrong guess"), 401, "UNAUTHORIZED");
});

test("a right password gives back its own try only: the wrong guesses from its address still count", async () => {
  const address = newAddress();
  const guesser = await signUp(api);
  const guess = (i: number) => signIn(address, `spread-${i}@example.com`, "a wrong guess");
  for (let i = 0; i < 59; i++) expectError(await guess(i), 401, "UNAUTHORIZED");
  // The account of the guesser was never signed in to from here, so this sign-in counts for the address too.
  expectData(await signIn(address, guesser.email, guesser.password));
  expectError(await guess(59), 401, "UNAUTHORIZED");
  expectLimited(await guess(60));
});

test("right passwords from one address are never limited", async () => {
  const { email, password } = await signUp(api);
  const address = newAddress();
  for (let i = 0; i < 70; i++) expectData(await signIn(address, email, password));
});

test("addresses of one IPv6 network count as one", async () => {
  const { email } = await signUp(api);
  for (let i = 0; i < freeGuesses; i++)
    expectError(await signIn(`2001:db8:7:7::${i + 1}`, email, "a wrong guess"), 401, "UNAUTHORIZED");
  expectLimited(await signIn("2001:db8:7:7:ffff::1", email, "a wrong guess"));
  expectError(await signIn("2001:db8:7:8::1", email, "a wrong guess"), 401, "UNAUTHORIZED");
});

test("two processes and many guesses at once do not get beyond the limit", async () => {
  const { email } = await signUp(api);
  const address = newAddress();
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, i) =>
      signIn(address, email, "a wrong guess", i % 2 === 0 ? api : second.api),
    ),
  );
  const statuses = answers.map((answer) => answer.status);
  assert.equal(statuses.filter((status) => status === 401).length, freeGuesses);
  assert.equal(statuses.filter((status) => status === 429).length, 20 - freeGuesses);
  expectLimited(await signIn(address, email, "a wrong guess", second.api));
});

test("an account that does not exist is limited in exactly the same way", async () => {
  const { email } = await signUp(api);
  const [one, other] = [newAddress(), newAddress()];
  await exhaust(one, email);
  await exhaust(other, "nobody-at-all@example.com");
  const known = await signIn(one, email, "x");
  const unknown = await signIn(other, "nobody-at-all@example.com", "x");
  assert.equal(known.text, unknown.text);
  assert.equal(expectLimited(known), expectLimited(unknown));
});

test("codes cannot be guessed with the password, nor with a session", async () => {
  const user = await signUp(api);
  expectData(await user.api.post("/v1/auth/account/totp/start", { password: user.password }));
  for (let i = 0; i < freeGuesses; i++)
    expectError(
      await user.api.post("/v1/auth/account/totp/confirm", { code: "000000" }),
      400,
      "SECOND_FACTOR_CODE_INVALID",
    );
  expectLimited(await user.api.post("/v1/auth/account/totp/confirm", { code: "000000" }));
  // Another address does not help: the session is what counts.
  expectLimited(
    await user.api.post(
      "/v1/auth/account/totp/confirm",
      { code: "000000" },
      { "x-forwarded-for": newAddress() },
    ),
  );

  await service.core.db.run(
    sql`update second_factors set confirmed_at = ${clock.now()} where user_id = ${user.userId}`,
  );
  const address = newAddress();
  for (let i = 0; i < freeGuesses; i++)
    expectError(await signIn(address, user.email, user.password, api, "000000"), 401, "UNAUTHORIZED");
  expectLimited(await signIn(address, user.email, user.password, api, "000000"));
  expectError(await signIn(address, user.email, user.password), 401, "SECOND_FACTOR_REQUIRED");
  for (let i = 0; i < 20; i++) await signIn(newAddress(), user.email, user.password, api, "000000");
  expectLimited(await signIn(newAddress(), user.email, user.password, api, "000000"));
});

test("the present password cannot be guessed through a session", async () => {
  const user = await signUp(api);
  const body = { current_password: "a wrong guess", new_password: "another password" };
  for (let i = 0; i < freeGuesses; i++)
    expectError(await user.api.post("/v1/auth/account/password", body), 400, "REAUTHENTICATION_FAILED");
  expectLimited(await user.api.post("/v1/auth/account/password", body));
  expectLimited(await user.api.post("/v1/auth/account/delete", { password: "a wrong guess" }));
  expectData(await signIn(newAddress(), user.email, user.password));
});

test("the present password is not limited as long as it is right", async () => {
  const user = await signUp(api);
  const { password } = user;
  for (let i = 0; i < 2 * freeGuesses; i++) {
    const body = { current_password: password, new_password: password };
    assert.equal((await user.api.post("/v1/auth/account/password", body)).status, 204);
  }
});

test("links cannot be tried for ever", async () => {
  const address = newAddress();
  const post = (path: string, body: object) => api.post(path, body, { "x-forwarded-for": address });
  const token = "x".repeat(43);
  for (let i = 0; i < 30; i++) {
    expectError(await post("/v1/auth/sign-in/magic-link/verify", { token }), 401, "UNAUTHORIZED");
    expectError(
      await post("/v1/auth/password/reset", { token, password: "a long password" }),
      400,
      "MAILED_TOKEN_INVALID",
    );
  }
  expectLimited(await post("/v1/auth/sign-in/magic-link/verify", { token }));
  expectLimited(await post("/v1/auth/password/reset", { token, password: "a long password" }));
});

test("a mailbox is not flooded, and the limit does not reveal whether it exists", async () => {
  const user = await signUp(api);
  const ask = (address: string, email: string) =>
    api.post("/v1/auth/sign-in/magic-link", { email }, { "x-forwarded-for": address });
  const address = newAddress();
  for (let i = 0; i < 5; i++) expectData(await ask(address, user.email), 202);
  expectLimited(await ask(address, user.email));
  for (let i = 0; i < 20; i++) expectData(await ask(newAddress(), user.email), 202);
  const mails = await mailsTo(both, user.email);
  assert.equal(mails.length, 8);
  // The owner's own request in the middle of it is answered like any other, and a mailed link works.
  const token = /#token=([A-Za-z0-9]{43})/.exec(mails.at(-1)?.text ?? "")?.[1];
  expectData(await api.post("/v1/auth/sign-in/magic-link/verify", { token }));

  const stranger = newAddress();
  for (let i = 0; i < 5; i++) expectData(await ask(stranger, "no-such-mailbox@example.com"), 202);
  expectLimited(await ask(stranger, "no-such-mailbox@example.com"));
});

test("signed-in users cannot flood mailboxes either", async () => {
  const user = await signUp(api);
  for (let i = 0; i < 5; i++) expectData(await user.api.post("/v1/auth/account/email/verification"), 202);
  expectLimited(await user.api.post("/v1/auth/account/email/verification"));
  expectLimited(
    await user.api.post("/v1/auth/account/email", { email: "victim@example.com", password: user.password }),
  );
});

test("sign-ups and challenges from one address are limited, failed ones with an Idempotency-Key too", async () => {
  const { email } = await signUp(api);
  const address = newAddress();
  const body = { name: "Eve", email, password: "a long password" };
  // The bucket is filled in the table: three hundred real sign-ups would take a minute.
  const fill = () => service.core.db.run(sql`update guess_limits set level = 299 where level = 1`);
  const post = (key: string) =>
    api.post("/v1/auth/sign-up/email", body, { "x-forwarded-for": address, "idempotency-key": key });
  clock.advance(24 * hourMs);
  await service.runJob("purge-account-leftovers");
  expectError(await post("one"), 409, "EMAIL_TAKEN");
  await fill();
  expectError(await post("two"), 409, "EMAIL_TAKEN");
  expectLimited(await post("three"));

  const named = await startTestService({
    env: { ...env, PUBLIC_URL: "http://localhost:3000" },
    databaseUrl: service.databaseUrl,
    clock,
  });
  const offer = () =>
    named.api.post("/v1/auth/sign-in/passkey/options", undefined, { "x-forwarded-for": address });
  expectData(await offer());
  await fill();
  expectData(await offer());
  expectLimited(await offer());
});

test("nothing that could be read as an account or an address is kept", async () => {
  const columns = await service.core.db.rows<{ columnName: string; dataType: string }>(sql`
    select column_name, data_type from information_schema.columns
    where table_name in ('guess_limits', 'familiar_addresses') and data_type not like 'timestamp%'`);
  assert.deepEqual(
    new Set(columns.map((column) => `${column.columnName} ${column.dataType}`)),
    new Set(["key bytea", "level double precision"]),
  );
  const keys = await service.core.db.rows<{ length: number }>(
    sql`select distinct length(key) as length from guess_limits`,
  );
  assert.deepEqual(keys, [{ length: 32 }]);
});

test("partner and organization routes are never limited", async () => {
  const partner = await createPartner(api);
  const { email } = partner.owner;
  for (let i = 0; i < freeGuesses + 1; i++) await signIn("203.0.113.77", email, "a wrong guess");
  for (let i = 0; i < 40; i++) {
    const answer = await api
      .as(i % 2 === 0 ? partner.key.secret : "not-a-token")
      .call("GET", "/v1/auth/api-keys", { headers: { "x-forwarded-for": "203.0.113.77" } });
    assert.notEqual(answer.status, 429);
  }
});
