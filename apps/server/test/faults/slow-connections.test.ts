import assert from "node:assert/strict";
import { test } from "node:test";
import { expectRefusal, openConnection, parseAnswer, readToEnd } from "../support/raw-http.ts";
import { startTestService } from "../support/service.ts";

const { url } = await startTestService({ role: "api" });

// Node keeps these times itself, so there is no clock to move: the test waits for them.
test("a connection that sends its headers letter by letter, or nothing at all, is ended within half a minute", async () => {
  const startedAt = performance.now();
  const [slow, silent] = [openConnection(url), openConnection(url)];
  const answers = [readToEnd(slow), readToEnd(silent)] as const;
  slow.write("GET /healthz HTTP/1.1\r\nhost: localhost\r\n");
  const dripping = setInterval(() => slow.write("x"), 1000);
  const [told] = await Promise.all(answers);
  clearInterval(dripping);
  const seconds = (performance.now() - startedAt) / 1000;
  assert.ok(seconds > 14 && seconds < 30, `${seconds} s`);
  expectRefusal(parseAnswer(told), 408, "REQUEST_TIMEOUT");
});
