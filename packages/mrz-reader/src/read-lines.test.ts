import assert from "node:assert/strict";
import test from "node:test";
import { alphabet, charactersOf } from "./read-lines.ts";

const classes = alphabet.length + 1;
const blank = alphabet.length;

/** The network's output at each place along a line, as logits: only named classes count. */
function linesOf(columns: readonly Readonly<Record<number, number>>[]) {
  const maps = new Float32Array(columns.length * 40).fill(-60);
  for (const [at, column] of columns.entries())
    for (const [index, value] of Object.entries(column)) maps[at * 40 + Number(index)] = value;
  return { maps, width: columns.length, stride: 40 };
}

/** Sums over all ways to read the columns as this many characters. */
function counted(columns: readonly Readonly<Record<number, number>>[], count: number) {
  const shares = Array.from({ length: count }, () => new Array<number>(classes).fill(0));
  let whole = 0;
  const walk = (at: number, likely: number, read: readonly number[], last: number) => {
    const column = columns[at];
    if (column === undefined) {
      if (read.length !== count) return;
      whole += likely;
      for (const [n, letter] of read.entries()) {
        const place = shares[n];
        if (place !== undefined) place[letter] = (place[letter] ?? 0) + likely;
      }
      return;
    }
    const total = Object.values(column).reduce((sum, value) => sum + Math.exp(value), 0);
    for (const [name, value] of Object.entries(column)) {
      const index = Number(name);
      const isNew = index !== blank && index !== last;
      walk(at + 1, (likely * Math.exp(value)) / total, isNew ? [...read, index] : read, index);
    }
  };
  walk(0, 1, [], blank);
  return shares.map((place) => place.map((share) => share / whole));
}

test("the shares of characters are those of all ways to read the line as so many of them", () => {
  for (let seed = 0; seed < 12; seed++) {
    const columns = Array.from({ length: 7 }, (_, at) =>
      Object.fromEntries(
        [0, 10, 24, blank].map((index) => [index, 2 * Math.sin(seed * 37.1 + at * 12.9 + index * 78.2)]),
      ),
    );
    const expected = counted(columns, 3);
    const read = charactersOf(linesOf(columns), 3);
    if (read.length === 0) continue;
    for (const [n, place] of expected.entries())
      for (const index of [0, 10, 24])
        assert.ok(
          Math.abs((read[n]?.[index] ?? Number.NaN) - (place[index] ?? 0)) < 1e-5,
          `${seed} ${n} ${index}`,
        );
  }
});

test("fillers that ran into each other are told apart by how many there must be, and a line of another length is none", () => {
  const filler = blank - 1;
  const sure = (index: number) => ({ [index]: 6, [blank]: 0 });
  const columns = [
    { [blank]: 6 },
    ...[1, 2, filler].flatMap((letter) => [sure(letter), { [blank]: 6 }]),
    // Two fillers without a clear gap between them would be read as one.
    { [filler]: 4, [blank]: 0 },
    { [filler]: 3, [blank]: 2 },
    { [filler]: 4, [blank]: 0 },
    { [blank]: 6 },
  ];
  const text = (count: number) =>
    charactersOf(linesOf(columns), count)
      .map((place) => alphabet[place.indexOf(Math.max(...place))])
      .join("");
  assert.equal(text(5), "12<<<");
  assert.equal(text(4), "12<<");
  assert.equal(text(9), "");
  assert.equal(text(1), "");
});
