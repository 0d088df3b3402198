import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { buildMrz, type MrzContent } from "@assay/emrtd/mrz/build-mrz";
import { checkDigit } from "@assay/emrtd/mrz/check-digit";
import fc from "fast-check";
import { addReading, nothingRead } from "./agreement.ts";
import { decideCovered, decideZone } from "./decide-zone.ts";
import { alphabet, type ReadLine, type Segment, segmentsOf } from "./read-lines.ts";

const now = new Date("2026-06-01T00:00:00Z");

/** A character that was seen, with what else it may be. */
function seen(character: string, others: Readonly<Record<string, number>> = {}): Segment {
  const segment = new Float32Array(alphabet.length);
  for (const [other, share] of Object.entries(others)) segment[alphabet.indexOf(other)] = share;
  const rest = Object.values(others).reduce((sum, share) => sum + share, 0);
  segment[alphabet.indexOf(character)] = 1 - rest;
  return segment;
}
const seenLine = (text: string): Segment[] => [...text].map((character) => seen(character));

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
const key = { documentNumber: "L898902C3", dateOfBirth: "740812", dateOfExpiry: "321215" };
const zoneOf = (content: MrzContent): ReadLine[] => buildMrz(content).map(seenLine);
const changed = (lines: readonly ReadLine[], line: number, position: number, segment: Segment) =>
  lines.map((row, index) => (index === line ? row.with(position, segment) : row));

test("a zone that was read well gives its key, in every format", () => {
  const contents: MrzContent[] = [
    passport,
    { ...passport, format: "TD2", documentCode: "ID" },
    { ...passport, format: "TD1", documentCode: "ID" },
    { ...passport, format: "TD1", documentCode: "ID", documentNumber: "AB123456789012" },
  ];
  for (const content of contents) {
    const reading = decideZone(zoneOf(content), content.format, now);
    assert.deepEqual(reading, {
      type: "key",
      fields: { ...key, documentNumber: content.documentNumber },
      changedCharacters: 0,
      confidence: 1,
      blindMargin: 9,
      pairMargin: 18,
      exchangeMargin: 18,
    });
  }
});

test("the key does not need the line with the name", () => {
  const [, second = []] = zoneOf(passport);
  assert.equal(decideZone([seenLine("P<U"), second], "TD3", now).type, "key");
});

test("what may stand at a position decides between lookalikes", () => {
  const lines = changed(zoneOf(passport), 1, 13, seen("Z", { "7": 0.2 }));
  const reading = decideZone(lines, "TD3", now);
  assert.ok(
    reading.type === "key" && reading.fields.dateOfBirth === "740812" && reading.changedCharacters === 0,
  );
});

test("check digits settle a doubt that the reader had, and the reading counts as changed", () => {
  const lines = changed(zoneOf(passport), 1, 1, seen("B", { "8": 0.3 }));
  const reading = decideZone(lines, "TD3", now);
  assert.ok(reading.type === "key" && reading.changedCharacters === 1);
  assert.deepEqual(reading.fields, key);
});

test("what the reader never thought of is not invented to please a check digit", () => {
  assert.equal(decideZone(changed(zoneOf(passport), 1, 1, seen("B")), "TD3", now).type, "unclear");
});

test("a character that is likelier than each other one, but not than all of them together, makes the reading unclear", () => {
  const lines = changed(zoneOf(passport), 1, 1, seen("8", { B: 0.3, "3": 0.31, "9": 0.02 }));
  assert.equal(decideZone(lines, "TD3", now).type, "unclear");
});

test("a filler inside of a number is not believed: it is more often a K that was not seen well", () => {
  assert.equal(decideZone(zoneOf({ ...passport, documentNumber: "L8<8902C3" }), "TD3", now).type, "unclear");
  assert.equal(decideZone(zoneOf({ ...passport, documentNumber: "L898902" }), "TD3", now).type, "key");
});

