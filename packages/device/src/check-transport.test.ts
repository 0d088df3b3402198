import assert from "node:assert/strict";
import test from "node:test";
import { testDocuments } from "@assay/emrtd/node/test-country/catalogue";
import { type CheckedTransport, checkTransport, transportChecks } from "./check-transport.ts";
import { virtualStage } from "./node/virtual-stage.ts";

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

// Each of these was made, or is easily made, by somebody who writes a shell.
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
