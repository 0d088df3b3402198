import type { MrzKeyFields } from "@assay/emrtd/mrz/mrz-key";
import {
  type MrzCharacters,
  type MrzField,
  type MrzFormat,
  type MrzLayout,
  mrzLayouts,
} from "@assay/emrtd/mrz/mrz-layout";
import { keyFieldsOf } from "@assay/emrtd/mrz/parse-mrz";
import { type MrzAlternative, repairMrz } from "@assay/emrtd/mrz/repair-mrz";
import { alphabet, type ReadLine, type Segment } from "./read-lines.ts";

/** The result of one frame. */
export type ZoneReading =
  | { readonly kind: "key"; readonly fields: MrzKeyFields }
  | { readonly kind: "visa" }
  | { readonly kind: "unclear" };

/** Below this a share only says that the network did not think of the character. */
const shareFloor = 1e-4;

/** A key character less likely than all others together is a guess, unless a check digit chose it. */
const minConfidence = 0.5;

const allowed: Readonly<Record<MrzCharacters, RegExp>> = {
  letters: /[A-Z<]/,
  digits: /[0-9<]/,
  any: /[A-Z0-9<]/,
  sex: /[MFX<]/,
};

/**
 * The key in the lines: allowed characters per position, corrected by check digits where the network was in
 * doubt. A wrong key uses up no try, because the chip refuses it. So one frame need not be certain.
 */
export function decideZone(lines: readonly ReadLine[], shape: MrzFormat, at: Date): ZoneReading {
  const layout = mrzLayouts[shape];
  const first = lines[0]?.[0];
  if (shape !== "TD1" && first !== undefined && (first[alphabet.indexOf("V")] ?? 0) > 0.5)
    return { kind: "visa" };
  const ranked = lines.map((line, index) =>
    index === layout.name.line
      ? []
      : line.map((segment, position) => rank(segment, charactersAt(layout, index, position))),
  );
  const texts = ranked.map((line, index) =>
    index === layout.name.line ? nameLine(layout) : line.map(([best]) => best?.character ?? "<").join(""),
  );
  const doubts = ranked.map((line) => line.map((options) => options.slice(1)));
  try {
    const mrz = repairMrz(texts, shape, doubts, at);
    const isGuess = [layout.documentNumber, layout.dateOfBirth, layout.dateOfExpiry].some(
      ({ line, start, end }) =>
        (ranked[line] ?? [])
          .slice(start, end)
          .some(
            (options, index) =>
              options[0]?.character === mrz.lines[line]?.charAt(start + index) &&
              !(confidenceOf(options) >= minConfidence),
          ),
    );
    const fields = keyFieldsOf(mrz);
    return isGuess || isWashedOut(fields) ? { kind: "unclear" } : { kind: "key", fields };
  } catch {
    return { kind: "unclear" };
  }
}

/**
 * A date without digits has fillers that fit any check digit. It is far more often glare than an unknown
 * date, which a person can type.
 */
const isWashedOut = ({ dateOfBirth, dateOfExpiry }: MrzKeyFields): boolean =>
  [dateOfBirth, dateOfExpiry].some((date) => !/[0-9]/.test(date));

/** Stands in for the line with the name, which has no check digit and no part in the key. */
function nameLine({ format, lineLength }: MrzLayout): string {
  return (format === "TD1" ? "X" : "P<UTOX").padEnd(lineLength, "<");
}

function charactersAt(layout: MrzLayout, line: number, position: number): MrzCharacters {
  const { composite: _, ...fields } = layout;
  const field = Object.values(fields).find(
    (value): value is MrzField =>
      typeof value === "object" &&
      value !== null &&
      value.line === line &&
      value.start <= position &&
      position < value.end,
  );
  return field?.characters ?? "any";
}

/** Allowed characters, likeliest first, with costs relative to it. */
function rank(segment: Segment, characters: MrzCharacters): readonly MrzAlternative[] {
  const shares = [...alphabet]
    .map((character, index) => ({ character, share: Math.max(segment[index] ?? 0, shareFloor) }))
    .filter(({ character }) => allowed[characters].test(character))
    .sort((a, b) => b.share - a.share);
  const best = shares[0]?.share ?? shareFloor;
  return shares.map(({ character, share }) => ({ character, cost: Math.log(best / share) }));
}

/** The probability of the first among them. */
function confidenceOf(options: readonly MrzAlternative[]): number {
  return 1 / options.reduce((sum, { cost }) => sum + Math.exp(-cost), 0);
}