test("fillers for the expiry are not believed: they are more often optional data beside their place", () => {
  const [first = "", second = ""] = buildMrz(passport);
  const line = `${second.slice(0, 21)}<<<<<<0${second.slice(28, 43)}`;
  const lines = [first, `${line}${checkDigit(line.slice(0, 10), line.slice(13, 20), line.slice(21))}`];
  assert.equal(decideZone(lines.map(seenLine), "TD3", now).type, "unclear");
});

test("two readings that are about as likely are none", () => {
  const number = "L898902C3";
  // Both 4 and E at the fourth place (values 4 and 14) agree with the digit, so neither may be chosen when a third was read.
  const lines = zoneOf({ ...passport, documentNumber: number.replace("902", "402") });
  const doubtful = changed(lines, 1, 4, seen("9", { "4": 0.2, E: 0.19 }));
  assert.equal(decideZone(doubtful, "TD3", now).type, "unclear");
});

/** Whether these frames, one after the other, are believed at the end. */
const accepted = (...said: ReturnType<typeof decideZone>[]) =>
  said.reduce<{ agreement: typeof nothingRead; accepted: unknown }>(
    ({ agreement }, reading) => addReading(agreement, reading),
    { agreement: nothingRead, accepted: null },
  ).accepted;

test("a frame that is in doubt between two that no check digit tells apart does not count, however often it comes", () => {
  const content = { ...passport, documentNumber: "S23456789" };
  const doubt = (share: number) =>
    decideZone(changed(zoneOf(content), 1, 0, seen("S", { "8": share })), "TD3", now);
  const [large, small, none] = [doubt(0.0075), doubt(0.006), doubt(0.0005)];
  assert.ok(large.type === "key" && Math.abs(large.blindMargin - Math.log(0.9925 / 0.0075)) < 1e-4);
  assert.equal(accepted(large, large, large, large, large), null);
  assert.equal(accepted(small, small, small, small), null);
  assert.notEqual(accepted(small, small, small, small, small), null);
  assert.notEqual(accepted(none, none), null);
});

test("two zeros that may be letters O, whose errors cancel in the check digit, must both be sure", () => {
  const zeros = (share: number) => {
    const first = changed(
      zoneOf({ ...passport, documentNumber: "00P123456" }),
      1,
      0,
      seen("0", { O: share }),
    );
    return decideZone(changed(first, 1, 1, seen("0", { O: share })), "TD3", now);
  };
  const [unsure, sure] = [zeros(0.25), zeros(0.0005)];
  // As much as the dearer of both, and by the nat more that an O is rarer in numbers.
  assert.ok(unsure.type === "key" && Math.abs(unsure.exchangeMargin - (Math.log(0.75 / 0.25) + 1)) < 1e-4);
  assert.equal(accepted(unsure, unsure, unsure, unsure, unsure), null);
  assert.notEqual(accepted(sure, sure), null);
});

/** A reading of these lines with the doubts of some places. */
function doubted(content: MrzContent, doubts: readonly (readonly [number, number, Segment])[]) {
  const lines = doubts.reduce<readonly ReadLine[]>(
    (rows, [line, position, segment]) => changed(rows, line, position, segment),
    zoneOf(content),
  );
  const reading = decideZone(lines, content.format, now);
  assert.ok(reading.type === "key");
  return reading;
}
const near = (value: number, expected: number) => Math.abs(value - expected) < 1e-4;

test("three zeros whose errors cancel cost no more than the dearest of them", () => {
  const content = { ...passport, documentNumber: "Y30E10V0R" };
  const zeros = (shares: readonly number[]) =>
    doubted(
      content,
      [2, 5, 7].map((position, index) => [1, position, seen("0", { O: shares[index] ?? 0 })] as const),
    ).exchangeMargin;
  assert.ok(near(zeros([0.2, 0.1, 0.2]), Math.log(9) + 1));
  // Two of them are noticed, so the third must be mistaken too.
  assert.equal(zeros([0.2, 0.2, 0]), 9);
});

