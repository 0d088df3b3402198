import assert from "node:assert/strict";
import { connect, createServer, type Socket } from "node:net";
import { after, test } from "node:test";
import {
  CallClient,
  type CallClientOptions,
  CallLostError,
  callCounter,
  NobodyFreeError,
} from "./call-client.ts";
import { type CallHandler, CallServer, NoRoomError } from "./call-server.ts";
import { type Standing, standingCall, standingHandler } from "./call-standing.ts";
import { KeyRing } from "./key-ring.ts";
import { createLog } from "./log.ts";
import { Metrics } from "./metrics.ts";

const ringOf = (...ids: number[]) =>
  new KeyRing(ids.map((id) => ({ id: String(id), secret: Buffer.alloc(32, id) })));
const logLines: string[] = [];
const log = createLog({ level: "debug", write: (line) => logLines.push(line), now: () => new Date(0) });
const echo: CallHandler = { answer: async (question) => question };

async function serve(handlers: Record<string, CallHandler>, ring = ringOf(1)) {
  const metrics = new Metrics();
  const mostBytes = { call: 1_000_000, all: 2_000_000 };
  const server = new CallServer({ ring, metrics, host: "127.0.0.1", port: 0, handlers, mostBytes });
  const port = await server.listen();
  after(() => server.close());
  return { server, metrics, host: `127.0.0.1:${port}`, port };
}

function clientOf(hosts: readonly string[], options: Partial<CallClientOptions> = {}) {
  const metrics = new Metrics();
  const client = new CallClient({
    role: "chip",
    hosts,
    ring: ringOf(1),
    log,
    count: callCounter(metrics),
    resolveAddresses: async (name) => [name],
    ...options,
  });
  after(() => client.close());
  return { client, metrics, ask: (name: string, question: unknown) => client.call(name, question) };
}

/** Answers once it is told to. */
function held() {
  const taken = Promise.withResolvers<void>();
  const told = Promise.withResolvers<unknown>();
  const handler: CallHandler = {
    answer: () => {
      taken.resolve();
      return told.promise;
    },
  };
  return { handler, taken: taken.promise, tell: told.resolve };
}

/** A wire to a process that can be listened to and cut. */
async function wireTo(port: number) {
  const sent: Buffer[] = [];
  const ends = new Set<Socket>();
  const wire = createServer((near) => {
    const far = connect(port, "127.0.0.1");
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      ends.add(from);
      from.on("error", () => {});
      from.on("close", () => to.destroy());
      from.on("data", (part) => {
        if (from === near) sent.push(part);
        to.write(part);
      });
    }
  });
  await new Promise<void>((resolve) => wire.listen(0, "127.0.0.1", resolve));
  const cut = () => {
    for (const end of ends) end.destroy();
  };
  after(() => {
    cut();
    wire.close();
  });
  const address = wire.address();
  assert.ok(address !== null && typeof address === "object");
  return { host: `127.0.0.1:${address.port}`, sent, cut };
}

test("a call carries bytes and structures to another process and back", async () => {
  const { host } = await serve({ echo });
  const question = {
    text: "ü",
    bytes: Uint8Array.of(1, 2, 3),
    big: 2n ** 70n,
    nothing: null,
    list: [1, [2]],
  };
  const { answer } = await clientOf([host]).ask("echo", question);
  assert.deepEqual(answer, { ...question, bytes: (answer as typeof question).bytes });
  assert.deepEqual([...(answer as typeof question).bytes], [1, 2, 3]);
});

test("a process without a key of the ring gets no answer, and what answers without one is not told anything", async () => {
  let asked = 0;
  const handler: CallHandler = { answer: async () => ++asked };
  const { host, metrics } = await serve({ ask: handler });
  await assert.rejects(clientOf([host], { ring: ringOf(2) }).ask("ask", "secret"), NobodyFreeError);
  // The right name of the key and another key behind it.
  const other = new KeyRing([{ id: "1", secret: Buffer.alloc(32, 9) }]);
  await assert.rejects(clientOf([host], { ring: other }).ask("ask", "secret"), NobodyFreeError);
  const impostor = await serve({ ask: handler }, other);
  await assert.rejects(clientOf([impostor.host]).ask("ask", "secret"), NobodyFreeError);
  assert.equal(asked, 0);
  assert.match(metrics.render(), /assay_calls_served_total\{outcome="refused"\} 2/);
});

