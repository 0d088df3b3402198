import assert from "node:assert/strict";
import { test } from "node:test";
import { CompactEncrypt, exportJWK, generateKeyPair, importJWK, type JWK } from "jose";
import { asked, PidWorld } from "../../test/support/pid.ts";
import { utf8 } from "../bytes.ts";
import { askedFor } from "../dcql/ask.ts";
import { judgeAnswer, readAnswer } from "./answer.ts";
import { answerAsWallet } from "./answer-as-wallet.ts";

async function newKey(kid: string): Promise<JWK> {
  const { privateKey } = await generateKeyPair("ECDH-ES", { crv: "P-256", extractable: true });
  return { ...(await exportJWK(privateKey)), kid, alg: "ECDH-ES", use: "enc" };
}
const ours = await newKey("ours");
const { d: _, ...ourPublic } = ours;
const encrypted = { encryption: { privateKey: ours } };
const plain = { encryption: null };
const token = { pid_sd: ["presentation"] };
const presented = { kind: "presented", presentations: token };
const unreadable = { kind: "unreadable" };

async function sealed(claims: unknown, header: object = {}, key: JWK = ourPublic): Promise<string> {
  return new CompactEncrypt(utf8(JSON.stringify(claims)))
    .setProtectedHeader({ alg: "ECDH-ES", enc: "A128GCM", ...header })
    .encrypt(await importJWK(key, "ECDH-ES"));
}

test("the encrypted answer of OpenID4VP 1.0, section 8.3, opens with its key", async () => {
  // openid/OpenID4VP, 1.0/openid-4-verifiable-presentations-1_0.md
  const privateKey = {
    kty: "EC",
    kid: "ac",
    use: "enc",
    crv: "P-256",
    alg: "ECDH-ES",
    x: "YO4epjifD-KWeq1sL2tNmm36BhXnkJ0He-WqMYrp9Fk",
    y: "Hekpm0zfK7C-YccH5iBjcIXgf6YdUvNUac_0At55Okk",
    d: "Et-3ce0omz8_TuZ96Df9lp0GAaaDoUnDe6X-CRO7Aww",
  };
  const response =
    "eyJhbGciOiJFQ0RILUVTIiwiZW5jIjoiQTEyOEdDTSIsImtpZCI6ImFjIiwiZXBrIjp7Imt0eSI6IkVDIiwieCI6Im5ubVZwbTNWM2piaGNhZlFhUkJrU1ZOSGx3Wkh3dC05ck9wSnVmeVlJdWsiLCJ5IjoicjRmakRxd0p5czlxVU9QLV9iM21SNVNaRy0tQ3dPMm1pYzVWU05UWU45ZyIsImNydiI6IlAtMjU2In19..uAYcHRUSSn2X0WPX.yVzlGSYG4qbg0bq18JcUiDRw56yVnbKR8E7S7YlEtzT00RqE3Pw5oTpUG3hdLN4taHZ9gC1kwak8JOnJgQ.1wR024_3-qtAlx1oFIUpQQ";
  assert.deepEqual(await readAnswer({ response }, { encryption: { privateKey } }), {
    kind: "presented",
    presentations: { example_credential_id: ["eyJhb...YMetA"] },
  });
});

test("answers of every response mode are read", async () => {
  assert.deepEqual(await readAnswer({ vp_token: JSON.stringify(token) }, plain), presented, "direct_post");
  assert.deepEqual(await readAnswer({ vp_token: token }, plain), presented, "dc_api");
  for (const enc of ["A128GCM", "A256GCM"]) {
    const response = await sealed({ vp_token: token }, { enc, kid: "ours" });
    assert.deepEqual(await readAnswer({ response }, encrypted), presented, enc);
  }
  const bound = await sealed(
    { vp_token: token, iss: "wallet" },
    { apu: "YXB1", apv: "YXB2", typ: "JWT", other: 1 },
  );
  assert.deepEqual(
    await readAnswer({ response: bound }, encrypted),
    presented,
    "with parties and what else there is",
  );
});

test("a plain answer where encryption was asked for is unreadable, and the other way round", async () => {
  assert.deepEqual(await readAnswer({ vp_token: JSON.stringify(token) }, encrypted), unreadable);
  const response = await sealed({ vp_token: token });
  assert.deepEqual(await readAnswer({ response }, plain), unreadable);
  assert.deepEqual(await readAnswer({ response, vp_token: JSON.stringify(token) }, encrypted), unreadable);
});

test("an answer for another key, or with an algorithm that was not offered, does not open", async () => {
  const other = await newKey("other");
  const { d: _, ...otherPublic } = other;
  const open = async (response: string) => readAnswer({ response }, encrypted);
  assert.deepEqual(await open(await sealed({ vp_token: token }, {}, otherPublic)), unreadable);
  assert.deepEqual(await open(await sealed({ vp_token: token }, { kid: "other" })), unreadable);
  assert.deepEqual(await open(await sealed({ vp_token: token }, { enc: "A128CBC-HS256" })), unreadable);
  assert.deepEqual(await open(await sealed({ vp_token: token }, { alg: "ECDH-ES+A128KW" })), unreadable);
  assert.deepEqual(await open(await sealed({ vp_token: token }, { zip: "DEF" }).catch(() => "")), unreadable);
  const good = await sealed({ vp_token: token });
  for (const broken of [
    "",
    "a.b.c.d.e",
    good.slice(0, -2),
    `${good}A`,
    good.replace(".", ".AAAA"),
    "x".repeat(300_000),
  ]) {
    assert.deepEqual(await open(broken), unreadable);
  }
});

