import assert from "node:assert/strict";
import test from "node:test";
import { ApiError } from "../kernel/api-error.ts";
import { parseBody, refuseOtherCharset } from "./parse-body.ts";

const parsed = (text: string) => parseBody(Buffer.from(text));

function messageOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    assert.ok(error instanceof ApiError && error.code === "BAD_REQUEST", String(error));
    return error.message;
  }
  return "accepted";
}

test("a body that is not JSON is answered with line and column, or that it ends too early", () => {
  for (const [text, place] of [
    ["x", "line 1, column 1"],
    ['{"a":x}', "line 1, column 6"],
    ['{\n  "a": 1,\n  b\n}', "line 3, column 3"],
    ['{"a":', "it ends too early"],
  ] as const)
    assert.equal(
      messageOf(() => parsed(text)),
      `The body is not valid JSON: ${place}.`,
      text,
    );
});

test("the name of an object's prototype is refused however it is written, and looks like it are not", () => {
  for (const text of ['{"__proto__":1}', '[{"a":{"\\u005f_proto__":1}}]', '{"__pr\\u006Fto__":{}}'])
    assert.match(
      messageOf(() => parsed(text)),
      /`__proto__` is not a field/,
      text,
    );
  assert.deepEqual(parsed('{"proto":"\\u005f","a":[{"_proto_":1}]}'), { proto: "_", a: [{ _proto_: 1 }] });
});

test("a body is UTF-8 without half characters", () => {
  assert.match(
    messageOf(() => parseBody(Buffer.from([0x22, 0xff, 0x22]))),
    /not valid UTF-8/,
  );
  assert.notEqual(
    messageOf(() => parsed('"\\ud800"')),
    "accepted",
  );
  assert.equal(parsed('"é\\ud83d\\ude00"'), "é😀");
});

test("a charset is UTF-8 or part of it, wherever the header names it", () => {
  for (const type of [
    undefined,
    "application/json",
    "application/json; charset=utf-8",
    'application/json;CHARSET = "UTF8"',
    "application/json; x=1; charset=us-ascii",
  ])
    assert.doesNotThrow(() => refuseOtherCharset(type), type);
  for (const type of [
    "application/json; charset=utf-16",
    "application/json; charset=iso-8859-1",
    "application/json; charset=xutf-8",
    "application/json; charset=utf-8x",
    "application/json;  charset=",
  ])
    assert.match(
      messageOf(() => refuseOtherCharset(type)),
      /charset other than UTF-8/,
      type,
    );
});
