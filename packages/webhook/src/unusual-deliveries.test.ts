import assert from "node:assert/strict";
import { createHmac, createPrivateKey, createPublicKey } from "node:crypto";
import { readFileSync } from "node:fs";
import test from "node:test";
import { CompactEncrypt } from "jose";
import { type PrivateKey, WebhookError, type WebhookOptions, webhook } from "./index.ts";

type Vectors = {
  now: string;
  privateKeys: Record<"a" | "b", string>;
  cases: { secrets: string[]; body: string; signature: string }[];
};
const vectors = JSON.parse(readFileSync(new URL("../vectors.json", import.meta.url), "utf8")) as Vectors;
const { privateKeys } = vectors;
const now = () => new Date(vectors.now);
const [valid] = vectors.cases;
assert.ok(valid);
const { secrets, body, signature } = valid;

const open = (
  more: Partial<WebhookOptions> = {},
  headers: Record<string, string | string[]> = { "x-service-signature": signature },
  sent = body,
) => webhook({ secrets, keys: [privateKeys.a], now, ...more })(headers, sent);
const failsWith = (code: string) => (error: unknown) => {
  assert.ok(error instanceof WebhookError, String(error));
  assert.equal(error.code, code);
  assert.equal(error.name, "WebhookError");
  return true;
};

function signed(text: string): Record<string, string> {
  const time = Math.floor(now().getTime() / 1000);
  const mac = createHmac("sha256", secrets[0] ?? "")
    .update(`${time}.${text}`)
    .digest("hex");
  return { "x-service-signature": `t=${time},v1=${mac}` };
}

function sealed(plaintext: Uint8Array): Promise<string> {
  return new CompactEncrypt(plaintext)
    .setProtectedHeader({ alg: "RSA-OAEP-256", enc: "A256GCM", kid: "2026-a" })
    .encrypt(createPublicKey(privateKeys.a));
}

test("without a clock of the caller's, the time of this machine counts", async (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: now().getTime() });
  const options = { secrets, keys: [privateKeys.a] };
  const headers = { "x-service-signature": signature };
  assert.ok(await webhook(options)(headers, body));
  t.mock.timers.setTime(now().getTime() + 300_000);
  assert.ok(await webhook(options)(headers, body), "five minutes are tolerated");
  t.mock.timers.setTime(now().getTime() + 301_000);
  await assert.rejects(webhook(options)(headers, body), failsWith("timestamp_too_old"));
});

test("signatures may have more than one space between and around them", async () => {
  const other = signature.replace(/v1=.*/, `v1=${"0".repeat(64)}`);
  for (const header of [`${other}  ${signature}`, ` ${signature} `, [other, signature]])
    assert.ok(await open({}, { "x-service-signature": header }));
  await assert.rejects(open({}, { "x-service-signature": other }), failsWith("signature_mismatch"));
  await assert.rejects(open({}, { other: signature }), failsWith("signature_missing"));
  for (const malformed of [`x${signature}`, `${signature}x`, `${signature},`])
    await assert.rejects(open({}, { "x-service-signature": malformed }), failsWith("signature_malformed"));
});

test("the key that the delivery names is used, and keys without a name where none has it", async () => {
  const { a, b } = privateKeys;
  assert.ok(await open({ keys: [{ kid: "another", key: b }, a] }), "by the key without a name");
  assert.ok(await open({ keys: [b, { kid: "2026-a", key: a }] }));
  await assert.rejects(
    open({ keys: [{ kid: "2026-a", key: b }, a] }),
    failsWith("decryption_failed"),
    "the named key is another one, and no other is tried",
  );
  await assert.rejects(open({ keys: [{ kid: "another", key: a }] }), failsWith("key_unknown"));
});

test("a secret that is no text and a key that cannot decrypt are named as such", async () => {
  for (const secret of [undefined, null, 7, "", "whsec"])
    assert.throws(
      () => webhook({ secrets: [secret as string], keys: [privateKeys.a] }),
      failsWith("options_invalid"),
    );
  const symmetric = { kty: "oct", k: "AAAA" };
  const elliptic = createPrivateKey(privateKeys.a).export({ format: "jwk" });
  for (const key of [symmetric, { ...elliptic, kty: "EC" }] as PrivateKey[])
    await assert.rejects(open({ keys: [key] }), failsWith("options_invalid"));
});

test("a key that cannot be read is reported with a delivery, and breaks nothing before it", async () => {
  const receive = webhook({ secrets, keys: ["no key"], now });
  await new Promise((resolve) => setImmediate(resolve));
  await assert.rejects(receive({ "x-service-signature": signature }, body), failsWith("options_invalid"));
});

test("what was encrypted must be an event in UTF-8", async () => {
  const opened = async (plaintext: Uint8Array) => {
    const delivery = await sealed(plaintext);
    return open({}, signed(delivery), delivery);
  };
  const event = { type: "webhook.endpoint.test", note: "ü" };
  assert.deepEqual(await opened(new TextEncoder().encode(JSON.stringify(event))), event);
  const latin1 = Buffer.from(JSON.stringify(event), "latin1");
  await assert.rejects(opened(latin1), failsWith("event_malformed"));
});