test("an O is rarer in a number than a zero, and nowhere else", () => {
  const zero = doubted(passport, [[1, 5, seen("O", { "0": 0.4 })]]);
  assert.deepEqual([zero.fields, zero.changedCharacters], [key, 0]);
  const letter = { ...passport, documentNumber: "L8989O2C3" };
  const o = doubted(letter, [[1, 5, seen("O", { "0": 0.2 })]]);
  assert.deepEqual([o.fields.documentNumber, o.changedCharacters], ["L8989O2C3", 0]);
  assert.ok(o.confidence < 0.7);
  const nation = decideZone(changed(zoneOf(passport), 1, 12, seen("O", { "0": 0.4 })), "TD3", now);
  assert.ok(nation.type === "key");
});

/** The margin of a number whose characters at these two places, whose errors cancel, may be zeros or letters O. */
const exchanged = (documentNumber: string, first: number) =>
  doubted(
    { ...passport, documentNumber },
    [first, first + 1].map((at) => {
      const read = documentNumber.charAt(at);
      return [1, at, seen(read, { [read === "0" ? "O" : "0"]: 0.01 })] as const;
    }),
  ).exchangeMargin;
const clearly = Math.log(99);

test("behind a digit of a number that ends in three and more of them an O is rarer still", () => {
  assert.ok(near(exchanged("AB1001234", 3), clearly + 3));
  assert.ok(near(exchanged("12300", 3), clearly + 3));
  // Before the first digit, before a letter, and with two digits: as anywhere.
  assert.ok(near(exchanged("001234567", 0), clearly + 1));
  assert.ok(near(exchanged("AB1001X34", 3), clearly + 1));
  assert.ok(near(exchanged("ABX001200", 3), clearly + 1));
});

test("in a number of at least three letters without vowels, and without letters that look like digits, an O is rarer still", () => {
  assert.ok(near(exchanged("00PVR1X", 0), clearly + 3));
  assert.ok(near(exchanged("OOPVR1X", 0), clearly - 4.25));
  // With fewer letters, a vowel, or a letter that looks like a digit: as anywhere.
  assert.ok(near(exchanged("00P1R1211", 0), clearly + 1));
  assert.ok(near(exchanged("00PVR1E", 0), clearly + 1));
  assert.ok(near(exchanged("00PVR1S", 0), clearly + 1));
});

test("letters O that hide each other from the digits look alike together, but each is rare for itself", () => {
  assert.ok(near(exchanged("OOP123456", 0), clearly - 2.25));
  assert.ok(near(exchanged("00P123456", 0), clearly + 1));
});

test("where a digit says that a sure O is a zero, another error beside it is as good as ruled out", () => {
  const settled = doubted(passport, [[1, 5, seen("O", { "0": 0.004 })]]);
  assert.equal(settled.changedCharacters, 1);
  assert.ok(near(settled.pairMargin, 7));
});

test("a digit of a date and its check digit whose errors cancel must both be sure, unless the composite digit notices them", () => {
  for (const position of [18, 26]) {
    const [, second = ""] = buildMrz(passport);
    const other = (at: number) => String((Number(second[at]) + 5) % 10);
    const both = doubted(
      passport,
      [position, position + 1].map((at) => [1, at, seen(second[at] ?? "", { [other(at)]: 0.25 })] as const),
    );
    assert.ok(near(both.pairMargin, 2 * Math.log(3)));
    assert.equal(accepted(both, both, both, both, both), null);
  }
  const noticed = doubted(passport, [
    [1, 13, seen("7", { "8": 0.25 })],
    [1, 14, seen("4", { "5": 0.25 })],
  ]);
  assert.ok(noticed.pairMargin > 9);
});

test("what runs on of a long number is as much in doubt as its beginning", () => {
  const long: MrzContent = { ...passport, format: "TD2", documentCode: "ID", documentNumber: "RLVJQPDCN009" };
  const zeros = (share: number) =>
    doubted(long, [
      [1, 28, seen("0", { O: share })],
      [1, 29, seen("0", { O: share })],
    ]);
  const unsure = zeros(0.1);
  assert.ok(near(unsure.exchangeMargin, Math.log(9)) && near(unsure.confidence, 0.9));
  assert.equal(accepted(unsure, unsure, unsure, unsure, unsure), null);
  assert.notEqual(accepted(zeros(0), zeros(0)), null);
});

