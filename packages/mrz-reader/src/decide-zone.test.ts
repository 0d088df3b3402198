import assert from "node:assert/strict";
import test from "node:test";
import { buildMrz, type MrzContent } from "@assay/emrtd/mrz/build-mrz";
import fc from "fast-check";
import { addReading, nothingRead } from "./agreement.ts";
import { decideZone, type ZoneReading } from "./decide-zone.ts";
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
    { ...passport, documentNumber: "L8<8902C3" },
  ];
  for (const content of contents)
    assert.deepEqual(decideZone(zoneOf(content), content.format, now), {
      kind: "key",
      fields: { ...key, documentNumber: content.documentNumber },
    });
});

test("a date that shows no digit is glare, and the frame gives no key", () => {
  for (const unknown of [{ dateOfExpiry: "<<<<<<" }, { dateOfBirth: "<<<<<<" }])
    assert.equal(decideZone(zoneOf({ ...passport, ...unknown }), "TD3", now).kind, "unclear");
  const yearOnly = decideZone(zoneOf({ ...passport, dateOfBirth: "74<<<<" }), "TD3", now);
  assert.deepEqual(yearOnly, { kind: "key", fields: { ...key, dateOfBirth: "74<<<<" } });
});

test("the key does not need the line with the name", () => {
  const [, second = []] = zoneOf(passport);
  assert.equal(decideZone([seenLine("P<U"), second], "TD3", now).kind, "key");
});

test("what may stand at a position decides between lookalikes", () => {
  const lines = changed(zoneOf(passport), 1, 13, seen("Z", { "7": 0.2 }));
  assert.deepEqual(decideZone(lines, "TD3", now), { kind: "key", fields: key });
});

test("check digits settle a doubt that the reader had", () => {
  const lines = changed(zoneOf(passport), 1, 1, seen("B", { "8": 0.3 }));
  assert.deepEqual(decideZone(lines, "TD3", now), { kind: "key", fields: key });
});

test("what the reader never thought of is not invented to please a check digit", () => {
  assert.equal(decideZone(changed(zoneOf(passport), 1, 1, seen("B")), "TD3", now).kind, "unclear");
});

test("a character that is likelier than each other one, but not than all of them together, makes the reading unclear", () => {
  const lines = changed(zoneOf(passport), 1, 1, seen("8", { B: 0.3, "3": 0.31, "9": 0.02 }));
  assert.equal(decideZone(lines, "TD3", now).kind, "unclear");
});

test("two readings that are about as likely are none", () => {
  // Both 4 and E at the fourth place (values 4 and 14) fit the check digit,
  // so neither may be chosen over the read one.
  const lines = zoneOf({ ...passport, documentNumber: "L898402C3" });
  const doubtful = changed(lines, 1, 4, seen("9", { "4": 0.2, E: 0.19 }));
  assert.equal(decideZone(doubtful, "TD3", now).kind, "unclear");
});

test("a key is accepted when enough more frames say it than any other, and its check digits hold", () => {
  const accepted = (...frames: readonly ZoneReading[]) =>
    frames.reduce<ReturnType<typeof addReading>>(
      ({ agreement }, reading) => addReading(agreement, reading, 2),
      {
        agreement: nothingRead,
        accepted: null,
      },
    ).accepted;
  const clear = decideZone(zoneOf(passport), "TD3", now);
  const corrected = decideZone(changed(zoneOf(passport), 1, 1, seen("B", { "8": 0.3 })), "TD3", now);
  const other = decideZone(zoneOf({ ...passport, documentNumber: "L898902C4" }), "TD3", now);
  const broken = decideZone(changed(zoneOf(passport), 1, 9, seen("7")), "TD3", now);
  const unclear: ZoneReading = { kind: "unclear" };
  assert.deepEqual(broken, unclear);
  assert.equal(accepted(clear), null);
  assert.equal(accepted(clear, other), null);
  assert.equal(accepted(broken, broken, broken), null);
  assert.deepEqual(accepted(clear, clear), key);
  assert.deepEqual(accepted(clear, unclear, { kind: "visa" }, corrected), key);
  assert.equal(accepted(clear, other, corrected), null);
  assert.deepEqual(accepted(clear, other, corrected, clear), key);
  assert.equal(accepted(other, clear, other, clear, clear), null);
  assert.deepEqual(accepted(other, clear, other, clear, clear, clear), key);
});

test("a visa is told apart, and never gives a key", () => {
  const [first = "", second = ""] = buildMrz(passport);
  assert.deepEqual(decideZone([seenLine(`V${first.slice(1)}`), seenLine(second)], "TD3", now), {
    kind: "visa",
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
    assert.equal(decideZone(bent, "TD3", now).kind, "unclear");
});

test("any distribution over characters gives a reading or none", () => {
  const line = (length: number) =>
    fc.array(fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 37, maxLength: 37 }), {
      minLength: length,
      maxLength: length,
    });
  fc.assert(
    fc.property(line(44), line(44), (...lines) => {
      const segments = lines.map((row) => row.map((shares) => Float32Array.from(shares)));
      const reading = decideZone(segments, "TD3", now);
      if (reading.kind === "key") assert.match(reading.fields.dateOfBirth, /^[0-9<]{6}$/);
    }),
    { numRuns: 20 },
  );
  for (const share of [Number.NaN, Number.POSITIVE_INFINITY, -1, 0])
    assert.notEqual(
      decideZone(
        zoneOf(passport).map((row) => row.map((s) => s.map(() => share))),
        "TD3",
        now,
      ).kind,
      "key",
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
