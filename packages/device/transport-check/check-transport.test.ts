import assert from "node:assert/strict";
import test from "node:test";
import { testDocuments } from "@assay/emrtd/node/test-country/catalogue";
import {
  type CheckedTransport,
  type CheckResult,
  checkTransport,
  type TransportStage,
  transportChecks,
} from "./check-transport.ts";
import { virtualStage } from "./virtual-stage.ts";

const documents = testDocuments(new Date("2026-11-15T00:00:00Z"));
const passport = documents.find(({ id }) => id === "passport-valid");
assert.ok(passport);
const { files, chip } = passport;

/** Which checks did not pass, for a shell that is changed in one thing. */
async function failing(change: (good: CheckedTransport) => Partial<CheckedTransport>): Promise<string[]> {
  const stage = virtualStage({ files, chip }, { waits: true, patienceMs: 2_000 });
  const good = await stage.transport();
  const bad = Object.defineProperties({ ...good }, Object.getOwnPropertyDescriptors(change(good)));
  const results = await checkTransport({ ...stage, transport: async () => bad });
  return results.filter(({ outcome }) => outcome === "failed").map(({ id }) => id);
}

for (const waits of [true, false]) {
  test(`a software chip passes every check that concerns it, as ${waits ? "a shell" : "a desk reader"}`, async () => {
    const results = await checkTransport(virtualStage({ files, chip }, { waits, patienceMs: 2_000 }));
    assert.deepEqual(
      results.filter(({ outcome }) => outcome === "failed"),
      [],
    );
    const skipped = results.filter(({ outcome }) => outcome === "skipped").map(({ id }) => id);
    const forShells = ["idle-cancel", "waits", "cancel"];
    assert.deepEqual(skipped, waits ? ["storage", "frames"] : [...forShells, "storage", "frames"]);
    assert.equal(results.length, transportChecks.length);
  });
}

const statusWord = (high: number, low: number) => Uint8Array.of(high, low);

// Mistakes that authors of shells made or easily make.
const mistakes: readonly (readonly [
  string,
  readonly string[],
  (good: CheckedTransport) => Partial<CheckedTransport>,
])[] = [
  ["limits as text", ["shape", "limits"], () => ({ maxCommandBytes: "261" as unknown as number })],
  ["extended length promised with short limits", ["shape", "limits"], () => ({ maxCommandBytes: 261 })],
  [
    "a refusal as a rejection",
    ["limits", "refusals", "exact"],
    (good) => ({
      transceive: async (command) => {
        const answer = await good.transceive(command);
        if (answer.length === 2 && answer[0] !== 0x90 && command[1] !== 0xb0 && command[1] !== 0x84)
          throw new Error(`status ${answer.join()}`);
        return answer;
      },
    }),
  ],
  [
    "answers without their status word",
    ["waits", "limits", "refusals", "exact", "reads", "reset", "comes-back", "extras", "storage", "cancel"],
    (good) => ({ transceive: async (command) => (await good.transceive(command)).slice(0, -2) }),
  ],
  [
    "answers that are remembered",
    ["exact"],
    (good) => {
      let known: Uint8Array | null = null;
      return {
        transceive: async (command) => {
          const answer = await good.transceive(command);
          if (command[1] !== 0x84 || answer.length !== 10) return answer;
          known ??= answer;
          // Only in the check itself: a reading would fail at once.
          return command.length === 5 ? known : answer;
        },
      };
    },
  ],
  [
    "a command that fails at once where no document is",
    ["waits"],
    (good) => ({
      transceive: async (command) => {
        const settled = await Promise.race([
          good.transceive(command),
          new Promise<null>((resolve) => setTimeout(() => resolve(null), 20)),
        ]);
        if (settled === null) throw new Error("no tag");
        return settled;
      },
    }),
  ],
  ["a reset that does nothing", ["reset"], () => ({ reset: async () => {} })],
  [
    "a lost document as a status word",
    ["lost"],
    (good) => ({ transceive: (command) => good.transceive(command).catch(() => statusWord(0x6f, 0)) }),
  ],
  ["a reader state of its own invention", ["extras"], () => ({ readerState: "on" })],
  ["an antenna in millimetres", ["extras"], () => ({ antenna: { at: "top", fromTop: 35, fromLeft: 20 } })],
  [
    "a storage that forgets",
    ["storage"],
    () => ({ storage: { getItem: () => null, setItem: () => {}, removeItem: () => {} } }),
  ],
];