test("what a digit had to choose although it is neither alike nor likely counts for nothing", () => {
  const content = { ...passport, documentNumber: "8505977" };
  const settled = (share: number) => doubted(content, [[1, 0, seen("0", { "8": share })]]);
  const [unlikely, likely] = [settled(0.08), settled(0.3)];
  assert.equal(unlikely.fields.documentNumber, "8505977");
  assert.equal(accepted(...Array.from({ length: 8 }, () => unlikely)), null);
  assert.notEqual(accepted(...Array.from({ length: 5 }, () => likely)), null);
});

test("a composite digit that was made to agree proves nothing where the document may be a visa", () => {
  const content: MrzContent = { ...passport, optionalData: "0123" };
  const settled = (first: Segment) =>
    decideZone(changed(changed(zoneOf(content), 1, 28, seen("O")), 0, 0, first), "TD3", now).type;
  assert.equal(settled(seen("P")), "key");
  assert.equal(settled(seen("X", { V: 0.4 })), "unclear");
});

test("a key that was read at another place than where its zone was found counts where it is sure, as one of four", () => {
  const elsewhere = (reading: ReturnType<typeof decideZone>, frames: number) =>
    Array.from({ length: frames }).reduce<ReturnType<typeof addReading>>(
      ({ agreement }) => addReading(agreement, reading, "elsewhere"),
      { agreement: nothingRead, accepted: null },
    ).accepted;
  const clear = decideZone(zoneOf(passport), "TD3", now);
  const fair = doubted(passport, [[1, 1, seen("8", { "3": 0.35 })]]);
  assert.notEqual(accepted(fair, fair, fair, fair, fair), null);
  assert.equal(elsewhere(clear, 3), null);
  assert.deepEqual(elsewhere(clear, 4), key);
  assert.equal(elsewhere(fair, 9), null);
});

test("a zone that is read beside its place is none, although its digits agree: other characters stand where letters must", () => {
  // A passport whose number a finger hides: what follows, from its eighth character on, is taken for the second line of a card.
  const line = `89BTN78102GGM3302141<340101${checkDigit("340101")}`.padEnd(35, "<");
  const composite = checkDigit(line.slice(0, 10), line.slice(13, 20), line.slice(21));
  const beside = (shares: readonly [string, number][]) => {
    let lines: readonly ReadLine[] = [seenLine("P<BTN"), seenLine(`${line}${composite}`)];
    for (const [index, [other, share]] of shares.entries())
      lines = changed(lines, 1, 10 + index, seen(line.charAt(10 + index), { [other]: share }));
    return decideZone(lines, "TD2", now).type;
  };
  assert.equal(beside([]), "key");
  assert.equal(beside([["6", 0.95]]), "key");
  assert.equal(
    beside([
      ["6", 0.95],
      ["6", 0.8],
    ]),
    "key",
  );
  assert.equal(
    beside([
      ["6", 0.95],
      ["6", 0.95],
    ]),
    "unclear",
  );
});

/** The lines of a document with fillers from one position of its second line to another. */
function coveredZone(content: MrzContent, from: number, to: number): readonly ReadLine[] {
  let lines: readonly ReadLine[] = zoneOf(content);
  for (let position = from; position < to; position++) lines = changed(lines, 1, position, seen("<"));
  return lines;
}

test("what a finger covers of optional data is supposed to be fillers, and keeps no key out where all digits agree with that", () => {
  const covered = (content: MrzContent, from = 30) =>
    decideCovered(coveredZone(content, from, 36), content.format, now);
  const empty = covered(passport);
  assert.ok(empty.type === "key" && empty.changedCharacters === 0);
  assert.deepEqual(empty.fields, key);
  // Characters that are not fillers: their digit or the composite one disagrees.
  assert.equal(covered({ ...passport, optionalData: "12345678" }).type, "unclear");
  assert.equal(
    covered({ ...passport, format: "TD2", documentCode: "ID", optionalData: "12345" }).type,
    "unclear",
  );
});