test("what was listened to on the wire tells nothing, and sent again it asks for nothing", async () => {
  let asked = 0;
  const { port } = await serve({ ask: { answer: async () => ++asked } });
  const wire = await wireTo(port);
  const portrait = Buffer.alloc(5_000, "the face of somebody ");
  await clientOf([wire.host]).ask("ask", { portrait });
  assert.equal(asked, 1);
  const recorded = Buffer.concat(wire.sent);
  assert.ok(recorded.length > portrait.length);
  assert.ok(!recorded.includes("the face of") && !recorded.includes("/ask"));
  const replay = connect(port, "127.0.0.1");
  const closed = new Promise((resolve) => replay.on("close", resolve));
  replay.on("error", () => {});
  replay.resume();
  replay.write(recorded);
  await closed;
  assert.equal(asked, 1);
});

test("a process without room is passed over, and where none has room the caller is told so", async () => {
  const full: CallHandler = { hasRoom: () => false, answer: async () => assert.fail("it was read") };
  const late: CallHandler = {
    answer: async () => {
      throw new NoRoomError();
    },
  };
  const [first, second, third] = [
    await serve({ ask: full }),
    await serve({ ask: late }),
    await serve({ ask: echo }),
  ];
  const { ask } = clientOf([first.host, second.host, third.host]);
  for (let time = 0; time < 6; time++) assert.equal((await ask("ask", time)).answer, time);
  await assert.rejects(clientOf([first.host, second.host]).ask("ask", 1), NobodyFreeError);
});

test("a call that is too large is not read, and one that a process does not know goes to another", async () => {
  const [older, newer] = [await serve({}), await serve({ echo })];
  const { ask } = clientOf([older.host, newer.host]);
  for (let time = 0; time < 4; time++) assert.equal((await ask("echo", time)).answer, time);
  await assert.rejects(ask("echo", Buffer.alloc(1_000_001)), /failed/);
});

test("calls go to the process with fewer of them", async () => {
  const slow = held();
  const [first, second] = [await serve({ ask: slow.handler }), await serve({ ask: slow.handler })];
  const { client, metrics } = clientOf([first.host, second.host]);
  const calls = [1, 2, 3, 4].map((number) => client.call("ask", number));
  const openAt = ({ metrics }: { metrics: Metrics }) => /assay_calls_open (\d)/.exec(metrics.render())?.[1];
  while (openAt(first) !== "2" || openAt(second) !== "2")
    await new Promise((resolve) => setTimeout(resolve, 5));
  slow.tell("done");
  assert.deepEqual(
    (await Promise.all(calls)).map(({ answer }) => answer),
    ["done", "done", "done", "done"],
  );
  assert.match(metrics.render(), /assay_calls_total\{role="chip",outcome="answered"\} 4/);
});

test("a process that is not there is passed over, and one that dies with a call is told apart from it", async () => {
  const gone = await serve({ echo });
  await gone.server.close();
  const alive = await serve({ echo });
  const { ask } = clientOf([gone.host, alive.host]);
  for (let time = 0; time < 4; time++) assert.equal((await ask("echo", time)).answer, time);
  const before = logLines.length;
  await assert.rejects(clientOf([gone.host]).ask("echo", 1), NobodyFreeError);
  assert.match(logLines.slice(before).join("\n"), /no process of another role can be reached/);

  const slow = held();
  const dying = await serve({ ask: slow.handler });
  const wire = await wireTo(dying.port);
  const call = clientOf([wire.host]).ask("ask", 1);
  await slow.taken;
  wire.cut();
  await assert.rejects(call, CallLostError);
  slow.tell(null);
});

test("a machine that vanishes without a word is noticed, however long its answer may take", async () => {
  const silent = createServer(() => {});
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  after(() => silent.close());
  const address = silent.address();
  assert.ok(address !== null && typeof address === "object");
  const alive = await serve({ echo });
  const hosts = [`127.0.0.1:${address.port}`, alive.host];
  // Time enough for the one that is there, however busy the machine is.
  const { ask } = clientOf(hosts, { timing: { takeMs: 2_000, restMs: 60_000 } });
  for (let time = 0; time < 3; time++) assert.equal((await ask("echo", time)).answer, time);
  const slow = held();
  const vanishing = await serve({ ask: slow.handler });
  const lost = clientOf([vanishing.host], { timing: { silenceMs: 50 } }).ask("ask", 1);
  await assert.rejects(lost, CallLostError);
  slow.tell(null);
});

