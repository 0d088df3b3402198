import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { buildMrz, type MrzContent } from "@assay/emrtd/mrz/build-mrz";
import { type MrzKeyFields, mrzInformation } from "@assay/emrtd/mrz/mrz-key";
import fc from "fast-check";
import { decideZone } from "./decide-zone.ts";
import { addSight, nothingSeen } from "./film.ts";
import type { HowRead, Sight } from "./mrz-reader.ts";
import { alphabet, type ReadLine } from "./read-lines.ts";
import type { ZoneShape } from "./zone-shape.ts";

const now = new Date("2026-06-01T00:00:00Z");
const passport: MrzContent = {
  format: "TD3",
  documentCode: "P",
  issuingState: "UTO",
  nationality: "UTO",
  documentNumber: "L898902C3",
  dateOfBirth: "740812",
  dateOfExpiry: "321215",
  sex: "F",
  primaryName: "ERIKSSON",
  secondaryName: "ANNA MARIA",
};
const other: MrzContent = {
  ...passport,
  documentNumber: "X5047F21T",
  dateOfBirth: "910304",
  dateOfExpiry: "290704",
};
const quad = [
  { x: 0, y: 0 },
  { x: 9, y: 0 },
  { x: 9, y: 3 },
  { x: 0, y: 3 },
] as const;

type Doubts = Readonly<Record<number, Readonly<Record<string, number>>>>;
type Frame = Pick<Sight, "quad" | "reading" | "how">;

function frameOf(shape: ZoneShape, lines: readonly ReadLine[], how: HowRead = "seen"): Frame {
  return { quad, reading: decideZone(lines, shape, now), how };
}
const away: Frame = { quad: null, reading: { type: "unclear" }, how: "seen" };

function segmentOf(character: string, shares: Readonly<Record<string, number>> | undefined): Float32Array {
  return Float32Array.from(
    [...alphabet],
    (letter) => shares?.[letter] ?? (shares === undefined && letter === character ? 1 : 0),
  );
}

/** A passport's frame with other shares at some places of its second line. */
function seen(doubts: Doubts, content = passport, how: HowRead = "seen"): Frame {
  const [, second = ""] = buildMrz(content);
  return frameOf("TD3", [[], [...second].map((character, at) => segmentOf(character, doubts[at]))], how);
}

/** What is believed after these frames, and after how many. */
function filmed(frames: readonly Frame[]): { key: MrzKeyFields; frames: number } | null {
  let film = nothingSeen;
  for (const [index, frame] of frames.entries()) {
    const added = addSight(film, frame);
    if (added.accepted !== null) return { key: added.accepted, frames: index + 1 };
    film = added.film;
  }
  return null;
}
const key = { documentNumber: "L898902C3", dateOfBirth: "740812", dateOfExpiry: "321215" };

test("what no check digit tells apart is not made certain by many frames that doubt it alike", () => {
  const content = { ...passport, documentNumber: "S23456789" };
  const doubtful = seen({ 0: { S: 0.88, "8": 0.12 } }, content);
  assert.equal(filmed(Array.from({ length: 60 }, () => doubtful)), null);
  const zeros = seen(
    { 0: { "0": 0.75, O: 0.25 }, 1: { "0": 0.75, O: 0.25 } },
    { ...passport, documentNumber: "00P123456" },
  );
  assert.equal(filmed(Array.from({ length: 60 }, () => zeros)), null);
});

test("a character that all frames take for another is not believed, however often it is seen", () => {
  // The digit tells which it is, but a single frame is too unsure to count.
  const worn = seen({ 1: { B: 0.5, "8": 0.45, "3": 0.05 }, 7: { C: 0.54, G: 0.46 } });
  assert.equal(filmed(Array.from({ length: 60 }, () => worn)), null);
});

test("what is read at another place is believed when four frames are sure of it, and speaks against others at once", () => {
  const [clear, elsewhere] = [seen({}), seen({}, passport, "elsewhere")];
  assert.deepEqual(filmed([clear, clear]), { key, frames: 2 });
  assert.deepEqual(filmed(Array.from({ length: 9 }, () => elsewhere)), { key, frames: 4 });
  assert.equal(filmed([seen({}, other, "elsewhere"), clear, clear]), null);
});

