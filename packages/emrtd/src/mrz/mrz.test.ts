import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import { EmrtdError, type EmrtdErrorCode } from "../emrtd-error.ts";
import { isAtLeast } from "./age.ts";
import { buildMrz, type MrzContent } from "./build-mrz.ts";
import { checkDigit } from "./check-digit.ts";
import { endlessRules } from "./end-of-validity.ts";
import {
  endOfValidity,
  isoDate,
  maxLifeYears,
  possibleYears,
  readDateOfBirth,
  readDateOfExpiry,
  withBirthBefore,
  withFullDateOfBirth,
} from "./mrz-date.ts";
import { keyFieldsFromTyped, type MrzKeyFields, mrzInformation } from "./mrz-key.ts";
import type { MrzFormat } from "./mrz-layout.ts";
import { keyFieldsOf, parseMrz } from "./parse-mrz.ts";
import { type MrzAlternative, repairMrz } from "./repair-mrz.ts";

const today = new Date("2026-11-15T12:00:00Z");

const passport = "P<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<<<<<<<<<\nL898902C36UTO7408122F1204159ZE184226B<<<<<10";
const cardTd1 =
  "I<UTOD231458907<<<<<<<<<<<<<<<\n7408122F1204159UTO<<<<<<<<<<<6\nERIKSSON<<ANNA<MARIA<<<<<<<<<<";
const cardTd2 = "I<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<\nD231458907UTO7408122F1204159<<<<<<<6";
const longTd1 =
  "I<UTOD23145890<7349<<<<<<<<<<<\n3407127M9507122UTO<<<<<<<<<<<2\nSTEVENSON<<PETER<JOHN<<<<<<<<<";
const longTd2 = "I<UTOSTEVENSON<<PETER<JOHN<<<<<<<<<<\nD23145890<UTO3407127M95071227349<<<8";

function fails(code: EmrtdErrorCode, run: () => unknown): void {
  assert.throws(run, (error: unknown) => error instanceof EmrtdError && error.code === code);
}

test("check digits of ICAO 9303-3", () => {
  assert.equal(checkDigit("520727"), "3");
  assert.equal(checkDigit("AB2134<<<"), "5");
  assert.equal(checkDigit("HA672242<658022549601086<<<<<<<<<<<<<<0"), "8");
  fails("MRZ_INVALID", () => checkDigit("a"));
});

test("the passport of ICAO 9303-4 is read", () => {
  const mrz = parseMrz(passport, today);
  assert.equal(mrz.format, "TD3");
  assert.equal(mrz.documentCode, "P");
  assert.equal(mrz.issuingState, "UTO");
  assert.equal(mrz.nationality, "UTO");
  assert.equal(mrz.documentNumber, "L898902C3");
  assert.equal(isoDate(mrz.dateOfBirth), "1974-08-12");
  assert.equal(isoDate(mrz.dateOfExpiry), "2012-04-15");
  assert.equal(mrz.sex, "F");
  assert.deepEqual(mrz.name, { primary: "ERIKSSON", secondary: "ANNA MARIA", mayBeTruncated: false });
  assert.equal(mrz.optionalData, "ZE184226B");
  assert.equal(mrz.checkDigitsAgree, true);
});

test("the cards of ICAO 9303-5 and 9303-6 are read", () => {
  for (const [text, format] of [
    [cardTd1, "TD1"],
    [cardTd2, "TD2"],
  ] as const) {
    const mrz = parseMrz(text, today);
    assert.equal(mrz.format, format);
    assert.equal(mrz.documentCode, "I");
    assert.equal(mrz.documentNumber, "D23145890");
    assert.equal(isoDate(mrz.dateOfBirth), "1974-08-12");
    assert.equal(mrz.name.secondary, "ANNA MARIA");
    assert.equal(mrz.checkDigitsAgree, true);
  }
});

test("a document number that runs over into the optional data is read whole, as in ICAO 9303-11 D.2", () => {
  for (const text of [longTd1, longTd2]) {
    const mrz = parseMrz(text, today);
    assert.equal(mrz.documentNumber, "D23145890734");
    assert.equal(mrz.optionalData, "");
    assert.equal(mrz.checkDigitsAgree, true);
    assert.equal(mrzInformation(keyFieldsOf(mrz)), "D23145890734934071279507122");
  }
});

