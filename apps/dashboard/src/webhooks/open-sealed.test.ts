import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import test from "node:test";
import { CompactEncrypt } from "jose";
import { loadWords } from "../i18n/words.ts";
import { importKey, makeKeyPair } from "./key-pair.ts";
import { keyNameOf, openSealed } from "./open-sealed.ts";
import { readPrivateKey } from "./read-key.ts";

await loadWords("en");

const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const seal = (text: string, key: Parameters<CompactEncrypt["encrypt"]>[0] = publicKey) =>
  new CompactEncrypt(new TextEncoder().encode(text))
    .setProtectedHeader({ alg: "RSA-OAEP-256", enc: "A256GCM", kid: "2026-03" })
    .encrypt(key);
const pem = String(privateKey.export({ format: "pem", type: "pkcs8" }));

test("what a library seals opens with the private key in each of its forms", async () => {
  const jwe = await seal('{"name":"Müller"}');
  assert.equal(keyNameOf(jwe), "2026-03");
  for (const text of [
    pem,
    String(privateKey.export({ format: "pem", type: "pkcs1" })),
    JSON.stringify(privateKey.export({ format: "jwk" })),
  ])
    assert.equal(await openSealed(` ${jwe}\n`, await importKey(readPrivateKey(text))), '{"name":"Müller"}');
});

test("a pair that is made here opens what is sealed to its public half, from its file too", async () => {
  const pair = await makeKeyPair();
  const jwe = await seal("text", { kty: "RSA", n: pair.n, e: pair.e });
  assert.equal(await openSealed(jwe, pair.privateKey), "text");
  assert.equal(await openSealed(jwe, await importKey(readPrivateKey(pair.pem))), "text");
  assert.equal(await openSealed(jwe, await importKey(readPrivateKey(JSON.stringify(pair.jwk)))), "text");
  assert.equal(pair.privateKey.extractable, false);
});

test("what does not open says why", async () => {
  const key = await importKey(readPrivateKey(pem));
  const jwe = await seal("text");
  const other = await seal("text", generateKeyPairSync("rsa", { modulusLength: 2048 }).publicKey);
  await assert.rejects(openSealed(other, key), { message: /encrypted to the key named “2026-03”/ });
  await assert.rejects(openSealed("not one", key), { message: /not the body of a delivery/ });
  await assert.rejects(openSealed(jwe.split(".").slice(0, 4).join("."), key), { message: /not the body/ });
  const parts = jwe.split(".");
  parts[3] = `${parts[3]?.slice(0, -2)}AA`;
  await assert.rejects(openSealed(parts.join("."), key), { message: /was changed on its way/ });
});