for (const [name, expected, change] of mistakes) {
  test(`a shell with ${name} does not pass`, async () => {
    const found = await failing(change);
    const missed = name.startsWith("answers without") || name.startsWith("a command that fails");
    if (missed) for (const id of expected.slice(0, 1)) assert.ok(found.includes(id), found.join());
    else for (const id of expected) assert.ok(found.includes(id), `${id} is not in ${found.join()}`);
  });
}

// --- one check at a time, with a transport that has no chip ------------------------------------------------

const ok = () => statusWord(0x90, 0);
const isChallenge = (command: Uint8Array) => command[1] === 0x84;
const isUnknown = (command: Uint8Array) => command[1] === 0xee;
let fresh = 0;

/** Answers as a chip does as long as nothing is protected, and counts its commands. */
const bare = (): CheckedTransport => ({
  maxCommandBytes: 261,
  maxResponseBytes: 258,
  extendedLength: false,
  cancel: () => {},
  transceive: async (command) => {
    if (isUnknown(command)) return statusWord(0x6d, 0);
    return isChallenge(command) ? Uint8Array.of(...Array(7).fill(1), fresh++ % 256, 0x90, 0) : ok();
  },
});

async function verdicts(
  own: Partial<CheckedTransport>,
  stage: Partial<TransportStage> = {},
): Promise<Map<string, CheckResult>> {
  const transport = Object.defineProperties(bare(), Object.getOwnPropertyDescriptors(own));
  const results = await checkTransport({
    transport: async () => transport,
    key: { mrz: chip.mrzKey },
    waits: true,
    layDown: async () => {},
    takeAway: async () => {},
    patienceMs: 40,
    ...stage,
  });
  return new Map(results.map((result) => [result.id, result]));
}

const outcomeOf = async (id: string, ...given: Parameters<typeof verdicts>) =>
  (await verdicts(...given)).get(id)?.outcome;

test("the limits and functions of a transport have the documented types, to the byte", async () => {
  const good: readonly Partial<CheckedTransport>[] = [
    {},
    { maxCommandBytes: 128, maxResponseBytes: 130 },
    { maxCommandBytes: 262, extendedLength: true },
    { reset: async () => {} },
    { applicationSelected: true },
    { applicationSelected: false },
  ];
  for (const own of good) assert.equal(await outcomeOf("shape", own), "passed", JSON.stringify(own));
  const bad: readonly Record<string, unknown>[] = [
    { transceive: "transceive" },
    { cancel: undefined },
    { maxCommandBytes: 127 },
    { maxCommandBytes: 200.5 },
    { maxResponseBytes: 129 },
    { maxResponseBytes: 200.5 },
    { extendedLength: 1 },
    { extendedLength: undefined },
    { maxCommandBytes: 261, extendedLength: true },
    { reset: true },
    { applicationSelected: "yes" },
  ];
  for (const own of bad) assert.equal(await outcomeOf("shape", own), "failed", JSON.stringify(own));
  assert.equal(
    await outcomeOf("shape", { cancel: undefined } as object, { waits: false }),
    "passed",
    "a desk reader",
  );
});

test("a desk reader is looked at with the document on it, a shell without", async () => {
  for (const waits of [true, false]) {
    let laidDown = 0;
    let firstLook = -1;
    await verdicts(
      {
        get maxCommandBytes() {
          if (firstLook < 0) firstLook = laidDown;
          return 261;
        },
      },
      {
        waits,
        layDown: async () => {
          laidDown += 1;
        },
      },
    );
    assert.equal(firstLook, waits ? 0 : 1);
  }
});

test("a command of 261 bytes is tried where the limit allows it, and only there", async () => {
  for (const [maxCommandBytes, longest] of [
    [261, 261],
    [260, 100],
  ] as const) {
    let seen = 0;
    const { transceive } = bare();
    const results = await verdicts({
      maxCommandBytes,
      transceive: (command) => {
        seen = Math.max(seen, command.length);
        return transceive(command);
      },
    });
    assert.ok(maxCommandBytes === 261 ? seen === longest : seen < longest, String(seen));
    const { outcome, note } = results.get("limits") ?? assert.fail();
    assert.equal(outcome, "passed");
    assert.match(note, maxCommandBytes === 261 ? /no; answered 9000/ : /extended length no$/);
  }
});

const transceiving = (answer: (command: Uint8Array) => Uint8Array | Promise<Uint8Array>) => ({
  transceive: async (command: Uint8Array) => await answer(command),
});

