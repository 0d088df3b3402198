import assert from "node:assert/strict";
import test from "node:test";
import { newRequestId, requestIdOf, standardHeaders } from "./standard-headers.ts";

test("a request id of the client is kept where it has 8 to 64 plain characters, and replaced elsewhere", () => {
  const of = (id: string | string[] | undefined) =>
    requestIdOf({ headers: { "x-request-id": id as string } });
  for (const id of ["12345678", "a_B-".repeat(16)]) assert.equal(of(id), id);
  for (const id of [undefined, "", "1234567", "a".repeat(65), "with space", "12345678\n", ["12345678"]])
    assert.match(of(id), /^req_[0-9a-f]{24}$/, String(id));
});

test("no two new ids are the same", () => {
  const ids = Array.from({ length: 1000 }, newRequestId);
  assert.equal(new Set(ids).size, ids.length);
  for (const id of ids) assert.match(id, /^req_[0-9a-f]{24}$/);
});

test("browsers are bound to https where the service is on https, and only there", () => {
  const name = "strict-transport-security";
  assert.equal(standardHeaders("id", "https://a.example")[name], "max-age=31536000");
  assert.ok(!(name in standardHeaders("id", "http://a.example")));
});
