import assert from "node:assert/strict";
import test from "node:test";
import { sql } from "../../../src/platform/db/sql.ts";
import { hourMs, minuteMs } from "../../../src/platform/kernel/clock.ts";
import { Api, expectData, expectError, signUp, signUpOwner } from "../../support/api.ts";
import { untilBlocked } from "../../support/database.ts";
import { latestToken, mailsTo, subjectsTo } from "../../support/mailed-links.ts";
import { startTestService } from "../../support/service.ts";

const service = await startTestService();
const { api, clock } = service;

const cookieOf = (headers: Headers) => headers.get("set-cookie") ?? "";

test("signing up and signing in give a token, the user and a cookie that holds the token", async () => {
  const email = "Grace.Hopper@example.com";
  const up = await api.post("/v1/auth/sign-up/email", {
    name: " Grace ",
    email,
    password: "a long password",
  });
  const created = expectData(up, 201);
  assert.deepEqual(created.user, {
    id: created.user.id,
    name: "Grace",
    email,
    email_verified: false,
    created_at: clock.now().toISOString(),
  });
  assert.match(created.token, /^[A-Za-z0-9]{43}$/);
  assert.equal(
    cookieOf(up.headers),
    `assay_session=${created.token}; Path=/; HttpOnly; SameSite=Lax; Max-Age=2592000`,
  );
  // The case of an e-mail makes no difference.
  const answer = await api.post("/v1/auth/sign-in/email", {
    email: email.toLowerCase(),
    password: "a long password",
  });
  const signedIn = expectData(answer);
  assert.equal(signedIn.user.id, created.user.id);
  assert.notEqual(signedIn.token, created.token);
  assert.ok(cookieOf(answer.headers).startsWith(`assay_session=${signedIn.token}; `));
  for (const token of [created.token, signedIn.token])
    assert.equal(expectData(await api.as(token).get("/v1/auth/account")).email, email);
});

test("a second account with the same e-mail is refused", async () => {
  const { email } = await signUp(api);
  expectError(
    await api.post("/v1/auth/sign-up/email", {
      name: "Eve",
      email: email.toUpperCase(),
      password: "another password",
    }),
    409,
    "EMAIL_TAKEN",
    /`email`/,
  );
});

test("a repeated sign-up with an Idempotency-Key gives the first answer", async () => {
  const body = { name: "Twice", email: "twice@example.com", password: "a long password" };
  const headers = { "idempotency-key": "sign-up-once" };
  const first = expectData(await api.post("/v1/auth/sign-up/email", body, headers), 201);
  const again = await api.post("/v1/auth/sign-up/email", body, headers);
  assert.deepEqual(expectData(again, 201), first);
  assert.equal(again.headers.get("idempotent-replayed"), "true");
});

test("bad input names the field and never repeats it", async () => {
  const post = (body: unknown) => api.post("/v1/auth/sign-up/email", body);
  const good = { name: "Ada", email: "new@example.com", password: "long enough password" };
  expectError(await post({ ...good, email: "nobody" }), 400, "BAD_REQUEST", /`email`/);
  expectError(await post({ ...good, name: " " }), 400, "BAD_REQUEST", /`name`/);
  const short = await post({ ...good, password: "hush-hush" });
  expectError(short, 400, "BAD_REQUEST", /`password` must have at least 10 characters/);
  assert.ok(!short.text.includes("hush-hush"));
  expectError(await post({ ...good, admin: true }), 400, "BAD_REQUEST", /`admin` is not a field/);
});

test("a password is the same however a keyboard composes its letters", async () => {
  const email = "composed@example.com";
  // A ligature, a compatibility character, and a letter with a separate accent.
  const typed = "o\ufb03ce \u212bngstrom cafe\u0301";
  expectData(await api.post("/v1/auth/sign-up/email", { name: "Ada", email, password: typed }), 201);
  for (const password of [typed, typed.normalize("NFKC"), typed.normalize("NFKD")])
    expectData(await api.post("/v1/auth/sign-in/email", { email, password }));
});