test("a zone of which something is covered is believed as it was seen or not at all", () => {
  const doubtful = changed(coveredZone(passport, 30, 36), 1, 1, seen("B", { "8": 0.3 }));
  assert.equal(decideZone(doubtful, "TD3", now).type, "key");
  assert.equal(decideCovered(doubtful, "TD3", now).type, "unclear");
  const unread = changed(coveredZone(passport, 30, 36), 0, 0, seen("X", { V: 0.4 }));
  assert.equal(decideZone(unread, "TD3", now).type, "key");
  assert.equal(decideCovered(unread, "TD3", now).type, "unclear");
  // Its end may be what is covered.
  const long = { ...passport, format: "TD2", documentCode: "ID", documentNumber: "RLVJQPDCN009" } as const;
  assert.equal(decideZone(zoneOf(long), "TD2", now).type, "key");
  assert.equal(decideCovered(zoneOf(long), "TD2", now).type, "unclear");
});

test("where something is covered, the composite digit does not tell two errors that hide from the digit of their field", () => {
  let doubts: readonly ReadLine[] = zoneOf(passport);
  doubts = changed(doubts, 1, 13, seen("7", { "8": 0.25 }));
  doubts = changed(doubts, 1, 14, seen("4", { "5": 0.25 }));
  const [whole, covered] = [decideZone(doubts, "TD3", now), decideCovered(doubts, "TD3", now)];
  assert.ok(whole.type === "key" && whole.pairMargin > 9);
  assert.ok(covered.type === "key" && near(covered.pairMargin, 2 * Math.log(3)));
});

test("a key with something covered counts as one of five frames, however sure it is", () => {
  const reading = decideCovered(coveredZone(passport, 30, 36), "TD3", now);
  const after = (frames: number) =>
    Array.from({ length: frames }).reduce<ReturnType<typeof addReading>>(
      ({ agreement }) => addReading(agreement, reading, "covered"),
      { agreement: nothingRead, accepted: null },
    ).accepted;
  assert.equal(after(4), null);
  assert.deepEqual(after(5), key);
});

test("a key is believed when two sure frames say it as it was seen, one and two others, or five say it, and by two more than say anything else", () => {
  const clear = decideZone(zoneOf(passport), "TD3", now);
  const repaired = decideZone(changed(zoneOf(passport), 1, 1, seen("B", { "8": 0.3 })), "TD3", now);
  const other = decideZone(zoneOf({ ...passport, documentNumber: "L898902C4" }), "TD3", now);
  const faint = decideZone(changed(zoneOf(passport), 1, 1, seen("8", { "3": 0.27, "9": 0.18 })), "TD3", now);
  assert.ok(faint.type === "key" && faint.confidence < 0.56);
  assert.equal(accepted(clear), null);
  assert.equal(accepted(clear, other), null);
  assert.equal(accepted(repaired, repaired, repaired, repaired), null);
  assert.equal(accepted(repaired, clear), null);
  assert.equal(accepted(faint, faint, faint, faint, faint), null);
  assert.deepEqual(accepted(clear, clear), key);
  assert.deepEqual(accepted(repaired, repaired, repaired, repaired, repaired), key);
  assert.deepEqual(accepted(clear, { type: "unclear" }, faint, clear), key);
  // One that is sure is worth three of the others.
  assert.equal(accepted(clear, repaired), null);
  assert.deepEqual(accepted(repaired, repaired, clear), key);
  // One frame that says something else is outvoted by three, two are not.
  assert.equal(accepted(clear, other, clear), null);
  assert.deepEqual(accepted(clear, other, clear, clear), key);
  assert.equal(accepted(other, clear, other, clear, clear), null);
});

test("of the frames that say a key a third must count, however many there are", () => {
  const counts = decideZone(changed(zoneOf(passport), 1, 1, seen("8", { "3": 0.35 })), "TD3", now);
  const says = decideZone(changed(zoneOf(passport), 1, 1, seen("8", { "3": 0.27, "9": 0.18 })), "TD3", now);
  const eleven = Array.from({ length: 11 }, () => says);
  const five = Array.from({ length: 5 }, () => counts);
  assert.equal(accepted(...eleven, ...five), null);
  assert.deepEqual(accepted(...eleven, ...five, counts), key);
  // Two that are sure need no others.
  const clear = decideZone(zoneOf(passport), "TD3", now);
  assert.deepEqual(accepted(...eleven, clear, clear), key);
});

