import assert from "node:assert/strict";
import test from "node:test";
import { shownPath } from "./shown-path.ts";

const session = `vs_${"aB3".repeat(22).slice(0, 64)}`;
const uuid = "0b8f6f0e-6f0b-4c55-9d5b-0d6f8f7f3c11";

const shown: [string, string][] = [
  [`/v1/sessions/${session}`, `/v1/sessions/${session}`],
  ["/v1/sessions?client_reference_id=ada%40example.com", "/v1/sessions"],
  [
    `/v1/webhooks/endpoints/whe_${"x".repeat(32)}/signing-secret/rotate`,
    `/v1/webhooks/endpoints/whe_${"x".repeat(32)}/signing-secret/rotate`,
  ],
  [`/v1/auth/api-keys/${uuid}`, `/v1/auth/api-keys/${uuid}`],
  ["/v1/sesions", "/v1/sesions"],
  ["/v1/sessions/", "/v1/sessions/"],
  ["/", "/"],
  ["*", "/"],
  ["/v1/sessions/ada@example.com", "/v1/sessions/…"],
  ["/v1/sessions/Ada", "/v1/sessions/…"],
  ["/v1/sessions/L01X00T47", "/v1/sessions/…"],
  ["/v1/sessions/1985-03-07", "/v1/sessions/…"],
  [`/v1/sessions/kk_${"a".repeat(32)}`, "/v1/sessions/…"],
  [`/v1/sessions/${session}x`, "/v1/sessions/…"],
  ["/v1/sessions/%00", "/v1/sessions/…"],
  ["/v1/sessions/\u0000\ud800", "/v1/sessions/…"],
  [`/v1/${"a".repeat(25)}`, "/v1/…"],
];
for (const [url, path] of shown)
  test(`the log shows ${JSON.stringify(url.slice(0, 60))} as ${path.slice(0, 60)}`, () =>
    assert.equal(shownPath(url), path));

test("a path is short in the log, however long it was", () => {
  assert.equal(shownPath("/a".repeat(8000)), "/a".repeat(10));
  assert.equal(shownPath(`/${"A".repeat(16_000)}`), "/…");
});
