import assert from "node:assert/strict";
import test from "node:test";
import { Books, least } from "./books.ts";
import { checkBooks } from "./check-books.ts";

const nothing = { query: async () => ({ rows: [] }) };
const check = (books: Books, listed: Awaited<ReturnType<Parameters<typeof checkBooks>[2]>> = []) =>
  checkBooks(books, { received: [] }, async () => listed, nothing);
const brokenIn = async (...args: Parameters<typeof check>) =>
  (await check(...args)).filter(({ broken }) => broken.length > 0).map(({ guarantee }) => guarantee);

/** A run in which every fault met enough work, and the sessions as they would be listed. */
function worked(faults: readonly string[]) {
  const books = new Books();
  const listed: Awaited<ReturnType<Parameters<typeof checkBooks>[2]>> = [];
  for (const fault of faults) {
    books.begin(fault);
    for (let made = 0; made < least.sessions; made++) {
      const [id, reference] = [`vs_${listed.length}`, `order-${listed.length}`];
      const session = { id, client_reference_id: reference, metadata: { number: "1" }, status: "created" };
      books.sessionMade(id, { reference, text: JSON.stringify({ data: session }) });
      listed.push(session);
      books.acknowledged();
    }
    const verified = listed.at(-1) ?? assert.fail();
    verified.status = "succeeded";
    books.sessionVerified(verified.id);
  }
  return { books, listed };
}

test("a run in which 500 requests were given up and no session was made does not hold", async () => {
  const books = new Books();
  books.begin("no fault");
  for (let number = 0; number < 500; number++) books.givenUp.push(`order-${number}`);
  assert.deepEqual(await brokenIn(books), [
    "requests given up",
    `faults with fewer than ${least.sessions} sessions`,
    `faults with fewer than ${least.verifications} verifications`,
  ]);
});

test("every fault needs its own work, and one request given up is one too many", async () => {
  const { books, listed } = worked(["no fault", "kill -9 api A"]);
  // There is no event for the verified ones: the tables of this test are empty.
  const expected = ["ended sessions without one live terminal event"];
  assert.deepEqual(await brokenIn(books, listed), expected);
  books.givenUpOthers = 1;
  books.begin("kill -9 worker");
  assert.deepEqual(await brokenIn(books, listed), [
    ...expected,
    "requests given up",
    `faults with fewer than ${least.sessions} sessions`,
    `faults with fewer than ${least.verifications} verifications`,
  ]);
});

test("a fault that stops all writes for long does not hold, measured by the time before any fault", async (context) => {
  let now = 1000;
  context.mock.method(performance, "now", () => now);
  const { books, listed } = worked(["no fault", "kill -9 api A"]);
  books.begin("kill -9 primary, failover");
  now += 15_001;
  books.acknowledged();
  const found = (await check(books, listed)).find(({ guarantee }) => guarantee.endsWith("without a write"));
  assert.deepEqual(found?.broken, ["kill -9 primary, failover: 15.0 s"]);
});
