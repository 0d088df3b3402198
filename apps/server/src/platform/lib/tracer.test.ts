import assert from "node:assert/strict";
import test from "node:test";
import { summaryOf } from "../db/statement-summary.ts";
import { type FinishedSpan, isPicked, parseTraceparent, Tracer } from "./tracer.ts";

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const spanId = "00f067aa0ba902b7";

function collecting(ratio = 1) {
  const kept: FinishedSpan[] = [];
  let dropped = 0;
  const tracer = new Tracer({
    ratio,
    keep: (spans) => kept.push(...spans),
    dropped: (count) => {
      dropped += count;
    },
  });
  return { tracer, kept, dropped: () => dropped };
}

test("a traceparent is followed only where it is one of the W3C's", () => {
  assert.deepEqual(parseTraceparent(`00-${traceId}-${spanId}-01`), { traceId, spanId, sampled: true });
  assert.deepEqual(parseTraceparent(`00-${traceId}-${spanId}-00`), { traceId, spanId, sampled: false });
  // A later version may have more parts; the first ones keep their meaning.
  assert.deepEqual(parseTraceparent(`cc-${traceId}-${spanId}-01-what`)?.traceId, traceId);
  for (const header of [
    undefined,
    "",
    `00-${traceId}-${spanId}`,
    `00-${traceId}-${spanId}-01-more`,
    `ff-${traceId}-${spanId}-01`,
    `00-${traceId.toUpperCase()}-${spanId}-01`,
    `00-${"0".repeat(32)}-${spanId}-01`,
    `00-${traceId}-${"0".repeat(16)}-01`,
    `00-${traceId}-${spanId}-01\nx: y`,
  ])
    assert.equal(parseTraceparent(header), null, header);
});

test("the share of traces is kept by their id, and a stranger's wish to be kept does not count", () => {
  const low = `${"f".repeat(18)}${"0".repeat(14)}`;
  const high = `${"0".repeat(18)}${"f".repeat(14)}`;
  assert.deepEqual([isPicked(low, 0.01), isPicked(high, 0.99), isPicked(high, 1)], [true, false, true]);
  assert.equal(isPicked(low, 0), false);
  const { tracer } = collecting(0.5);
  const begin = (id: string, sampled: boolean) =>
    tracer.begin("x", "server", {}, { traceId: id, spanId, sampled }) !== null;
  assert.deepEqual([begin(low, true), begin(low, false), begin(high, true)], [true, false, false]);
});

test("parts belong to what they were begun in, an error tells its code alone, and what comes after the end is not seen", async () => {
  const { tracer, kept } = collecting();
  let late: Promise<unknown> = Promise.resolve();
  await tracer.root("root", "internal", {}, async () => {
    const fault = Object.assign(new Error("duplicate key (email)=(ada@example.com)"), { code: "23505" });
    await assert.rejects(tracer.part("inner", "client", {}, () => Promise.reject(fault)));
    late = new Promise((resolve) =>
      setImmediate(() => resolve(tracer.part("late", "client", {}, async () => 1))),
    );
  });
  await late;
  const [inner, root] = kept;
  assert.deepEqual(
    kept.map(({ name }) => name),
    ["inner", "root"],
  );
  assert.equal(inner?.parentId, root?.spanId);
  assert.deepEqual([inner?.failed, inner?.attributes], [true, { "error.type": "23505" }]);
  assert.equal(root?.failed, false);
  assert.equal(tracer.traceparent(), null);
});

test("a trace holds a bounded number of spans, and what is more is counted", async () => {
  const { tracer, kept, dropped } = collecting();
  await tracer.root("root", "internal", {}, async () => {
    for (let i = 0; i < 600; i++) await tracer.part("part", "internal", {}, async () => i);
  });
  assert.deepEqual([kept.length, dropped()], [501, 100]);
});

test("a statement is told by what it does to which table, without its text", () => {
  assert.equal(summaryOf(["begin", "select id from sessions where id = $1", "commit"]), "select sessions");
  assert.equal(
    summaryOf([
      "with x as (select 1 from users) insert into mails (id) values ($1)",
      "update sessions set a = 1",
      "x",
    ]),
    "insert mails, update sessions and 1 more",
  );
  assert.equal(summaryOf(["commit"]), "commit");
  assert.equal(summaryOf(["select pg_notify($1, $2)"]), "select");
});
