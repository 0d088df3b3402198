import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { PassThrough } from "node:stream";
import test from "node:test";
import type { FastifyReply, FastifyRequest } from "fastify";
import { BodyReader, usualBodyBytes } from "./read-body.ts";

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** A request whose body arrives when the test sends it, and the result of reading it. */
function begin(
  reader: BodyReader,
  headers: Record<string, string>,
  { bodyLimit = usualBodyBytes, address = "here" } = {},
) {
  const raw = Object.assign(new PassThrough({ highWaterMark: 1 << 20 }), { complete: false });
  const response = Object.assign(new EventEmitter(), { destroyed: false });
  const read: (string | null)[] = [];
  reader.read(
    { raw, headers, routeOptions: { bodyLimit } } as unknown as FastifyRequest,
    { raw: response } as unknown as FastifyReply,
    address,
    (body) => read.push(Buffer.isBuffer(body) ? body.toString() : body),
  );
  return {
    read,
    send: async (text: string, isLast = true) => {
      raw.complete = isLast;
      raw.write(text);
      await turn();
    },
    leave: () => {
      response.destroyed = true;
      response.emit("close");
    },
  };
}

const ofLength = (length: number) => ({ "content-length": String(length) });

test("without a body there is none, and a type without one is an empty body", () => {
  const reader = new BodyReader();
  assert.deepEqual(begin(reader, {}).read, [null]);
  assert.deepEqual(begin(reader, { "content-type": "application/json" }).read, [""]);
  assert.deepEqual(begin(reader, { "content-type": "application/json", ...ofLength(0) }).read, [""]);
});

test("a body that says it is too long is left to the framework, unread", () => {
  const reader = new BodyReader();
  assert.deepEqual(begin(reader, ofLength(11), { bodyLimit: 10 }).read, [null]);
  assert.deepEqual(begin(reader, { "content-type": "a/b", ...ofLength(11) }, { bodyLimit: 10 }).read, [null]);
  assert.deepEqual(begin(reader, ofLength(10), { bodyLimit: 10 }).read, [], "one that fits is waited for");
});

test("a body that came with its headers is read without being counted", async () => {
  const reader = new BodyReader();
  const request = begin(reader, ofLength(4));
  await request.send("body");
  assert.deepEqual([request.read, reader.reading], [["body"], 0]);
});

test("a body that comes in pieces is counted until it is whole", async () => {
  const reader = new BodyReader();
  const request = begin(reader, ofLength(6));
  await turn();
  assert.equal(reader.reading, 1);
  await request.send("abc", false);
  assert.deepEqual(request.read, []);
  await request.send("def");
  assert.deepEqual([request.read, reader.reading], [["abcdef"], 0]);
});

test("of a body without a length as much is read as it takes to refuse it", async () => {
  const reader = new BodyReader();
  const request = begin(reader, { "transfer-encoding": "chunked" }, { bodyLimit: 4 });
  await turn();
  await request.send("abcdefgh", false);
  assert.deepEqual([request.read, reader.reading], [["abcde"], 0]);
});

test("a client that leaves is let go of, before and while its body is read", async () => {
  const reader = new BodyReader();
  const early = begin(reader, ofLength(6));
  early.leave();
  const late = begin(reader, ofLength(6));
  await turn();
  assert.equal(reader.reading, 1, "the one that is still there");
  late.leave();
  assert.deepEqual([early.read, late.read, reader.reading], [[], [], 0]);
});

test("one address has so many bodies under way, a large one counts as several, and one that ends makes room", async () => {
  const reader = new BodyReader();
  const large = begin(reader, ofLength(2 * usualBodyBytes + 2), { bodyLimit: 1 << 20 });
  await turn();
  assert.equal(reader.reading, 2);
  const others = Array.from({ length: 126 }, () => begin(reader, ofLength(6)));
  await turn();
  const refused = begin(reader, ofLength(6));
  const elsewhere = begin(reader, ofLength(6), { address: "there" });
  await turn();
  assert.deepEqual([refused.read, elsewhere.read, reader.reading], [["bodies_full"], [], 129]);
  large.leave();
  const larger = begin(reader, ofLength(3 * usualBodyBytes), { bodyLimit: 1 << 20 });
  await turn();
  assert.deepEqual(larger.read, ["bodies_full"], "two of the three that it needs are free");
  const next = [begin(reader, ofLength(6)), begin(reader, ofLength(6))];
  await turn();
  assert.deepEqual(
    next.map(({ read }) => read),
    [[], []],
    "what was refused has given back what it took",
  );
  assert.equal(others.length, 126);
});

test("all addresses together have so many", async () => {
  const reader = new BodyReader();
  for (let i = 0; i < 1024; i++) begin(reader, ofLength(6), { address: `address ${i % 100}` });
  await turn();
  const refused = begin(reader, ofLength(6), { address: "another" });
  await turn();
  assert.deepEqual([refused.read, reader.reading], [["bodies_full"], 1024]);
});