test("the key seeds of ICAO 9303-11 D.2 come out", () => {
  const seed = (fields: MrzKeyFields) =>
    createHash("sha1").update(mrzInformation(fields)).digest("hex").slice(0, 32).toUpperCase();
  const short = { documentNumber: "L898902C<", dateOfBirth: "690806", dateOfExpiry: "940623" };
  assert.equal(seed(short), "239AB9CB282DAF66231DC5A4DF6BFBAE");
  assert.equal(seed({ ...short, documentNumber: "L898902C" }), "239AB9CB282DAF66231DC5A4DF6BFBAE");
  assert.equal(seed(keyFieldsOf(parseMrz(longTd1, today))), "B366AD857DDCA2B08C0E299811714730");
});

test("fields typed by a person open the same chip", () => {
  const typed = keyFieldsFromTyped({
    documentNumber: " l898902 c3",
    dateOfBirth: "1974-08-12",
    dateOfExpiry: "120415",
  });
  assert.equal(mrzInformation(typed), mrzInformation(keyFieldsOf(parseMrz(passport, today))));
  const good = { documentNumber: "L898902C3", dateOfBirth: "1974-08-12", dateOfExpiry: "2012-04-15" };
  for (const [field, value] of [
    ["documentNumber", "Ü123"],
    ["documentNumber", ""],
    ["documentNumber", "A".repeat(23)],
    ["dateOfBirth", "12.08.1974"],
    ["dateOfBirth", "1974-13-12"],
    ["dateOfExpiry", ""],
  ] as const) {
    fails("MRZ_INVALID", () => keyFieldsFromTyped({ ...good, [field]: value }));
  }
});

test("position 43 of an unused field may be a filler or a zero", () => {
  for (const emptyOptionalCheck of ["<", "0"] as const) {
    const lines = buildMrz({ ...content("TD3"), optionalData: "", emptyOptionalCheck });
    assert.equal(lines[1]?.charAt(42), emptyOptionalCheck);
    assert.equal(parseMrz(lines.join("\n"), today).checkDigitsAgree, true);
  }
  const used = passport.replace("<<<<<10", "<<<<<<0");
  assert.equal(parseMrz(used, today).checkDigits.optionalData, false);
});

test("each wrong check digit is named, and the reading is still given", () => {
  for (const [position, name] of [
    [9, "documentNumber"],
    [19, "dateOfBirth"],
    [27, "dateOfExpiry"],
    [42, "optionalData"],
    [43, "composite"],
  ] as const) {
    const [first = "", second = ""] = passport.split("\n");
    const wrong = (Number(second.charAt(position)) + 1) % 10;
    const mrz = parseMrz(
      `${first}\n${second.slice(0, position)}${wrong}${second.slice(position + 1)}`,
      today,
    );
    assert.equal(mrz.checkDigits[name], false);
    assert.equal(mrz.checkDigitsAgree, false);
  }
});

test("the single letter of Germany stays as it is", () => {
  const mrz = parseMrz(buildMrz({ ...content("TD3"), issuingState: "D", nationality: "D" }).join(""), today);
  assert.equal(mrz.issuingState, "D");
  assert.equal(mrz.nationality, "D");
});

test("unknown parts of a birth stay unknown", () => {
  assert.deepEqual(readDateOfBirth("7408<<", today), {
    raw: "7408<<",
    year: 1974,
    month: 8,
    day: null,
    otherYears: [],
  });
  assert.deepEqual(readDateOfBirth("740000", today), {
    raw: "740000",
    year: 1974,
    month: null,
    day: null,
    otherYears: [],
  });
  assert.equal(readDateOfBirth("<<<<<<", today).year, null);
  assert.equal(isoDate(readDateOfBirth("74<<<<", today)), null);
});

test("a date that is wholly unknown may have a filler for its check digit", () => {
  const lines = buildMrz({ ...content("TD3"), dateOfBirth: "<<<<<<", dateOfExpiry: "<<<<<<" });
  const [first = "", second = ""] = lines;
  assert.equal(parseMrz(lines.join(""), today).checkDigitsAgree, true);
  const filled = `${second.slice(0, 19)}<${second.slice(20, 27)}<${second.slice(28)}`;
  assert.equal(parseMrz(first + filled, today).checkDigitsAgree, true);
  assert.equal(parseMrz(passport.replace("7408122", "740812<"), today).checkDigits.dateOfBirth, false);
});

test("dates that do not exist are refused", () => {
  for (const raw of ["741301", "740230", "740431", "74080", "7408<1", "74O812", "230229", ""]) {
    fails("MRZ_INVALID", () => {
      const date = readDateOfBirth(raw, today);
      assert.fail(`accepted as ${isoDate(date)}`);
    });
  }
});

