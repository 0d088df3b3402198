import assert from "node:assert/strict";
import test from "node:test";
import { until } from "../../../test/support/until.ts";
import { Hints, type Notification } from "./hints.ts";

const on = (channel: string, ...payloads: string[]): Notification[] =>
  payloads.map((payload) => ({ channel, payload }));

/** Records each message that is sent. A message waits until the test completes or fails it. */
function watched() {
  const messages: { hints: readonly Notification[]; done: () => void; fail: (error: Error) => void }[] = [];
  const hints = new Hints(
    (sent) => new Promise((resolve, reject) => messages.push({ hints: sent, done: resolve, fail: reject })),
  );
  return { hints, messages };
}

test("the first hint goes out at once, and those that come meanwhile in one message, in order and each once", async () => {
  const { hints, messages } = watched();
  const first = hints.add(on("a", "1"));
  assert.deepEqual(messages[0]?.hints, on("a", "1"));
  const others = [hints.add(on("a", "2", "3")), hints.add(on("b", "")), hints.add(on("a", "2", "1"))];
  assert.equal(messages.length, 1);
  messages[0]?.done();
  await first;
  await until("the next message goes out", () => messages.length > 1);
  assert.deepEqual(messages[1]?.hints, [...on("a", "2", "3", "1"), ...on("b", "")]);
  messages[1]?.done();
  await Promise.all(others);
  await hints.close();
  assert.equal(messages.length, 2);
});

test("what could not be sent is dropped, and what came meanwhile is sent", async () => {
  const { hints, messages } = watched();
  const first = hints.add(on("a", "1"));
  const second = hints.add(on("a", "2"));
  messages[0]?.fail(new Error("away"));
  await assert.rejects(first, /away/);
  const closed = hints.close();
  await until("the next message goes out", () => messages.length > 1);
  assert.deepEqual(messages[1]?.hints, on("a", "2"));
  messages[1]?.fail(new Error("still away"));
  await closed;
  await assert.rejects(second, /still away/);
  assert.equal(messages.length, 2);
});

test("a channel with more than a thousand hints that wait is told to look everywhere", async () => {
  const { hints, messages } = watched();
  void hints.add(on("a", "first"));
  for (let at = 0; at < 1002; at++) void hints.add(on("a", String(at)));
  void hints.add(on("b", "1"));
  messages[0]?.done();
  const closed = hints.close();
  await until("the next message goes out", () => messages.length > 1);
  assert.deepEqual(messages[1]?.hints, [...on("a", ""), ...on("b", "1")]);
  messages[1]?.done();
  await closed;
});
