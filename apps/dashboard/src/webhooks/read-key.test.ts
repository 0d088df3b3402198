import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { generateKeyPairSync, X509Certificate } from "node:crypto";
import test from "node:test";
import { loadWords } from "../i18n/words.ts";
import { readPrivateKey, readPublicKey } from "./read-key.ts";

await loadWords("en");

const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const expected = publicKey.export({ format: "jwk" });
const numbers = { n: expected.n, e: expected.e };

test("a public key is read in every form that tools write", () => {
  const pem = (type: "spki" | "pkcs1") => String(publicKey.export({ format: "pem", type }));
  const forms = {
    "PEM, SPKI": pem("spki"),
    "PEM, PKCS#1": pem("pkcs1"),
    "PEM with text around it": `Bag Attributes\r\n  name: x\r\n${pem("spki").replaceAll("\n", "\r\n")}\r\n`,
    JWK: JSON.stringify(expected),
    "a set of one": JSON.stringify({ keys: [expected] }),
    "JWK with padding": JSON.stringify({ ...expected, e: "AQAB====" }),
  };
  for (const [form, text] of Object.entries(forms))
    assert.deepEqual(readPublicKey(text), { ...numbers, kid: null, wasPrivate: false }, form);
  assert.equal(readPublicKey(JSON.stringify({ ...expected, kid: " 2026-03 ", alg: "RS256" })).kid, "2026-03");
});

test("of a private key only the public half is left, and it is said", () => {
  const forms = [
    privateKey.export({ format: "pem", type: "pkcs8" }),
    privateKey.export({ format: "pem", type: "pkcs1" }),
    JSON.stringify(privateKey.export({ format: "jwk" })),
  ];
  for (const text of forms)
    assert.deepEqual(readPublicKey(String(text)), { ...numbers, kid: null, wasPrivate: true });
});

test("the key of a certificate is read", (t) => {
  const subject = ["-subj", "/CN=partner.example", "-days", "1"];
  const args = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "/dev/null", ...subject];
  const { stdout, status } = spawnSync("openssl", args, { encoding: "utf8" });
  if (status !== 0) return t.skip("there is no openssl");
  const { n, e } = new X509Certificate(stdout).publicKey.export({ format: "jwk" });
  assert.deepEqual(readPublicKey(stdout), { n, e, kid: null, wasPrivate: false });
});

test("a key that cannot be used gets a reason in words, which never quotes the key", () => {
  const elliptic = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const locked = privateKey.export({ format: "pem", type: "pkcs8", cipher: "aes-256-cbc", passphrase: "x" });
  const cases: [string, RegExp][] = [
    ["", /not a key/],
    ["ssh-rsa AAAAB3Nza", /not a key/],
    ["{", /a part of it is missing/],
    ["[]", /not a key/],
    ['{"kty":"EC","crv":"P-256"}', /not an RSA key/],
    ['{"keys":[]}', /set of 0 keys/],
    [String(elliptic.publicKey.export({ format: "pem", type: "spki" })), /not an RSA key/],
    [String(elliptic.privateKey.export({ format: "pem", type: "pkcs8" })), /not an RSA key/],
    [String(elliptic.privateKey.export({ format: "pem", type: "sec1" })), /not an RSA key/],
    [String(locked), /protected with a password/],
    ["-----BEGIN PUBLIC KEY-----\n!!!!\n-----END PUBLIC KEY-----", /damaged/],
    ["-----BEGIN PUBLIC KEY-----\nMIIBIjAN\n-----END PUBLIC KEY-----", /cannot be read/],
  ];
  for (const [text, message] of cases) assert.throws(() => readPublicKey(text), { message }, text);
});

test("a private key is read for opening events, whatever a file says about its use", () => {
  const jwk = {
    ...privateKey.export({ format: "jwk" }),
    alg: "RS256",
    use: "sig",
    key_ops: ["sign"],
    ext: true,
  };
  assert.deepEqual(readPrivateKey(JSON.stringify(jwk)), {
    format: "jwk",
    jwk: privateKey.export({ format: "jwk" }),
  });
  const pkcs8 = readPrivateKey(String(privateKey.export({ format: "pem", type: "pkcs8" })));
  const pkcs1 = readPrivateKey(String(privateKey.export({ format: "pem", type: "pkcs1" })));
  assert.deepEqual(pkcs1, pkcs8);
  for (const text of [JSON.stringify(expected), String(publicKey.export({ format: "pem", type: "spki" }))])
    assert.throws(() => readPrivateKey(text), { message: /public half/ });
});