test("a wallet may decline, encrypted or not, and its own words are not kept", async () => {
  const declined = (error: string) => ({ kind: "declined", error });
  assert.deepEqual(await readAnswer({ error: "access_denied" }, encrypted), declined("access_denied"));
  assert.deepEqual(await readAnswer({ error: "access_denied" }, plain), declined("access_denied"));
  const response = await sealed({ error: "wallet_unavailable" });
  assert.deepEqual(await readAnswer({ response }, encrypted), declined("wallet_unavailable"));
  assert.deepEqual(await readAnswer({ error: "Jane Doe said no" }, encrypted), declined("other"));
  assert.deepEqual(await readAnswer({ error: "access_denied", vp_token: "{}" }, plain), unreadable);
  assert.deepEqual(await readAnswer({ error: "access_denied", response }, encrypted), unreadable);
});

test("the state of another request is unreadable; over the browser's interface there is none", async () => {
  const form = { vp_token: JSON.stringify(token), state: "ours" };
  assert.deepEqual(await readAnswer(form, { ...plain, state: "ours" }), presented);
  assert.deepEqual(await readAnswer(form, { ...plain, state: "theirs" }), unreadable);
  assert.deepEqual(await readAnswer(form, plain), presented);
  const response = await sealed({ vp_token: token, state: "theirs" });
  assert.deepEqual(await readAnswer({ response }, { ...encrypted, state: "ours" }), unreadable);
});

test("a token of another form is unreadable", async () => {
  let deep: unknown = [];
  for (let depth = 0; depth < 100_000; depth++) deep = [deep];
  const tokens = [
    deep,
    { a: 1n },
    "",
    "x",
    "1",
    "null",
    "[]",
    '["presentation"]',
    '{"a":"presentation"}',
    '{"a":[1]}',
    '{"a":[{}]}',
    '{"a":["x"],"a":["y"]}',
    `${"[".repeat(5000)}${"]".repeat(5000)}`,
    1,
    null,
    true,
    ["x"],
    Symbol.iterator,
  ];
  for (const vpToken of tokens)
    assert.deepEqual(await readAnswer({ vp_token: vpToken }, plain), unreadable, typeof vpToken);
  for (const form of [
    {},
    { response: 1 },
    { response: ["x"] },
    { error: 1 },
    { error: "" },
    { state: "x" },
  ]) {
    assert.deepEqual(await readAnswer(form, plain), unreadable);
    assert.deepEqual(await readAnswer(form, encrypted), unreadable);
  }
});

test("an answer of the test wallet is read in every mode", async () => {
  const answer = { kind: "presented", id: "pid_sd", presentation: "presentation" } as const;
  for (const enc of ["A128GCM", "A256GCM"] as const) {
    const form = await answerAsWallet(answer, { encryptionKey: ourPublic, state: "ours" }, enc);
    assert.deepEqual(await readAnswer(form, { ...encrypted, state: "ours" }), presented);
  }
  const form = await answerAsWallet(answer, { encryptionKey: null, state: "ours" });
  assert.deepEqual(await readAnswer(form, { ...plain, state: "ours" }), presented);
  const no = await answerAsWallet(
    { kind: "declined", error: "access_denied" },
    { encryptionKey: ourPublic, state: null },
  );
  assert.deepEqual(await readAnswer(no, encrypted), { kind: "declined", error: "access_denied" });
});

test("exactly one credential that was asked for, in exactly one presentation", async () => {
  const world = await PidWorld.create();
  const presentation = await world.present();
  const all = [asked, ...askedFor(["mdl"], [{ key: "family_name", required: true }])];
  const outcome = async (presentations: Record<string, string[]>) => {
    const verdict = await judgeAnswer(presentations, all, world.context());
    return verdict.kind === "accepted" ? verdict.id : verdict.reason;
  };
  assert.equal(await outcome({ pid_sd: [presentation] }), "pid_sd");
  assert.equal(await outcome({}), "no_documents");
  assert.equal(await outcome({ pid_sd: [] }), "no_documents");
  assert.equal(await outcome({ pid_sd: [presentation, presentation] }), "malformed");
  assert.equal(await outcome({ pid_sd: [presentation], mdl: ["o2d2ZXJzaW9uYzEuMA"] }), "malformed");
  assert.equal(await outcome({ other: [presentation] }), "wrong_type");
  assert.equal(await outcome({ mdl: [presentation] }), "malformed", "not base64url");
  assert.equal(await outcome({ mdl: ["AAAA"] }), "malformed");
});
