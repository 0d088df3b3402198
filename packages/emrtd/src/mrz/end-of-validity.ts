import type { MrzFormat } from "./mrz-layout.ts";

/** How a document states that it does not expire. */
type EndlessRule = {
  /** The text in place of the date of expiry. */
  readonly raw: string;
  readonly formats: readonly MrzFormat[];
  /** First letters of the document code. */
  readonly documentCodes: readonly string[];
  /** As in the zone; null for every state. */
  readonly issuingStates: readonly string[] | null;
  /** Where it is specified or was seen. */
  readonly source: string;
};

const cards = {
  formats: ["TD1", "TD2"],
  // I, A and C are the letters that Doc 9303 parts 5 and 6 give to official cards.
  documentCodes: ["I", "A", "C"],
} as const;

/**
 * No rule covers passports: their validity is limited, so one without an end has an unknown expiry. The last
 * two rules apply to every state, because such a date cannot be meant. No travel document had a chip before
 * 2004 (Doc 9303 part 3 volume 2 of the sixth edition), and no state issues cards for seventy years.
 */
export const endlessRules: readonly EndlessRule[] = [
  {
    ...cards,
    raw: "<<<<<<",
    issuingStates: null,
    source: "Moldova, cards of older people: github.com/snifter/MRZCode.NET, pull requests 3 and 4",
  },
  {
    ...cards,
    raw: "991231",
    issuingStates: null,
    source: "no date of a document with a chip; seen in use for cards without an end",
  },
  {
    ...cards,
    raw: "990101",
    issuingStates: null,
    source:
      "not a date of a document with a chip; since July 2026 Italy writes 01.01.9999 on cards without an end: " +
      "github.com/italia/anpr, issue 5393. Spain's cards have no end from 70 on: Council of the EU, PRADO, ESP-BO-03001",
  },
];

type EndlessQuestion = {
  readonly format: MrzFormat;
  readonly documentCode: string;
  readonly issuingState: string;
  readonly rawExpiry: string;
};

/** Whether the document says that it does not expire. */
export function isEndless({ format, documentCode, issuingState, rawExpiry }: EndlessQuestion): boolean {
  return endlessRules.some(
    (rule) =>
      rule.raw === rawExpiry &&
      rule.formats.includes(format) &&
      rule.documentCodes.includes(documentCode.slice(0, 1)) &&
      (rule.issuingStates === null || rule.issuingStates.includes(issuingState)),
  );
}
