import assert from "node:assert/strict";
import { test } from "node:test";
import { WaitingLine, type Who } from "./waiting-line.ts";

const live = (organization: string | null): Who => ({ sandbox: false, organization });
const sandbox = (organization: string | null): Who => ({ sandbox: true, organization });

function drain(line: WaitingLine<string>): string[] {
  const order: string[] = [];
  for (let next = line.next(); next !== null; next = line.next()) order.push(next);
  return order;
}

test("live work comes before that of the sandbox, and the first come first where nobody is told apart", () => {
  const line = new WaitingLine<string>(8);
  for (const [item, who] of [
    ["a", sandbox(null)],
    ["b", live(null)],
    ["c", sandbox(null)],
    ["d", live(null)],
  ] as const)
    line.add(item, who);
  assert.deepEqual(drain(line), ["b", "d", "a", "c"]);
});

test("an organization that comes with one thing is next, however much of another waits before it", () => {
  const line = new WaitingLine<string>(64);
  line.served(sandbox("a"));
  for (let n = 1; n <= 4; n++) line.add(`a${n}`, sandbox("a"));
  line.add("b1", sandbox("b"));
  line.add("b2", sandbox("b"));
  assert.deepEqual(drain(line), ["b1", "a1", "b2", "a2", "a3", "a4"]);
});

test("an organization cannot become new by waiting for nothing in between", () => {
  const line = new WaitingLine<string>(64);
  line.served(live("a"));
  line.served(live("b"));
  line.add("b", live("b"));
  line.add("a", live("a"));
  assert.deepEqual(drain(line), ["a", "b"]);
});

test("the sandbox fills half of the places at most, and one organization leaves as many free as it takes", () => {
  const line = new WaitingLine<string>(8);
  for (let n = 0; n < 4; n++) {
    assert.equal(line.hasCapacity(live("a")), true);
    line.add("x", live("a"));
  }
  assert.equal(line.hasCapacity(live("a")), false);
  assert.equal(line.hasCapacity(sandbox("b")), false);
  assert.equal(line.hasCapacity(live("b")), true);
  assert.equal(line.hasCapacity(live(null)), true);
  for (let n = 0; n < 4; n++) line.add("y", live(null));
  assert.equal(line.hasCapacity(live(null)), false);
});

test("what is taken out does not come any more", () => {
  const line = new WaitingLine<string>(8);
  line.add("a", live("a"));
  line.add("b", live("a"));
  assert.equal(line.remove("a"), true);
  assert.equal(line.remove("a"), false);
  assert.equal(line.length, 1);
  assert.deepEqual(line.removeAll(), ["b"]);
  assert.deepEqual(drain(line), []);
});