test("a wrong password and an unknown account get exactly the same answer", async () => {
  const { email } = await signUp(api);
  const wrong = await api.post("/v1/auth/sign-in/email", { email, password: "not the password" });
  const unknown = await api.post("/v1/auth/sign-in/email", {
    email: "nobody@example.com",
    password: "not the password",
  });
  expectError(wrong, 401, "UNAUTHORIZED");
  assert.equal(wrong.text, unknown.text);
});

test("signing out ends this session and clears the cookie; other sessions stay", async () => {
  const user = await signUp(api);
  const other = expectData(
    await api.post("/v1/auth/sign-in/email", { email: user.email, password: user.password }),
  );
  const out = await user.api.post("/v1/auth/sign-out");
  assert.equal(out.status, 204);
  assert.match(cookieOf(out.headers), /^assay_session=; Path=\/; HttpOnly; SameSite=Lax; Max-Age=0$/);
  expectError(await user.api.get("/v1/auth/account"), 401, "UNAUTHORIZED");
  expectError(await user.api.post("/v1/auth/sign-out"), 401, "UNAUTHORIZED");
  expectData(await api.as(other.token).get("/v1/auth/account"));
});

test("API keys cannot use an account", async () => {
  const owner = await signUpOwner(api);
  const key = expectData(await owner.api.post("/v1/auth/api-keys", { name: "k", scopes: [] }), 201).key;
  expectError(await api.as(key).get("/v1/auth/account"), 403, "API_KEY_NOT_ALLOWED");
});

test("a cookie reads from anywhere and writes only from the service's own pages", async () => {
  const { token } = await signUp(api);
  const cookie = `other=1; assay_session=${token}`;
  const rename = (headers: Record<string, string>) =>
    api.call("PATCH", "/v1/auth/account", { body: { name: "Renamed" }, headers: { cookie, ...headers } });
  expectData(
    await api.call("GET", "/v1/auth/account", { headers: { cookie, origin: "https://evil.example" } }),
  );
  expectError(await rename({ origin: "https://evil.example" }), 403, "FOREIGN_ORIGIN", /own pages/);
  expectError(await rename({ origin: "null" }), 403, "FOREIGN_ORIGIN");
  expectError(await rename({ "sec-fetch-site": "cross-site" }), 403, "FOREIGN_ORIGIN");
  expectError(await rename({ "sec-fetch-site": "same-site" }), 403, "FOREIGN_ORIGIN");
  expectData(await rename({ origin: api.url }));
  expectData(await rename({}));
});

test("a page that another program serves on this machine cannot write with the cookie", async () => {
  const { token } = await signUp(api);
  const { port } = new URL(api.url);
  for (const name of ["localhost", "127.0.0.1", "[::1]", "127.8.9.10"])
    for (const other of [`:${Number(port) + 1}`, ""]) {
      const headers = { cookie: `assay_session=${token}`, origin: `http://${name}${other}` };
      const answer = await api.call("PATCH", "/v1/auth/account", { body: { name: "Renamed" }, headers });
      expectError(answer, 403, "FOREIGN_ORIGIN", /own pages/);
    }
});

test("a sign-in with a password that is changed meanwhile fails", async () => {
  const user = await signUp(api);
  const { core } = service;
  const { signingIn } = await core.db.transaction(async (tx) => {
    // The change of the password holds the row. The sign-in has accepted the old one and waits.
    await tx.run(sql`update users set password_hash = password_hash || 'x' where id = ${user.userId}`);
    const signingIn = api.post("/v1/auth/sign-in/email", { email: user.email, password: user.password });
    await untilBlocked(core.db);
    return { signingIn };
  });
  expectError(await signingIn, 401, "UNAUTHORIZED", /password is wrong/);
  assert.equal(
    (await core.db.rows(sql`select from user_sessions where user_id = ${user.userId}`)).length,
    1,
    "no session but that of the sign-up",
  );
});

