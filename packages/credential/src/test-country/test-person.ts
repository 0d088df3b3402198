import { CborTag, type CborValue } from "../cbor/value.ts";
import type { JsonObject } from "../json.ts";
import type { Purpose } from "../trust-anchor.ts";
import type { WalletOutcome } from "./wallet-outcomes.ts";

/** A fictional person in the test country's records. */
type TestPerson = {
  familyName: string;
  givenName: string;
  birthDate: string;
  documentNumber: string;
  expiryDate: string;
  /** ISO/IEC 5218. */
  sex: number;
  ageInYears: number;
};

/** Letters beyond the MRZ on purpose: a wallet's names are not transliterated. */
export function testPerson(outcome: WalletOutcome, now: Date): TestPerson {
  const year = now.getUTCFullYear();
  const expiryDate = outcome === "expired" ? `${year - 1}-06-30` : `${year + 4}-06-30`;
  return outcome === "minor"
    ? {
        familyName: "Lille-Øyen",
        givenName: "Noé",
        birthDate: `${year - 12}-12-31`,
        documentNumber: "UT-MINOR-11",
        expiryDate,
        sex: 1,
        ageInYears: 11,
      }
    : {
        familyName: "Østerlind-Muñoz",
        givenName: "Zoë Ángela",
        birthDate: "1988-02-29",
        documentNumber: "UT-ADULT-88",
        expiryDate,
        sex: 2,
        ageInYears: year - 1989,
      };
}

/** The two letters of the test country; ICAO Doc 9303 has UTO for it. */
const country = "UT";
const authority = "Test Country";

/**
 * By element, for the namespace of the purpose. The issuer attests the requested ages and some fixed ones.
 */
export function mdocElementsOf(
  purpose: Purpose,
  person: TestPerson,
  askedAges: readonly number[],
): ReadonlyMap<string, CborValue> {
  const ages = [...new Set([16, 18, 21, ...askedAges])];
  const day = (date: string) => new CborTag(1004, date);
  const ageOver = ages.map((years) => [`age_over_${years}`, person.ageInYears >= years] as const);
  if (purpose === "age") return new Map(ageOver);
  const common: readonly (readonly [string, CborValue])[] = [
    ["family_name", person.familyName],
    ["given_name", person.givenName],
    ["birth_date", day(person.birthDate)],
    ["expiry_date", day(person.expiryDate)],
    ["issuing_country", country],
    ["issuing_authority", authority],
    ["document_number", person.documentNumber],
    ["sex", person.sex],
  ];
  return new Map<string, CborValue>(
    purpose === "mdl"
      ? [
          ...common,
          ["nationality", country],
          ["issue_date", day("2026-01-01")],
          ["un_distinguishing_sign", "UTO"],
          ...ageOver,
        ]
      : [...common, ["nationality", [country]], ["birth_place", "Amaurot"]],
  );
}

export function sdJwtClaimsOf(person: TestPerson): JsonObject {
  return {
    family_name: person.familyName,
    given_name: person.givenName,
    birthdate: person.birthDate,
    date_of_expiry: person.expiryDate,
    issuing_country: country,
    issuing_authority: authority,
    document_number: person.documentNumber,
    nationalities: [country],
    place_of_birth: { locality: "Amaurot" },
    sex: person.sex,
  };
}