test("a birth lies in the past, and the other century of a living person is reported", () => {
  const born = (raw: string) => {
    const date = readDateOfBirth(raw, today);
    return [date.year, ...date.otherYears];
  };
  assert.deepEqual(born("261115"), [2026, 1926], "today");
  assert.deepEqual(born("261116"), [1926], "tomorrow is a hundred years ago");
  assert.deepEqual(born("090101"), [2009, 1909]);
  assert.deepEqual(born("080101"), [2008], "118 years is no longer a life");
  assert.deepEqual(born("740812"), [1974]);
  assert.deepEqual(born("000229"), [2000], "1900 had no 29 February");
});

test("a full date of birth decides the century and cannot contradict the zone", () => {
  const date = readDateOfBirth("200101", today);
  assert.equal(withFullDateOfBirth(date, "19200101").year, 1920);
  assert.deepEqual(withFullDateOfBirth(date, "19200101").otherYears, []);
  for (const full of ["19200102", "18200101", "19210101", "nonsense", "1920"]) {
    assert.deepEqual(withFullDateOfBirth(date, full), date);
  }
});

const lastBirth = Date.UTC(2026, 10, 15);

/** Every day of the last 130 years. */
function* birthDates(): Generator<Date> {
  for (let time = Date.UTC(1896, 10, 15); time <= lastBirth; time += 86_400_000) yield new Date(time);
}

function shortDate(date: Date): string {
  return date.toISOString().slice(2, 10).replaceAll("-", "");
}

test("whenever somebody was born within a life, the zone allows that year, and settles it or says that it is open", () => {
  let open = 0;
  for (const birth of birthDates()) {
    const year = birth.getUTCFullYear();
    const date = readDateOfBirth(shortDate(birth), today);
    const years = possibleYears(date);
    if (2026 - year > maxLifeYears) continue;
    assert.ok(years.includes(year), birth.toISOString());
    assert.equal(years.length, year <= 1926 || year >= 2009 ? years.length : 1);
    if (years.length > 1) open++;
    const full = birth.toISOString().slice(0, 10).replaceAll("-", "");
    const settled = withFullDateOfBirth(date, full);
    assert.deepEqual(possibleYears(settled), [year]);
    assert.equal(isoDate(settled), birth.toISOString().slice(0, 10));
    // A document that was signed on the day of birth, or the one before by another clock, allows the birth.
    assert.ok(possibleYears(withBirthBefore(date, birth)).includes(year));
  }
  assert.ok(open > 2 * 17 * 365, "children and people over a hundred share their two digits");
});

test("an age is never told wrong: of every birth date the answer is the right one, or that it is not known", () => {
  const dayNumber = (date: Date) => date.getUTCMonth() * 100 + date.getUTCDate();
  for (const birth of birthDates()) {
    if (2026 - birth.getUTCFullYear() > maxLifeYears) continue;
    const completed =
      today.getUTCFullYear() - birth.getUTCFullYear() - (dayNumber(today) < dayNumber(birth) ? 1 : 0);
    const date = readDateOfBirth(shortDate(birth), today);
    const full = withFullDateOfBirth(date, birth.toISOString().slice(0, 10).replaceAll("-", ""));
    for (const years of [12, 16, 18, 21, 65, 99, 100, 101, 116, 130]) {
      assert.equal(isAtLeast(full, years, today), completed >= years, `${birth.toISOString()} ${years}`);
      const answer = isAtLeast(date, years, today);
      if (answer !== null) assert.equal(answer, completed >= years, `${birth.toISOString()} ${years}`);
      // No adult must prove the century for the most common age.
      if (years === 18 && completed >= 18 && completed < 100) assert.equal(answer, true);
    }
  }
});

test("a birth after the signature is of the other century", () => {
  const years = (raw: string, signed: string) =>
    possibleYears(withBirthBefore(readDateOfBirth(raw, today), new Date(signed)));
  assert.deepEqual(years("250301", "2024-06-01T00:00:00Z"), [1925]);
  assert.deepEqual(years("250301", "2025-02-28T12:00:00Z"), [2025, 1925], "clocks differ by a day");
  assert.deepEqual(years("250301", "2025-06-01T00:00:00Z"), [2025, 1925]);
  assert.deepEqual(
    years("740812", "1970-01-01T00:00:00Z"),
    [1974],
    "nothing is left: the zone stays as it is",
  );
  assert.deepEqual(years("<<<<<<", "2024-06-01T00:00:00Z"), []);
});

