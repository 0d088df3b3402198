import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import test from "node:test";
import { Secret, TOTP } from "otpauth";
import { minuteMs } from "../../../src/platform/kernel/clock.ts";
import { expectData, expectError, signUp } from "../../support/api.ts";
import { SoftwareAuthenticator } from "../../support/authenticator.ts";
import { createAttestor } from "../../support/certificate.ts";
import { mailsTo, subjectsTo } from "../../support/mailed-links.ts";
import { startTestService } from "../../support/service.ts";

const origin = "https://id.example.com";
const service = await startTestService({ env: { PUBLIC_URL: origin } });
const { api, clock } = service;

type Person = Awaited<ReturnType<typeof signUp>>;

async function addPasskey(user: Person, name = "Laptop") {
  const authenticator = new SoftwareAuthenticator(origin);
  const { options } = expectData(
    await user.api.post("/v1/auth/passkeys/options", { password: user.password }),
  );
  const passkey = expectData(
    await user.api.post("/v1/auth/passkeys", { name, response: authenticator.create(options) }),
    201,
  );
  return { authenticator, passkey };
}

const signInOptions = async () => expectData(await api.post("/v1/auth/sign-in/passkey/options")).options;
const verify = (response: unknown) => api.post("/v1/auth/sign-in/passkey/verify", { response });

test("a passkey is added, signs in without an e-mail being typed, and is deleted", async () => {
  const user = await signUp(api);
  const { authenticator, passkey } = await addPasskey(user, " Work laptop ");
  assert.deepEqual(passkey, {
    id: passkey.id,
    name: "Work laptop",
    synced: false,
    created_at: clock.now().toISOString(),
    last_used_at: null,
  });
  const options = await signInOptions();
  assert.equal(options.rpId, "id.example.com");
  assert.equal(options.userVerification, "required");
  assert.ok(!options.allowCredentials?.length);
  clock.advance(1000);
  const answer = await verify(authenticator.get(options));
  const signedIn = expectData(answer);
  assert.equal(signedIn.user.id, user.userId);
  assert.match(answer.headers.get("set-cookie") ?? "", /^__Host-assay_session=.*Secure/);
  const [listed] = expectData(await user.api.get("/v1/auth/passkeys"));
  assert.equal(listed.last_used_at, clock.now().toISOString());
  assert.equal(expectData(await user.api.get("/v1/auth/account")).passkey_count, 1);

  assert.equal((await user.api.delete(`/v1/auth/passkeys/${passkey.id}`)).status, 204);
  expectError(await user.api.delete(`/v1/auth/passkeys/${passkey.id}`), 404, "NOT_FOUND");
  expectError(await verify(authenticator.get(await signInOptions())), 401, "UNAUTHORIZED", /passkey/);
  const subjects = await subjectsTo(service, user.email);
  assert.deepEqual(subjects.sort(), ["A passkey was added", "A passkey was deleted"]);
  for (const { text } of await mailsTo(service, user.email)) assert.match(text, /Work laptop/);
});

test("the options ask for a passkey that is found by itself and unlocked by its owner", async () => {
  const user = await signUp(api);
  const { authenticator } = await addPasskey(user);
  const { options } = expectData(
    await user.api.post("/v1/auth/passkeys/options", { password: user.password }),
  );
  assert.equal(options.rp.id, "id.example.com");
  assert.equal(options.user.name, user.email);
  assert.equal(options.authenticatorSelection.residentKey, "required");
  assert.equal(options.authenticatorSelection.userVerification, "required");
  assert.deepEqual(
    options.excludeCredentials.map((known: { id: string }) => known.id),
    [authenticator.id],
  );
});

test("a challenge is answered once, whether the answer was right or wrong", async () => {
  const user = await signUp(api);
  const { authenticator } = await addPasskey(user);
  const options = await signInOptions();
  const response = authenticator.get(options);
  expectData(await verify(response));
  expectError(await verify(response), 401, "UNAUTHORIZED");
  expectError(await verify(authenticator.get(options)), 401, "UNAUTHORIZED");
  const spoiled = await signInOptions();
  expectError(
    await verify(authenticator.get(spoiled, { origin: "https://evil.example" })),
    401,
    "UNAUTHORIZED",
  );
  expectError(await verify(authenticator.get(spoiled)), 401, "UNAUTHORIZED");
});

