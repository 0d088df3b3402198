import assert from "node:assert/strict";
import test from "node:test";
import { DeviceError, parseVerificationUrl } from "./verification-url.ts";

const sessionId = `vs_${"aB3".repeat(21)}x`;

test("a link says where the service is, which session it means, and the token of a code that the page shows", () => {
  assert.deepEqual(parseVerificationUrl(`https://id.example/verify/${sessionId}`), {
    baseUrl: "https://id.example",
    sessionId,
    handoffToken: null,
  });
  assert.deepEqual(parseVerificationUrl(`http://localhost:8080/a/b/verify/${sessionId}?x=1#handoff=t%2Bk`), {
    baseUrl: "http://localhost:8080/a/b",
    sessionId,
    handoffToken: "t+k",
  });
});

test("anything else is refused as a mistake of the person who started the device", () => {
  for (const text of [
    "",
    "no link",
    `ftp://id.example/verify/${sessionId}`,
    `https://id.example/verify/${sessionId}x`,
    `https://id.example/verify/${sessionId.slice(0, -1)}`,
    `https://id.example/verify/${sessionId}/more`,
    `https://id.example/other/${sessionId}`,
    `https://id.example/verify/va_${"a".repeat(64)}`,
  ])
    assert.throws(() => parseVerificationUrl(text), DeviceError, text);
});