const endlessCases: readonly (readonly [string, MrzFormat, string, string, boolean])[] = [
  ["a card without a date", "TD1", "I", "<<<<<<", true],
  ["a card of the second size without a date", "TD2", "ID", "<<<<<<", true],
  ["a residence permit without a date", "TD1", "AR", "<<<<<<", true],
  ["a card with the last day of a century", "TD1", "I", "991231", true],
  ["a card with the first day of the year 9999", "TD1", "C", "990101", true],
  ["a card with another day of that year", "TD1", "I", "990102", false],
  ["a passport without a date", "TD3", "P", "<<<<<<", false],
  ["a passport with the last day of a century", "TD3", "P", "991231", false],
  ["a passport card with the last day of a century", "TD1", "P", "991231", false],
];

for (const [what, format, documentCode, dateOfExpiry, endless] of endlessCases) {
  test(`${what} ${endless ? "does not expire" : "is not taken for one that never expires"}`, () => {
    const mrz = parseMrz(buildMrz({ ...content(format), documentCode, dateOfExpiry }).join(""), today);
    assert.equal(mrz.endless, endless);
    assert.equal(mrz.dateOfExpiry.raw, dateOfExpiry);
    if (endless) assert.equal(mrz.dateOfExpiry.year, null);
  });
}

test("every rule about documents without an end names its source", () => {
  for (const { source } of endlessRules) assert.ok(source.length > 20);
});

test("an expiry lies between thirty years ago and twenty ahead", () => {
  const year = (raw: string) => readDateOfExpiry(raw, today).year;
  assert.equal(year("461231"), 2046);
  assert.equal(year("960101"), 1996);
  assert.equal(year("260101"), 2026);
  assert.deepEqual(readDateOfExpiry("470101", today).otherYears, [1947]);
  assert.equal(year("470101"), 2047);
  assert.equal(year("950101"), 1995);
});

test("a document is good through its last day", () => {
  const end = (raw: string) => endOfValidity(readDateOfExpiry(raw, today));
  assert.equal(end("261115"), Date.UTC(2026, 10, 16));
  assert.equal(end("2602<<"), Date.UTC(2026, 2, 1));
  assert.equal(end("26<<<<"), Date.UTC(2027, 0, 1));
  assert.equal(end("<<<<<<"), null);
});

test("a name that fills its field may have been cut", () => {
  const cut = parseMrz(
    buildMrz({
      ...content("TD1"),
      primaryName: "PAPANDROPOULOUS",
      secondaryName: "JONATHON ALEXANDROS",
    }).join(""),
    today,
  );
  assert.equal(cut.name.mayBeTruncated, true);
  assert.equal(cut.lines[2], "PAPANDROPOULOUS<<JONATHON<ALEX");
  const whole = parseMrz(
    buildMrz({ ...content("TD1"), primaryName: "O'CONNOR", secondaryName: "Enya-Siobhan" }).join(""),
    today,
  );
  assert.deepEqual(whole.name, { primary: "OCONNOR", secondary: "ENYA SIOBHAN", mayBeTruncated: false });
});

test("a holder with one name has no secondary name", () => {
  const mrz = parseMrz(
    buildMrz({ ...content("TD3"), primaryName: "ARKFREITH", secondaryName: "" }).join(""),
    today,
  );
  assert.deepEqual(mrz.name, { primary: "ARKFREITH", secondary: "", mayBeTruncated: false });
});

test("malformed zones are refused", () => {
  for (const text of [
    "",
    passport.slice(1),
    `${passport}<`,
    passport.toLowerCase(),
    passport.replace("P<UTO", "<<UTO"),
    passport.replace("P<UTO", "V<UTO"),
    passport.replace("P<UTO", "P<<<<"),
    passport.replace("P<UTO", "P<U1O"),
    passport.replace("2F1", "2Q1"),
    passport.replace("L898902C36", "<<<<<<<<<0"),
    "A".repeat(100_000),
  ]) {
    fails("MRZ_INVALID", () => parseMrz(text, today));
  }
});

function content(format: MrzContent["format"]): MrzContent {
  return {
    format,
    documentCode: format === "TD3" ? "P" : "I",
    issuingState: "UTO",
    nationality: "UTO",
    documentNumber: "L898902C3",
    dateOfBirth: "740812",
    dateOfExpiry: "320415",
    sex: "F",
    primaryName: "ERIKSSON",
    secondaryName: "ANNA MARIA",
  };
}