test("a challenge lives for five minutes", async () => {
  const user = await signUp(api);
  const { authenticator } = await addPasskey(user);
  const early = await signInOptions();
  const late = await signInOptions();
  clock.advance(5 * minuteMs - 1);
  expectData(await verify(authenticator.get(early)));
  clock.advance(1);
  expectError(await verify(authenticator.get(late)), 401, "UNAUTHORIZED");
});

test("an answer that is bent anywhere is refused", async () => {
  const user = await signUp(api);
  const { authenticator } = await addPasskey(user);
  const refused = async (change: (response: any) => unknown, bent = {}) => {
    const response = authenticator.get(await signInOptions(), bent);
    change(response);
    expectError(await verify(response), 401, "UNAUTHORIZED");
  };
  const as = () => {};
  await refused(as, { origin: "https://id.example.com.evil.example" });
  await refused(as, { rpId: "evil.example" });
  await refused(as, { challenge: randomBytes(32).toString("base64url") });
  await refused(as, { type: "webauthn.create" });
  // Present, but not unlocked by its owner.
  await refused(as, { flags: 0x01 });
  await refused(as, { flags: 0x00 });
  // A count that does not grow: the authenticator was copied.
  expectData(await verify(authenticator.get(await signInOptions(), { count: 50 })));
  await refused(as, { count: 50 });
  authenticator.count = 100;
  await refused((response) => {
    response.response.userHandle = randomBytes(16).toString("base64url");
  });
  await refused((response) => {
    const bytes = Buffer.from(response.response.signature, "base64url");
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
    response.response.signature = bytes.toString("base64url");
  });
  await refused((response) => {
    response.response.authenticatorData = "AAAA";
  });
  await refused((response) => {
    response.response.clientDataJSON = Buffer.from("not json").toString("base64url");
  });
  await refused((response) => {
    response.id = response.rawId = randomBytes(32).toString("base64url");
  });
  expectData(await verify(authenticator.get(await signInOptions())));
});

test("another authenticator's signature does not pass for this one's", async () => {
  const [ada, eve] = [await signUp(api), await signUp(api)];
  const victim = await addPasskey(ada);
  const attacker = await addPasskey(eve);
  const response = attacker.authenticator.get(await signInOptions());
  response.id = response.rawId = victim.authenticator.id;
  response.response.userHandle = victim.authenticator.userHandle;
  expectError(await verify(response), 401, "UNAUTHORIZED");
});