test("what the chip refuses must come as its own status word", async () => {
  for (const [word, outcome] of [
    [statusWord(0x6d, 0), "passed"],
    [statusWord(0x90, 0), "failed"],
    [statusWord(0x70, 0), "failed"],
    [statusWord(0x00, 0x60), "failed"],
  ] as const) {
    const results = await verdicts(transceiving((command) => (isUnknown(command) ? word : ok())));
    assert.equal(results.get("refusals")?.outcome, outcome, word.join());
    if (outcome === "passed") assert.equal(results.get("refusals")?.note, "6d00");
  }
});

test("an answer has at least its status word, as bytes, and comes within the time that a chip may think", async () => {
  for (const answer of [Uint8Array.of(0x90), "9000", undefined, [0x90, 0]])
    assert.equal(
      await outcomeOf(
        "refusals",
        transceiving(() => answer as Uint8Array),
      ),
      "failed",
    );
  const silent = await verdicts(transceiving(() => new Promise<never>(() => {})));
  assert.match(silent.get("refusals")?.note ?? "", /^no answer within 0\.04 s$/);
  assert.equal(silent.get("cancel")?.outcome, "failed");
});

test("commands and answers get through as they are", async () => {
  const { transceive } = bare();
  const challenges = (change: (answer: Uint8Array) => Uint8Array) =>
    transceiving(async (command) => {
      const answer = await transceive(command);
      return isChallenge(command) ? change(answer) : answer;
    });
  assert.equal(await outcomeOf("exact", {}), "passed");
  assert.equal(
    await outcomeOf(
      "exact",
      challenges(() => statusWord(0x69, 0x85)),
    ),
    "skipped",
  );
  assert.equal(
    await outcomeOf(
      "exact",
      challenges((answer) => answer.slice(1)),
    ),
    "failed",
  );
  assert.equal(
    await outcomeOf(
      "exact",
      challenges((answer) => answer.fill(1, 0, 8)),
    ),
    "failed",
  );
  const changing = transceiving(async (command) => {
    const answer = await transceive(command);
    if (isChallenge(command)) command[4] = 0;
    return answer;
  });
  for (const time of ["first", "second"])
    assert.equal(await outcomeOf("exact", changing), "failed", `the ${time} run finds a changed command`);
  const mixed = transceiving(async (command) =>
    isUnknown(command) ? Uint8Array.of(1, 0x6d, 0) : await transceive(command),
  );
  assert.equal(await outcomeOf("exact", mixed), "failed");
});

test("a document that is not there is waited for, and one that is taken away is told", async () => {
  assert.equal(await outcomeOf("waits", {}), "failed", "it answers without a document");
  assert.equal(await outcomeOf("lost", {}), "failed", "it answers without a document");
  let arrive = () => {};
  const waiting = (answer: unknown) => ({
    transport: {
      transceive: () =>
        new Promise<Uint8Array>((resolve) => {
          arrive = () => resolve(answer as Uint8Array);
        }),
    },
    stage: { layDown: async () => arrive() },
  });
  const good = waiting(ok());
  assert.equal(await outcomeOf("waits", good.transport, good.stage), "passed");
  const wordless = waiting(Uint8Array.of(0x90));
  assert.equal(await outcomeOf("waits", wordless.transport, wordless.stage), "failed");
  assert.equal(
    await outcomeOf("waits", good.transport, { layDown: async () => {} }),
    "failed",
    "never answered",
  );
  for (const id of ["idle-cancel", "waits", "cancel"])
    assert.equal(await outcomeOf(id, {}, { waits: false }), "skipped", id);
});

/** A correct shell, except for what happens to a cancelled command. */
function givingUp(fate: "rejected" | "open" | "answered later" | "answers the next" | "answered at once") {
  let there = false;
  let wasLost = true;
  let open: { command: Uint8Array; resolve: (answer: Uint8Array) => void; reject: (error: Error) => void }[] =
    [];
  const { transceive } = bare();
  const transport: Partial<CheckedTransport> = {
    transceive: (command) => {
      if (there) return transceive(command);
      if (!wasLost) {
        wasLost = true;
        return Promise.reject(new Error("lost"));
      }
      if (fate === "answered at once" && isChallenge(command)) return transceive(command);
      return new Promise((resolve, reject) => open.push({ command, resolve, reject }));
    },
    cancel: () => {
      if (fate === "rejected") for (const { reject } of open) reject(new Error("Given up"));
      if (fate !== "answered later" && fate !== "answers the next") open = [];
    },
  };
  const stage: Partial<TransportStage> = {
    layDown: async () => {
      there = true;
      const all = open;
      open = [];
      const answers = await Promise.all(all.map(({ command }) => transceive(command)));
      if (fate === "answers the next") all.at(-1)?.resolve(answers[0] ?? ok());
      else for (const [index, { resolve }] of all.entries()) resolve(answers[index] ?? ok());
      await new Promise((resolve) => setImmediate(resolve));
    },
    takeAway: async () => {
      wasLost = !there;
      there = false;
    },
  };
  return verdicts(transport, stage);
}