test("a visa is told apart, and never gives a key", () => {
  const [first = "", second = ""] = buildMrz(passport);
  assert.deepEqual(decideZone([seenLine(`V${first.slice(1)}`), seenLine(second)], "TD3", now), {
    type: "visa",
  });
});

test("lines of the wrong number or length are unclear", () => {
  const lines = zoneOf(passport);
  const [first = [], second = []] = lines;
  for (const bent of [
    [],
    [first],
    [first, second.slice(1)],
    [first, [...second, seen("<")]],
    [...lines, second],
  ])
    assert.equal(decideZone(bent, "TD3", now).type, "unclear");
});

test("any distribution over characters gives a reading or none, and never one whose digits disagree", () => {
  const line = (length: number) =>
    fc.array(fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 37, maxLength: 37 }), {
      minLength: length,
      maxLength: length,
    });
  fc.assert(
    fc.property(line(44), line(44), (...lines) => {
      const segments = lines.map((row) => row.map((shares) => Float32Array.from(shares)));
      const reading = decideZone(segments, "TD3", now);
      if (reading.type === "key") assert.match(reading.fields.dateOfBirth, /^[0-9<]{6}$/);
    }),
    { numRuns: 20 },
  );
  for (const share of [Number.NaN, Number.POSITIVE_INFINITY, -1])
    assert.doesNotThrow(() =>
      decideZone(
        zoneOf(passport).map((row) => row.map((s) => s.map(() => share))),
        "TD3",
        now,
      ),
    );
});

test("neighbouring columns that say the same are one character, and a blank between them makes two", () => {
  const columns = [37, 10, 10, 37, 10, 11, 11, 37];
  const maps = new Float32Array(columns.length * 40);
  for (const [at, best] of columns.entries()) maps[at * 40 + best] = 8;
  const segments = segmentsOf({ maps, width: columns.length, stride: 40 });
  assert.equal(segments.map((s) => alphabet[s.indexOf(Math.max(...s))]).join(""), "AAB");
  for (const segment of segments)
    assert.ok(Math.abs(segment.reduce((sum, share) => sum + share, 0) - 1) < 1e-5);
});

test("the page and the evaluation decide alike", () => {
  const vectors: {
    shape: "TD1" | "TD2" | "TD3";
    covered?: true;
    lines: Record<string, number>[][];
    says:
      | null
      | "visa"
      | {
          key: string[];
          changed: boolean;
          confidence: number;
          margin: number;
          pair: number;
          exchange: number;
        };
  }[] = JSON.parse(readFileSync(new URL("../training/decode-vectors.json", import.meta.url), "utf8"));
  assert.ok(vectors.length > 20);
  for (const { shape, covered, lines, says } of vectors) {
    const read = lines.map((row) =>
      row.map((shares) => Float32Array.from([...alphabet], (character) => shares[character] ?? 0)),
    );
    const reading = (covered ? decideCovered : decideZone)(read, shape, now);
    if (says === null) assert.equal(reading.type, "unclear");
    else if (says === "visa") assert.equal(reading.type, "visa");
    else {
      assert.ok(reading.type === "key");
      const { documentNumber, dateOfBirth, dateOfExpiry } = reading.fields;
      assert.deepEqual([documentNumber.padEnd(9, "<"), dateOfBirth, dateOfExpiry], says.key);
      assert.equal(reading.changedCharacters > 0, says.changed);
      assert.ok(Math.abs(reading.confidence - says.confidence) < 1e-3);
      assert.ok(Math.abs(reading.blindMargin - says.margin) < 1e-3);
      assert.ok(Math.abs(reading.pairMargin - says.pair) < 1e-3, `${reading.pairMargin} ${says.pair}`);
      assert.ok(Math.abs(reading.exchangeMargin - says.exchange) < 1e-3, JSON.stringify(says.key));
      assert.equal(checkDigit(dateOfBirth).length, 1);
    }
  }
});
