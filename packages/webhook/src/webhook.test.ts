import assert from "node:assert/strict";
import { createPrivateKey } from "node:crypto";
import { readFileSync } from "node:fs";
import test from "node:test";
import type { EventPayload, EventType } from "@assay/contract/events";
import { type PrivateKey, WebhookError, type WebhookEvent, type WebhookOptions, webhook } from "./index.ts";

type Name = "a" | "b";
type Vector = {
  name: string;
  secrets: string[];
  keys: (Name | { kid: string; key: Name })[];
  body: string;
  signature: string | null;
} & ({ event: unknown } | { error: string });
type Vectors = { now: string; privateKeys: Record<Name, string>; cases: Vector[] };

const vectors = JSON.parse(readFileSync(new URL("../vectors.json", import.meta.url), "utf8")) as Vectors;
const { privateKeys, cases } = vectors;
const now = () => new Date(vectors.now);
const [valid] = cases;
assert.ok(valid);

const keysOf = ({ keys }: Vector): PrivateKey[] =>
  keys.map((key) =>
    typeof key === "string" ? privateKeys[key] : { kid: key.kid, key: privateKeys[key.key] },
  );
const headersOf = ({ signature }: Vector) => (signature === null ? {} : { "X-Service-Signature": signature });
const openValid = (options: Partial<WebhookOptions>) =>
  webhook({ secrets: valid.secrets, keys: keysOf(valid), now, ...options })(headersOf(valid), valid.body);
const failsWith = (code: string) => (error: unknown) => {
  assert.ok(error instanceof WebhookError, String(error));
  assert.equal(error.code, code);
  return true;
};

for (const vector of cases) {
  test(`${"event" in vector ? "opens" : "refuses"}: ${vector.name}`, async () => {
    const opened = webhook({ secrets: vector.secrets, keys: keysOf(vector), now })(
      headersOf(vector),
      vector.body,
    );
    if ("event" in vector) assert.deepEqual(await opened, vector.event);
    else await assert.rejects(opened, failsWith(vector.error));
  });
}

test("headers and body come in any form that a framework has", async () => {
  const open = webhook({ secrets: valid.secrets, keys: keysOf(valid), now });
  const signature = valid.signature ?? "";
  const bytes = new TextEncoder().encode(valid.body);
  for (const headers of [
    new Headers({ "x-service-signature": signature }),
    { "x-service-signature": [signature], host: undefined },
  ])
    for (const body of [valid.body, bytes, Buffer.from(bytes), bytes.buffer as ArrayBuffer])
      assert.equal((await open(headers, body)).type, "verification.session.failed");
});

test("a body that a framework has parsed is named as such", async () => {
  const open = webhook({ secrets: valid.secrets, keys: keysOf(valid), now });
  for (const parsed of [{}, undefined, null, 7])
    await assert.rejects(
      open(headersOf(valid), parsed as unknown as string),
      failsWith("body_already_parsed"),
    );
});

test("a key may be PEM with its line breaks escaped, a JWK, or a JWK under its name", async () => {
  const jwk = createPrivateKey(privateKeys.a).export({ format: "jwk" });
  for (const key of [
    privateKeys.a.replaceAll("\n", "\\n"),
    jwk,
    { ...jwk, kid: "2026-a" },
    { kid: "2026-a", key: jwk },
  ])
    assert.deepEqual(await openValid({ keys: [key] }), "event" in valid && valid.event);
  await assert.rejects(openValid({ keys: [{ ...jwk, kid: "2025" }] }), failsWith("key_unknown"));
});

test("options that cannot work say what to do, and repeat no secret", async () => {
  assert.throws(() => webhook({ secrets: [], keys: keysOf(valid) }), failsWith("options_invalid"));
  assert.throws(() => webhook({ secrets: valid.secrets, keys: [] }), failsWith("options_invalid"));
  assert.throws(
    () => webhook({ secrets: [...valid.secrets, "abcdef"], keys: keysOf(valid) }),
    (error: Error) =>
      failsWith("options_invalid")(error) &&
      /secrets\[1\]/.test(error.message) &&
      !/abcdef/.test(error.message),
  );
  const old = createPrivateKey(privateKeys.a).export({ type: "pkcs1", format: "pem" });
  const { d: _, ...publicJwk } = createPrivateKey(privateKeys.a).export({ format: "jwk" });
  for (const key of ["nonsense", old.toString(), publicJwk as PrivateKey])
    await assert.rejects(openValid({ keys: [key] }), failsWith("options_invalid"));
});

test("the tolerance and the clock can be set", async () => {
  const later = () => new Date(now().getTime() + 11_000);
  await assert.rejects(openValid({ toleranceSeconds: 10, now: later }), failsWith("timestamp_too_old"));
  assert.ok(await openValid({ toleranceSeconds: 11, now: later }));
});

test("the types are those of the contract, one for each event", () => {
  type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
  type ByType = { [T in EventType]: Extract<WebhookEvent, { type: T }> };
  // The identifiers of the contract are branded texts, which partners have no use for.
  type Plain<T> = T extends string
    ? string extends T
      ? string
      : T extends `${infer _}`
        ? T
        : string
    : { [K in keyof T]: Plain<T[K]> };
  const same: { [T in EventType]: Same<keyof ByType[T]["data"], keyof EventPayload<T>["data"]> } = {
    "verification.session.succeeded": true,
    "verification.session.failed": true,
    "verification.session.expired": true,
    "verification.session.cancelled": true,
    "webhook.endpoint.test": true,
  };
  const assignable: (event: EventPayload<EventType>) => WebhookEvent = (event) => event;
  const code: Same<
    Extract<WebhookEvent, { type: "verification.session.failed" }>["data"]["failure_code"],
    Plain<EventPayload<"verification.session.failed">["data"]["failure_code"]>
  > = true;
  assert.ok(same["webhook.endpoint.test"] && code && assignable);
});