test("a registration is bound to the account, the origin and one challenge", async () => {
  const [ada, eve] = [await signUp(api), await signUp(api)];
  const authenticator = new SoftwareAuthenticator(origin);
  const register = (user: Person, response: unknown) =>
    user.api.post("/v1/auth/passkeys", { name: "Key", response });
  const offered = async (user: Person) =>
    expectData(await user.api.post("/v1/auth/passkeys/options", { password: user.password })).options;

  const options = await offered(ada);
  expectError(
    await register(eve, authenticator.create(options)),
    400,
    "PASSKEY_RESPONSE_INVALID",
    /`response`/,
  );
  const response = authenticator.create(options);
  expectData(await register(ada, response), 201);
  expectError(await register(ada, response), 400, "PASSKEY_RESPONSE_INVALID");
  expectError(
    await register(eve, authenticator.create(await offered(eve))),
    409,
    "PASSKEY_KNOWN",
    /added before/,
  );

  const fresh = new SoftwareAuthenticator(origin);
  for (const bent of [
    { origin: "https://evil.example" },
    { rpId: "evil.example" },
    { flags: 0x41 },
    { challenge: "AAAA" },
  ])
    expectError(await register(ada, fresh.create(await offered(ada), bent)), 400, "PASSKEY_RESPONSE_INVALID");
  // The challenge of a sign-in does not register.
  const signIn = await signInOptions();
  expectError(
    await register(ada, fresh.create({ ...(await offered(ada)), challenge: signIn.challenge })),
    400,
    "PASSKEY_RESPONSE_INVALID",
  );
  const late = await offered(ada);
  clock.advance(5 * minuteMs);
  expectError(await register(ada, fresh.create(late)), 400, "PASSKEY_RESPONSE_INVALID");
  for (const attestationObject of ["", "AAAA", randomBytes(200).toString("base64url")]) {
    const broken = fresh.create(await offered(ada));
    broken.response.attestationObject = attestationObject;
    expectError(await register(ada, broken), 400, "PASSKEY_RESPONSE_INVALID");
  }
  expectError(await register(ada, { id: "x" }), 400, "BAD_REQUEST", /`response\./);
  assert.equal(expectData(await ada.api.get("/v1/auth/passkeys")).length, 1);
});

test("an attestation with a certificate is refused, a flawless one as well", async () => {
  const user = await signUp(api);
  const { options } = expectData(
    await user.api.post("/v1/auth/passkeys/options", { password: user.password }),
  );
  // Checking certificates of some formats fetches from the addresses in them, so they are not read.
  const response = new SoftwareAuthenticator(origin).create(options, { attestor: createAttestor() });
  expectError(
    await user.api.post("/v1/auth/passkeys", { name: "Key", response }),
    400,
    "PASSKEY_RESPONSE_INVALID",
  );
});

test("an attestation that the passkey signed itself is taken, since it identifies no maker", async () => {
  const user = await signUp(api);
  const { options } = expectData(
    await user.api.post("/v1/auth/passkeys/options", { password: user.password }),
  );
  const response = new SoftwareAuthenticator(origin).create(options, { attestsItself: true });
  expectData(await user.api.post("/v1/auth/passkeys", { name: "Key", response }), 201);
});

test("own passkeys are listed and renamed; another's do not exist", async () => {
  const [ada, eve] = [await signUp(api), await signUp(api)];
  const first = (await addPasskey(ada, "First")).passkey;
  clock.advance(1);
  const second = (await addPasskey(ada, "Second")).passkey;
  const page = await ada.api.get("/v1/auth/passkeys", { limit: 1 });
  assert.deepEqual(
    expectData(page).map((passkey: { id: string }) => passkey.id),
    [second.id],
  );
  const rest = await ada.api.get("/v1/auth/passkeys", {
    starting_after: page.body.pagination?.next_cursor ?? "",
  });
  assert.deepEqual(
    expectData(rest).map((passkey: { id: string }) => passkey.id),
    [first.id],
  );
  const path = `/v1/auth/passkeys/${first.id}`;
  assert.equal(expectData(await ada.api.patch(path, { name: " Phone " })).name, "Phone");
  expectError(await ada.api.patch(path, { name: "" }), 400, "BAD_REQUEST", /`name`/);
  expectError(await eve.api.patch(path, { name: "Mine" }), 404, "NOT_FOUND");
  expectError(await eve.api.delete(path), 404, "NOT_FOUND");
  assert.deepEqual(expectData(await eve.api.get("/v1/auth/passkeys")), []);
  expectError(await eve.api.get("/v1/auth/passkeys", { starting_after: first.id }), 400, "INVALID_REQUEST");
});

test("a passkey is both factors: no code is asked for", async () => {
  const user = await signUp(api);
  const { authenticator } = await addPasskey(user);
  const { secret } = expectData(
    await user.api.post("/v1/auth/account/totp/start", { password: user.password }),
  );
  const code = TOTP.generate({ secret: Secret.fromBase32(secret), timestamp: clock.now().getTime() });
  expectData(await user.api.post("/v1/auth/account/totp/confirm", { code }));
  expectData(await verify(authenticator.get(await signInOptions())));
});

test("an account has twenty passkeys at most", async () => {
  const user = await signUp(api);
  const before = expectData(
    await user.api.post("/v1/auth/passkeys/options", { password: user.password }),
  ).options;
  for (let i = 0; i < 20; i++) await addPasskey(user, `Key ${i}`);
  expectError(
    await user.api.post("/v1/auth/passkeys/options", { password: user.password }),
    409,
    "PASSKEY_LIMIT_REACHED",
    /at most 20/,
  );
  const response = new SoftwareAuthenticator(origin).create(before);
  expectError(
    await user.api.post("/v1/auth/passkeys", { name: "One more", response }),
    409,
    "PASSKEY_LIMIT_REACHED",
  );
});

test("under a bare address there are no passkeys, and the answer says what to do", async () => {
  const plain = await startTestService();
  const answer = await plain.api.post("/v1/auth/sign-in/passkey/options");
  expectError(answer, 409, "PASSKEYS_UNAVAILABLE", /IP address/);
  assert.match(answer.body.error?.hint ?? "", /PUBLIC_URL/);
});

test("no line of the log holds a challenge, a credential or a signature", async () => {
  const user = await signUp(api);
  const { authenticator } = await addPasskey(user);
  const options = await signInOptions();
  const response = authenticator.get(options, { origin: "https://evil.example" });
  expectError(await verify(response), 401, "UNAUTHORIZED");
  const log = service.logLines.join("");
  assert.ok(log.includes('"route":"finishPasskeySignIn"'));
  for (const secret of [options.challenge, authenticator.id, response.response.signature, "evil.example"])
    assert.ok(!log.includes(secret));
});