test("on https the cookie is Secure with the __Host- prefix, and the plain one does not count", async () => {
  const secure = await startTestService({ env: { PUBLIC_URL: "https://id.example.com" } });
  const answer = await secure.api.post("/v1/auth/sign-up/email", {
    name: "Ada",
    email: "ada@example.com",
    password: "a long password",
  });
  const { token } = expectData(answer, 201);
  assert.equal(
    cookieOf(answer.headers),
    `__Host-assay_session=${token}; Path=/; HttpOnly; SameSite=Lax; Max-Age=2592000; Secure`,
  );
  const get = (cookie: string) => secure.api.call("GET", "/v1/auth/account", { headers: { cookie } });
  expectData(await get(`__Host-assay_session=${token}`));
  expectError(await get(`assay_session=${token}`), 401, "UNAUTHORIZED");
});

test("asking for a link says the same whether or not there is an account, and only an account gets mail", async () => {
  const { email } = await signUp(api);
  for (const path of ["/v1/auth/sign-in/magic-link", "/v1/auth/password/forgot"]) {
    const known = await api.post(path, { email });
    const unknown = await api.post(path, { email: "stranger@example.com" });
    assert.deepEqual(expectData(known, 202), { accepted: true });
    assert.equal(known.status, unknown.status);
    assert.equal(known.text, unknown.text);
  }
  assert.deepEqual((await subjectsTo(service, email)).sort(), ["Set a new password", "Your sign-in link"]);
  assert.deepEqual(await mailsTo(service, "stranger@example.com"), []);
});

test("a mailed link signs in once", async () => {
  const user = await signUp(api);
  await api.post("/v1/auth/sign-in/magic-link", { email: user.email.toUpperCase() });
  const token = await latestToken(service, user.email, "magic-link");
  const answer = await api.post("/v1/auth/sign-in/magic-link/verify", { token });
  const signedIn = expectData(answer);
  assert.equal(signedIn.user.id, user.userId);
  assert.equal(signedIn.user.email_verified, true);
  assert.ok(cookieOf(answer.headers).startsWith(`assay_session=${signedIn.token}; `));
  expectData(await api.as(signedIn.token).get("/v1/auth/account"));
  // Nothing is demanded of addresses where no mail server is configured, so the password stays.
  expectData(await api.post("/v1/auth/sign-in/email", { email: user.email, password: user.password }));
  expectError(await api.post("/v1/auth/sign-in/magic-link/verify", { token }), 401, "UNAUTHORIZED", /link/);
  expectError(
    await api.post("/v1/auth/sign-in/magic-link/verify", { token: "x".repeat(43) }),
    401,
    "UNAUTHORIZED",
  );
});

test("of two at once with one link, one gets in", async () => {
  const { email } = await signUp(api);
  await api.post("/v1/auth/sign-in/magic-link", { email });
  const token = await latestToken(service, email, "magic-link");
  const answers = await Promise.all(
    Array.from({ length: 4 }, () => api.post("/v1/auth/sign-in/magic-link/verify", { token })),
  );
  assert.deepEqual(answers.map((answer) => answer.status).sort(), [200, 401, 401, 401]);
});

test("a link is dead after 15 minutes, not before", async () => {
  const { email } = await signUp(api);
  await api.post("/v1/auth/sign-in/magic-link", { email });
  const first = await latestToken(service, email, "magic-link");
  clock.advance(15 * minuteMs - 1);
  expectData(await api.post("/v1/auth/sign-in/magic-link/verify", { token: first }));
  await api.post("/v1/auth/sign-in/magic-link", { email });
  const second = await latestToken(service, email, "magic-link");
  clock.advance(15 * minuteMs);
  expectError(await api.post("/v1/auth/sign-in/magic-link/verify", { token: second }), 401, "UNAUTHORIZED");
});

