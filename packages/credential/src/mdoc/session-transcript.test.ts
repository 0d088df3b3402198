import assert from "node:assert/strict";
import { test } from "node:test";
import { sessionTranscript } from "./session-transcript.ts";

// OpenID4VP 1.0, B.2.6.1 and B.2.6.2 (openid/OpenID4VP,
// `1.0/openid-4-verifiable-presentations-1_0.md`, 46f6965).
const nonce = "exc7gBkxjx1rdc9udRrveKvSsJIq80avlXeLHhGwqtA";
const keyThumbprint = Buffer.from("4283ec927ae0f208daaa2d026a814f2b22dca52cf85ffa8f3f8626c6bd669047", "hex");
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");

test("the transcript of a redirect is the specification's", async () => {
  const transcript = await sessionTranscript({
    kind: "redirect",
    clientId: "x509_san_dns:example.com",
    nonce,
    responseUri: "https://example.com/response",
    keyThumbprint,
  });
  assert.equal(
    hex(transcript),
    "83f6f682714f70656e494434565048616e646f7665725820048bc053c00442af9b8eed494cefdd9d95240d254b046b11b68013722aad38ac",
  );
});

test("the transcript of the Digital Credentials API is the specification's", async () => {
  assert.equal(
    hex(await sessionTranscript({ kind: "dc_api", origin: "https://example.com", nonce, keyThumbprint })),
    "83f6f682764f70656e4944345650444341504948616e646f7665725820fbece366f4212f9762c74cfdbf83b8c69e371d5d68cea09cb4c48ca6daab761a",
  );
});

test("an answer that is not encrypted has another transcript", async () => {
  const encrypted = await sessionTranscript({
    kind: "dc_api",
    origin: "https://example.com",
    nonce,
    keyThumbprint,
  });
  const plain = await sessionTranscript({
    kind: "dc_api",
    origin: "https://example.com",
    nonce,
    keyThumbprint: null,
  });
  assert.notEqual(hex(encrypted), hex(plain));
});