const capitals = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"];
const lettersAndDigits = [...capitals, ..."0123456789"];
const word = (letters: readonly string[], minLength: number, maxLength: number) =>
  fc.array(fc.constantFrom(...letters), { minLength, maxLength }).map((characters) => characters.join(""));
const yymmdd = fc
  .date({ min: new Date("2007-01-01"), max: new Date("2026-01-01"), noInvalidDate: true })
  .map((date) => date.toISOString().slice(2, 10).replaceAll("-", ""));

const anyContent: fc.Arbitrary<MrzContent> = fc
  .constantFrom("TD1" as const, "TD2" as const, "TD3" as const)
  .chain((format) =>
    fc.record({
      format: fc.constant(format),
      documentCode: fc.constantFrom("P", "I", "ID", "AC"),
      issuingState: fc.oneof(fc.constant("D"), word(capitals, 3, 3)),
      nationality: word(capitals, 3, 3),
      documentNumber: word(lettersAndDigits, 1, format === "TD3" ? 9 : format === "TD2" ? 15 : 22),
      dateOfBirth: yymmdd,
      dateOfExpiry: yymmdd,
      sex: fc.constantFrom("F" as const, "M" as const, "X" as const),
      primaryName: word(capitals, 1, 12),
      secondaryName: word(capitals, 0, 12),
    }),
  );

test("what is built is read back", () => {
  fc.assert(
    fc.property(anyContent, (built) => {
      const mrz = parseMrz(buildMrz(built).join("\n"), today);
      assert.equal(mrz.checkDigitsAgree, true);
      assert.equal(mrz.format, built.format);
      assert.equal(mrz.documentNumber, built.documentNumber);
      assert.equal(mrz.issuingState, built.issuingState);
      assert.equal(mrz.dateOfBirth.raw, built.dateOfBirth);
      assert.equal(mrz.dateOfExpiry.raw, built.dateOfExpiry);
      assert.equal(mrz.sex, built.sex);
      assert.equal(mrz.name.primary, built.primaryName);
      assert.equal(mrz.name.secondary, built.secondaryName);
    }),
    { numRuns: 500 },
  );
});

test("any name that is cut says so", () => {
  const longName = fc
    .array(word(capitals, 2, 15), { minLength: 1, maxLength: 6 })
    .map((words) => words.join(" "));
  fc.assert(
    fc.property(anyContent, longName, longName, (built, primaryName, secondaryName) => {
      const lines = buildMrz({ ...built, primaryName, secondaryName });
      const mrz = parseMrz(lines.join(""), today);
      const complete = mrz.name.primary === primaryName && mrz.name.secondary === secondaryName;
      assert.ok(complete || mrz.name.mayBeTruncated);
      assert.ok(mrz.name.secondary.length > 0);
    }),
    { numRuns: 500 },
  );
});

test("a builder refuses what does not fit", () => {
  for (const change of [
    { documentNumber: "" },
    { documentNumber: "A".repeat(10) },
    { primaryName: "Müller" },
    { primaryName: "" },
    { dateOfBirth: "1974-08-12" },
    { issuingState: "UTOP" },
    { optionalData: "A".repeat(15) },
  ]) {
    fails("BUILD_INVALID", () => buildMrz({ ...content("TD3"), ...change }));
  }
});

type Doubt = readonly [line: number, position: number, character: string, cost: number];

/** Repairs what was read, with these doubts and no others. */
function repaired(text: string, format: MrzFormat, ...doubts: readonly Doubt[]) {
  const lines = text.split("\n");
  const all: MrzAlternative[][][] = lines.map((line) => [...line].map(() => []));
  for (const [line, position, character, cost] of doubts) all[line]?.[position]?.push({ character, cost });
  return repairMrz(lines, format, all, today);
}

test("a zone without doubts is taken as it was read, and one whose check digits disagree is refused", () => {
  assert.equal(repaired(passport, "TD3").lines.join("\n"), passport);
  fails("MRZ_INVALID", () => repaired(passport.replace("7408122", "7408132"), "TD3"));
  fails("MRZ_INVALID", () => repaired(passport.replace("L898902C36", "L898902C37"), "TD3"));
  fails("MRZ_INVALID", () => repaired("P<UTO\nL898902C3", "TD3"));
  fails("MRZ_INVALID", () => repaired("", "TD3"));
});