test("a reset signs out everywhere, works once and for an hour", async () => {
  const user = await signUp(api);
  await api.post("/v1/auth/password/forgot", { email: user.email });
  await api.post("/v1/auth/sign-in/magic-link", { email: user.email });
  const token = await latestToken(service, user.email, "reset-password");
  const magic = await latestToken(service, user.email, "magic-link");
  expectError(
    await api.post("/v1/auth/password/reset", { token, password: "short" }),
    400,
    "BAD_REQUEST",
    /`password`/,
  );
  // A link of one kind is not a link of another.
  expectError(await api.post("/v1/auth/sign-in/magic-link/verify", { token }), 401, "UNAUTHORIZED");
  const password = "an entirely new one";
  assert.equal((await api.post("/v1/auth/password/reset", { token, password })).status, 204);
  expectError(await user.api.get("/v1/auth/account"), 401, "UNAUTHORIZED");
  expectError(
    await api.post("/v1/auth/password/reset", { token, password }),
    400,
    "MAILED_TOKEN_INVALID",
    /`token`/,
  );
  expectError(await api.post("/v1/auth/sign-in/magic-link/verify", { token: magic }), 401, "UNAUTHORIZED");
  expectError(
    await api.post("/v1/auth/sign-in/email", { email: user.email, password: user.password }),
    401,
    "UNAUTHORIZED",
  );
  expectData(await api.post("/v1/auth/sign-in/email", { email: user.email, password }));
  assert.ok((await subjectsTo(service, user.email)).includes("Your password was reset"));

  await api.post("/v1/auth/password/forgot", { email: user.email });
  const late = await latestToken(service, user.email, "reset-password");
  clock.advance(hourMs);
  expectError(
    await api.post("/v1/auth/password/reset", { token: late, password }),
    400,
    "MAILED_TOKEN_INVALID",
  );
});

test("a session lasts thirty days from its last use", async () => {
  const { api: mine } = await signUp(api);
  clock.advance(20 * 24 * hourMs);
  expectData(await mine.get("/v1/auth/account"));
  clock.advance(29 * 24 * hourMs);
  expectData(await mine.get("/v1/auth/account"));
  clock.advance(30 * 24 * hourMs);
  expectError(await mine.get("/v1/auth/account"), 401, "UNAUTHORIZED");
});

test("what has run out is removed from the tables", async () => {
  const { email } = await signUp(api);
  await api.post("/v1/auth/sign-in/magic-link", { email });
  await mailsTo(service, email);
  await api.post("/v1/auth/sign-in/email", { email, password: "wrong wrong wrong" });
  const count = () =>
    service.core.db.one<{ tokens: number; limits: number; familiar: number; requests: number }>(sql`
      select (select count(*) from mailed_tokens) as tokens, (select count(*) from guess_limits) as limits,
        (select count(*) from familiar_addresses) as familiar, (select count(*) from mail_requests) as requests`);
  const before = await count();
  assert.ok(before.tokens > 0 && before.limits > 0 && before.familiar > 0);
  clock.advance(91 * 24 * hourMs);
  await service.runJob("purge-account-leftovers");
  assert.deepEqual(await count(), { tokens: 0, limits: 0, familiar: 0, requests: 0 });
});

test("no line of the log holds a password, a token or an e-mail", async () => {
  const user = await signUp(api);
  await api.post("/v1/auth/sign-in/email", { email: user.email, password: "a wrong password" });
  await api.post("/v1/auth/sign-in/magic-link", { email: user.email });
  const link = await latestToken(service, user.email, "magic-link");
  const { token } = expectData(await api.post("/v1/auth/sign-in/magic-link/verify", { token: link }));
  await new Api(api.url, `Bearer ${token}`).get("/v1/auth/account");
  const log = service.logLines.join("");
  assert.ok(log.includes('"route":"signIn"'));
  for (const secret of ["@example.com", user.password, "a wrong password", user.token, link, token])
    assert.ok(!log.includes(secret), "the log holds a secret");
});
