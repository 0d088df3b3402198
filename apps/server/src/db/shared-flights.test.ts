import assert from "node:assert/strict";
import test from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import fc from "fast-check";
import pg from "pg";
import type { Answer, Query } from "./flight.ts";
import { SharedFlights } from "./shared-flights.ts";

type Flight = { texts: string[]; land: () => void; fail: (error: Error) => void };

/** Flights whose end is decided here. Each statement is answered with its own text. */
function airport(together: number) {
  const flights: Flight[] = [];
  const fly = (queries: readonly Query[]) =>
    new Promise<readonly Answer[]>((resolve, reject) => {
      const texts = queries.map(({ text }) => text);
      const land = () => resolve(texts.map((text) => ({ rows: [{ text }], rowCount: 1 })));
      flights.push({ texts, land, fail: reject });
    });
  const shared = new SharedFlights(fly, { flights: 2, together });
  const send = async (text: string, whose: string | null = null) =>
    (await shared.send({ text }, whose)).rows[0]?.text;
  return { flights, send };
}

const refused = () => new pg.DatabaseError("invalid input", 10, "error");
const texts = (flights: readonly Flight[]) => flights.map((flight) => flight.texts);

test("who is alone leaves at once, and those of one turn of the loop leave together", async () => {
  const { flights, send } = airport(10);
  const first = send("a");
  await turn();
  const others = [send("b"), send("c")];
  await turn();
  assert.deepEqual(texts(flights), [["a"], ["b", "c"]]);
  for (const flight of flights) flight.land();
  assert.deepEqual(await Promise.all([first, ...others]), ["a", "b", "c"]);
});

test("while two flights are in the air the next ones gather, and leave when one is back", async () => {
  const { flights, send } = airport(10);
  for (const text of ["a", "b"]) {
    void send(text);
    await turn();
  }
  for (const text of ["c", "d", "e"]) {
    void send(text);
    await turn();
  }
  assert.deepEqual(texts(flights), [["a"], ["b"]]);
  flights[1]?.land();
  await turn();
  await turn();
  assert.deepEqual(texts(flights), [["a"], ["b"], ["c", "d", "e"]]);
});

test("who has nothing in the air does not wait until others are back", async () => {
  const { flights, send } = airport(10);
  for (const text of ["a", "b", "c"]) {
    void send(text, "busy");
    await turn();
  }
  assert.deepEqual(texts(flights), [["a"], ["b"]]);
  const others = [send("d", "quiet"), send("e", "busy"), send("f", "shy")];
  await turn();
  assert.deepEqual(texts(flights), [["a"], ["b"], ["d", "f"]], "together, and alone");
  void send("g", "third");
  void send("h", "quiet");
  await turn();
  assert.equal(flights.length, 3, "there is one such flight at a time");
  flights[2]?.land();
  assert.equal(await others[0], "d");
  await turn();
  await turn();
  assert.deepEqual(texts(flights.slice(3)), [["g", "h"]]);
  for (const flight of flights.slice(0, 2)) flight.land();
  await turn();
  await turn();
  assert.deepEqual(texts(flights.slice(3)), [
    ["g", "h"],
    ["c", "e"],
  ]);
});

test("nobody waits for long for flights that are stuck", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { flights, send } = airport(10);
  for (const text of ["a", "b", "c"]) {
    void send(text);
    await turn();
  }
  assert.equal(flights.length, 2);
  t.mock.timers.tick(20);
  assert.deepEqual(texts(flights).at(-1), ["c"]);
});

test("nor for longer because others come who have nothing in the air", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { flights, send } = airport(10);
  for (const text of ["a", "b", "c"]) {
    void send(text, "busy");
    await turn();
  }
  t.mock.timers.tick(15);
  void send("d", "quiet");
  await turn();
  t.mock.timers.tick(5);
  assert.deepEqual(texts(flights).slice(2), [["d"], ["c"]]);
});

test("what the server refuses fails alone, and the others are sent again", async () => {
  const { flights, send } = airport(10);
  const [good, bad] = [send("good"), send("bad")];
  await turn();
  flights[0]?.fail(refused());
  await turn();
  assert.deepEqual(texts(flights.slice(1)), [["good"], ["bad"]]);
  flights[1]?.land();
  flights[2]?.fail(refused());
  assert.equal(await good, "good");
  await assert.rejects(bad, pg.DatabaseError);
});

test("of a connection that is lost, or that the server ends, nobody knows what was done, so nothing is sent again", async () => {
  const ended = Object.assign(refused(), { code: "57P01" });
  for (const error of [new Error("Connection terminated unexpectedly"), ended]) {
    const { flights, send } = airport(10);
    const sent = [send("a"), send("b")];
    await turn();
    flights[0]?.fail(error);
    const results = await Promise.allSettled(sent);
    assert.deepEqual(
      results.map(({ status }) => status),
      ["rejected", "rejected"],
    );
    assert.equal(flights.length, 1);
  }
});

test("whatever comes when, everybody gets their own answer, and no flight carries too many", () =>
  fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 5 }),
      fc.array(fc.constantFrom("send", "sendAs", "turn", "land", "refuse"), { maxLength: 40 }),
      async (mostTogether, deeds) => {
        const { flights, send } = airport(mostTogether);
        const answers: Promise<unknown>[] = [];
        let landed = 0;
        const end = async (refuse: boolean) => {
          const flight = flights[landed];
          if (flight === undefined) return;
          landed += 1;
          // Alone, a statement is fine again.
          if (refuse && flight.texts.length > 1) flight.fail(refused());
          else flight.land();
          await turn();
        };
        for (const deed of deeds) {
          if (deed === "send") answers.push(send(String(answers.length)));
          else if (deed === "sendAs") answers.push(send(String(answers.length), String(answers.length % 3)));
          else if (deed === "turn") await turn();
          else await end(deed === "refuse");
        }
        await turn();
        while (landed < flights.length) {
          await end(false);
          await turn();
        }
        assert.deepEqual(
          await Promise.all(answers),
          answers.map((_, at) => String(at)),
        );
        assert.ok(flights.every((flight) => flight.texts.length <= mostTogether));
      },
    ),
  ));