test("another place is tried in every frame that reads as nothing, and the one that helped is kept until it fails three times in a row", () => {
  const unclear: Frame = { ...away, quad };
  const elsewhere = seen({}, passport, "elsewhere");
  const ways = (...frames: readonly Frame[]) => {
    let film = nothingSeen;
    return frames.map((frame) => {
      film = addSight(film, frame).film;
      return film.tip.way;
    });
  };
  assert.deepEqual(nothingSeen.tip, { way: 0, patience: 0, quad: null });
  assert.deepEqual(addSight(nothingSeen, unclear).film.tip.quad, quad);
  assert.deepEqual(ways(unclear, unclear, elsewhere), [1, 2, 2]);
  assert.deepEqual(ways(unclear, elsewhere, unclear, unclear, unclear, unclear), [1, 1, 1, 1, 2, 3]);
  assert.deepEqual(ways(elsewhere, unclear, unclear, elsewhere, unclear, unclear, unclear).at(-1), 1);
  // Without a zone no place was tried.
  assert.deepEqual(ways(unclear, away, away, unclear), [1, 1, 1, 2]);
});

test("a zone that is gone for ten frames is forgotten, one that is gone for nine is not", () => {
  const gone = (frames: number) => Array.from({ length: frames }, () => away);
  assert.equal(filmed([seen({}), ...gone(10), seen({})]), null);
  assert.deepEqual(filmed([seen({}), ...gone(9), seen({})]), { key, frames: 11 });
  let film = addSight(nothingSeen, seen({})).film;
  for (const frame of gone(10)) film = addSight(film, frame).film;
  assert.equal(film, nothingSeen);
});

test("nothing is kept of a film once its key is believed", () => {
  assert.equal(addSight(addSight(nothingSeen, seen({})).film, seen({})).film, nothingSeen);
});

test("frames of two documents in any order, each with doubts of its own, never give the key of a third", () => {
  const doubt = fc.record({
    isOther: fc.boolean(),
    at: fc.constantFrom(0, 1, 2, 7, 13, 14, 21, 22),
    share: fc.double({ min: 0, max: 0.9, noNaN: true }),
    letter: fc.constantFrom(...alphabet),
  });
  const keys = [passport, other].map(({ documentNumber, dateOfBirth, dateOfExpiry }) =>
    mrzInformation({ documentNumber, dateOfBirth, dateOfExpiry }),
  );
  fc.assert(
    fc.property(fc.array(doubt, { maxLength: 12 }), (frames) => {
      const believed = filmed(
        frames.map(({ isOther, at, share, letter }) => {
          const content = isOther ? other : passport;
          const printed = buildMrz(content)[1]?.charAt(at) ?? "";
          return seen(letter === printed ? {} : { [at]: { [letter]: share, [printed]: 1 - share } }, content);
        }),
      );
      assert.ok(believed === null || keys.includes(mrzInformation(believed.key)));
    }),
    { numRuns: 60 },
  );
});

test("shares that are no numbers do no harm", () => {
  for (const share of [Number.NaN, Number.POSITIVE_INFINITY, -1, 0]) {
    const lines = [[], Array.from({ length: 44 }, () => new Float32Array(37).fill(share))];
    assert.equal(filmed(Array.from({ length: 6 }, () => frameOf("TD3", lines))), null);
  }
});

test("the page and the evaluation believe films alike", () => {
  const vectors: {
    shape: ZoneShape;
    frames: ({ lines: string[]; doubts: [number, number, Record<string, number>][] } | null)[];
    believed: { key: string[]; frames: number } | null;
  }[] = JSON.parse(readFileSync(new URL("../training/film-vectors.json", import.meta.url), "utf8"));
  const counts = vectors.map(({ shape, frames, believed }) => {
    const result = filmed(
      frames.map((frame) => {
        if (frame === null) return away;
        const lines = frame.lines.map((line, index) =>
          [...line].map((character, at) =>
            segmentOf(character, frame.doubts.findLast(([row, place]) => row === index && place === at)?.[2]),
          ),
        );
        return frameOf(shape, lines);
      }),
    );
    const said =
      result === null
        ? null
        : [result.key.documentNumber.padEnd(9, "<"), result.key.dateOfBirth, result.key.dateOfExpiry];
    assert.deepEqual(said === null ? null : { key: said, frames: result?.frames }, believed);
    return believed?.frames ?? 0;
  });
  assert.ok(new Set(counts).size > 3, "films that end after different numbers of frames");
});