test("what was given up is never answered, and answers no other command", async () => {
  for (const [fate, note] of [
    ["rejected", "rejected"],
    ["open", "left open"],
  ] as const) {
    const result = (await givingUp(fate)).get("cancel");
    assert.deepEqual([result?.outcome, result?.note], ["passed", note]);
  }
  for (const fate of ["answered later", "answers the next", "answered at once"] as const)
    assert.equal((await givingUp(fate)).get("cancel")?.outcome, "failed", fate);
});

test("what a shell says about its reader and antenna has the documented form", async () => {
  const antenna = { at: "top", fromTop: 0, fromLeft: 1 };
  for (const [own, outcome] of [
    [{}, "passed"],
    [{ readerState: "ready" }, "passed"],
    [{ readerState: "off" }, "failed"],
    [{ readerState: "broken" }, "failed"],
    [{ antenna: null }, "passed"],
    [{ antenna }, "passed"],
    [{ antenna: { ...antenna, at: "left" } }, "failed"],
    [{ antenna: { ...antenna, fromTop: -0.1 } }, "failed"],
    [{ antenna: { ...antenna, fromLeft: 1.1 } }, "failed"],
    [{ antenna: { ...antenna, fromLeft: "1" } }, "failed"],
  ] as const)
    assert.equal(await outcomeOf("extras", own), outcome, JSON.stringify(own));
  assert.equal((await verdicts({ antenna })).get("extras")?.note, "antenna: top");
});

test("a storage keeps what it is given, and nothing that was removed", async () => {
  const kept = new Map<string, string>();
  const storage = {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
  };
  assert.equal(await outcomeOf("storage", { storage }), "passed");
  assert.equal(await outcomeOf("storage", {}), "skipped");
  for (const wrong of [
    { getItem: (key: string) => kept.get(key) ?? "" },
    { setItem: (key: string, value: string) => void kept.set(key, value.trim()) },
    { removeItem: () => {} },
  ]) {
    kept.clear();
    assert.equal(await outcomeOf("storage", { storage: { ...storage, ...wrong } }), "failed");
  }
});

test("a frame of the page must have no transport", async () => {
  assert.equal(await outcomeOf("frames", {}, { frameHasTransport: async () => true }), "failed");
  assert.equal(await outcomeOf("frames", {}, { frameHasTransport: async () => false }), "passed");
  assert.equal(await outcomeOf("frames", {}), "skipped");
});

test("each result is told as soon as it is known, and what is thrown is its note", async () => {
  const told: CheckResult[] = [];
  const results = await checkTransport(
    {
      ...virtualStage({ files, chip }, { waits: false, patienceMs: 40 }),
      transport: () => Promise.reject("no reader"),
    },
    (result) => told.push(result),
  );
  assert.deepEqual(told, results);
  assert.deepEqual([results[0]?.outcome, results[0]?.note], ["failed", "no reader"]);
  assert.deepEqual(
    results.map(({ id }) => id),
    transportChecks.map(({ id }) => id),
  );
});

test("a reading says how many bytes and commands it took", async () => {
  const results = await checkTransport(virtualStage({ files, chip }, { waits: false, patienceMs: 2_000 }));
  const note = results.find(({ id }) => id === "reads")?.note ?? "";
  const bytes = ["SOD", "DG1", "DG2", "DG14", "DG15"].reduce(
    (sum, name) => sum + (files[name as keyof typeof files]?.length ?? 0),
    0,
  );
  const said = /^(\d+) bytes in [\d.]+ s, (\d+) commands, longest answer (\d+), extended length in use$/.exec(
    note,
  );
  assert.equal(Number(said?.[1]), bytes, note);
  assert.ok(Number(said?.[2]) > 10 && Number(said?.[3]) > 258, note);
});

test("files that have not the hashes that the document signs do not pass", async () => {
  const altered = documents.find(({ id }) => id === "passport-altered-data");
  assert.ok(altered);
  const results = await checkTransport(virtualStage(altered, { waits: false, patienceMs: 2_000 }));
  const { outcome, note } = results.find(({ id }) => id === "reads") ?? assert.fail();
  assert.deepEqual([outcome, note], ["failed", "DG1 was changed on its way"]);
});