test("the likeliest doubt that the check digits agree with is taken, and a close second refuses the zone", () => {
  const [first = "", second = ""] = passport.split("\n");
  const read = `${first}\n${second.slice(0, 14)}7${second.slice(15)}`;
  assert.equal(second.charAt(14), "4");
  assert.equal(repaired(read, "TD3", [1, 14, "4", 2]).lines[1], second);
  // The reader did not think of a 4, or found it too unlikely: then no digit may invent it.
  fails("MRZ_INVALID", () => repaired(read, "TD3", [1, 14, "9", 2]));
  fails("MRZ_INVALID", () => repaired(read, "TD3", [1, 14, "4", 6.1]));
  // 8 and S both agree there: they differ by a multiple of ten.
  const number = `${first}\n${second.replace("L898902C36", "L899902C36")}`;
  fails("MRZ_INVALID", () => repaired(number, "TD3", [1, 3, "8", 2], [1, 3, "S", 3]));
  const { documentNumber } = repaired(number, "TD3", [1, 3, "8", 2], [1, 3, "S", 3.6]);
  assert.equal(documentNumber, "L898902C3");
});

test("two characters of a field are corrected, three are not", () => {
  const read = passport.replace("7408122", "1498122");
  const two = [
    [1, 13, "7", 1],
    [1, 15, "0", 1],
  ] as const;
  assert.equal(repaired(read, "TD3", ...two).dateOfBirth.raw, "740812");
  const three = read.replace("1498122", "1498172");
  fails("MRZ_INVALID", () => repaired(three, "TD3", ...two, [1, 18, "2", 1]));
});

test("optional data that can be read in two ways do not keep a key out", () => {
  for (const format of ["TD1", "TD2", "TD3"] as const) {
    const printed = buildMrz({ ...content(format), optionalData: "A7C" }).join("\n");
    const line = format === "TD1" ? 0 : 1;
    const at = (printed.split("\n")[line]?.indexOf("A7C") ?? -1) + 1;
    const read = printed.replace("A7C", "A9C");
    assert.equal(repaired(read, format, [line, at, "7", 2]).lines.join("\n"), printed);
    // 7 and R count the same.
    const either = repaired(read, format, [line, at, "R", 2], [line, at, "7", 2.1]);
    assert.equal(either.documentNumber, content(format).documentNumber);
    fails("MRZ_INVALID", () => repaired(read, format));
    fails("MRZ_INVALID", () => repaired(read, format, [line, at, "7", 6.1]));
  }
});

test("a long number is settled across both of its fields by the digit at its end", () => {
  for (const [format, text] of [
    ["TD1", longTd1],
    ["TD2", longTd2],
  ] as const) {
    /** Reads `to` for `from`, with doubts at places counted from there. */
    const settled = (from: string, to: string, ...doubts: readonly [number, string, number][]) => {
      const line = text.split("\n").findIndex((row) => row.includes(from));
      const at = text.split("\n")[line]?.indexOf(from) ?? -1;
      return repaired(
        text.replace(from, to),
        format,
        ...doubts.map(([place, character, cost]): Doubt => [line, at + place, character, cost]),
      ).documentNumber;
    };
    // In the field of the number, in what runs on, and in the digit.
    for (const [from, to, place, character] of [
      ["D23145890", "D23145390", 6, "8"],
      ["7349<", "1349<", 0, "7"],
      ["7349<", "7346<", 3, "9"],
    ] as const) {
      assert.equal(settled(from, to, [place, character, 2]), "D23145890734");
      fails("MRZ_INVALID", () => settled(from, to));
    }
    // A filler that was misread would end the number earlier.
    fails("MRZ_INVALID", () => settled("7349<", "73<9<", [2, "4", 2]));
    // The composite digit would agree with a 6 for the 3 as well, which the number does not.
    assert.equal(settled("7349<<", "7349<B", [1, "6", 1], [5, "<", 2]), "D23145890734");
  }
});

test("a document is good up to the end of its last day, whatever the month and the year", () => {
  const day = 86_400_000;
  for (let time = Date.UTC(1899, 0, 1); time < Date.UTC(2102, 0, 1); time += day) {
    const date = new Date(time);
    const [year, month] = [date.getUTCFullYear(), date.getUTCMonth() + 1];
    const end = endOfValidity({ raw: "", year, month, day: date.getUTCDate(), otherYears: [] });
    assert.equal(end, time + day, date.toISOString());
  }
});