test("a process that leaves finishes what it has taken and sends everybody else on", async () => {
  const slow = held();
  const leaving = await serve({ ask: slow.handler });
  const staying = await serve({ ask: echo });
  const { client, ask } = clientOf([leaving.host]);
  const taken = client.call("ask", 1);
  await slow.taken;
  const left = leaving.server.leave();
  await assert.rejects(ask("ask", 2), NobodyFreeError);
  assert.equal((await clientOf([leaving.host, staying.host]).ask("ask", 3)).answer, 3);
  slow.tell("finished");
  assert.equal((await taken).answer, "finished");
  await left;
});

test("processes that do not have the newest key yet, or no longer the oldest, are called with one that both have", async () => {
  const older = await serve({ echo }, ringOf(1));
  const newer = await serve({ echo }, ringOf(2));
  const { ask } = clientOf([older.host], { ring: ringOf(2, 1) });
  assert.equal((await ask("echo", 1)).answer, 1);
  assert.equal((await ask("echo", 2)).answer, 2);
  assert.equal((await clientOf([newer.host], { ring: ringOf(1, 2) }).ask("echo", 3)).answer, 3);
});

test("each address of a name is a process, and one that comes or goes is noticed", async () => {
  const [first, second] = [await serve({ echo }), await serve({ ask: echo })];
  assert.notEqual(first.port, second.port);
  let addresses: string[] | null = [];
  const { ask } = clientOf([`faces:${first.port}`], {
    resolveAddresses: async (name) => {
      assert.equal(name, "faces");
      if (addresses === null) throw new Error("no resolver answers");
      return addresses;
    },
    timing: { namesMs: 0 },
  });
  await assert.rejects(ask("echo", 1), NobodyFreeError);
  addresses = ["127.0.0.1", "127.0.0.2"];
  assert.equal((await ask("echo", 2)).answer, 2);
  // A resolver that is away for a moment takes nobody away.
  addresses = null;
  assert.equal((await ask("echo", 3)).answer, 3);
});

test("whoever may call sees how each process stands, also one that is full, about to end, older or gone, and counts no call", async () => {
  const standing: Standing = {
    version: "1.2.3",
    ageSeconds: 60,
    places: 2,
    working: 1,
    waiting: 0,
    isBusy: false,
    isLeaving: false,
  };
  const telling = (more: Partial<Standing>, ring = ringOf(1)) =>
    serve(
      {
        echo: { ...echo, hasRoom: () => false },
        [standingCall]: standingHandler(() => ({ ...standing, ...more })),
      },
      ring,
    );
  const free = await telling({});
  const busy = await telling({ isBusy: true, waiting: 7 });
  const leaving = await telling({ isLeaving: true, isBusy: true });
  const older = await serve({ echo });
  const other = await telling({}, ringOf(2));
  const working = held();
  const full = await serve({ hold: working.handler, [standingCall]: standingHandler(() => standing) });
  const atWork = clientOf([full.host]).ask("hold", null);
  await working.taken;
  void leaving.server.leave();
  void full.server.leave();
  const hosts = [free, busy, leaving, older, other, full].map(({ host }) => host);
  const { client, metrics } = clientOf([...hosts, "nowhere:1"], {
    ring: ringOf(3, 1),
    resolveAddresses: async (name) => (name === "nowhere" ? [] : [name]),
  });
  const seen = await client.survey();
  assert.deepEqual(
    seen.map(({ state, standing }) => [state, standing?.version ?? null, standing?.waiting ?? null]),
    [
      ["free", "1.2.3", 0],
      ["busy", "1.2.3", 7],
      ["leaving", "1.2.3", 0],
      ["free", null, null],
      ["unreachable", null, null],
      ["free", "1.2.3", 0],
      ["unreachable", null, null],
    ],
  );
  assert.deepEqual(
    seen.map(({ address }) => address),
    [...hosts, null],
  );
  assert.doesNotMatch(metrics.render() + free.metrics.render(), /outcome="answered"/);
  working.tell(null);
  await atWork;
});
