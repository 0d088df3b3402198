import { buildDg1 } from "../../lds/dg1.ts";
import { buildDg2 } from "../../lds/dg2.ts";
import { buildMrz, type MrzContent } from "../../mrz/build-mrz.ts";
import type {
  ExpectedFailureCode,
  TestDocument,
  TestFileName,
  TestHolder,
} from "../../virtual/test-document.ts";
import { type PersonalisationRequest, personalise } from "./personalise.ts";
import { type PortraitName, readPortrait } from "./portraits.ts";
import { signerProfile } from "./signer-profiles.ts";
import { createTestCountry, defaultTestSeed, type TestCountry, testCountry } from "./test-country.ts";

type Entry = {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly expectedFailureCode: ExpectedFailureCode | null;
  readonly decidedBy?: "face";
  readonly profileId: string;
  readonly mrz?: Partial<MrzContent>;
  readonly portrait?: PortraitName;
  /** By default the person on the portrait. */
  readonly holder?: TestHolder;
  readonly options?: Partial<Omit<PersonalisationRequest, "country" | "profile" | "mrz" | "portrait">>;
  /** Changes a file after the state signed it. */
  readonly tamper?: (files: Files, mrz: MrzContent) => Files;
};

type Files = Readonly<Partial<Record<TestFileName, Uint8Array>>>;

/** A year of which only the last two digits count. */
function shortYear(year: number): string {
  return String(year % 100).padStart(2, "0");
}

function entries(year: number): readonly Entry[] {
  const expired = `${shortYear(year - 1)}0630`;
  const minorBorn = `${shortYear(year - 11)}0701`;
  return [
    {
      id: "passport-valid",
      title: "Valid passport",
      description: "A passport (TD3) with chip and active authentication. Everything passes.",
      expectedFailureCode: null,
      profileId: "brainpoolP256r1-sha256-explicit",
      options: { chipAuthentication: "ecdh_aes128", activeAuthentication: "rsa" },
    },
    {
      id: "identity-card-valid",
      title: "Valid identity card",
      description: "An identity card (TD1) with chip authentication and a card access number.",
      expectedFailureCode: null,
      profileId: "secp256r1-sha256-named",
      mrz: {
        format: "TD1",
        documentCode: "ID",
        documentNumber: "UTIDCARD0123",
        primaryName: "Fairweather",
        secondaryName: "Nora",
      },
      options: { chipAuthentication: "ecdh_aes128" },
    },
    {
      id: "passport-active-authentication",
      title: "Valid passport, active authentication only",
      description: "The chip proves itself by signing a challenge (ECDSA); it offers no chip authentication.",
      expectedFailureCode: null,
      profileId: "rsa-pss-2048-sha256",
      options: { activeAuthentication: "ecdsa" },
    },
    {
      id: "passport-no-chip-proof",
      title: "Valid passport that could be a copy",
      description:
        "The chip offers neither chip nor active authentication. It passes with a higher risk score, unless the session requires clone detection.",
      expectedFailureCode: null,
      profileId: "rsa-2048-sha256",
    },
    {
      id: "passport-jpeg2000",
      title: "Valid passport, JPEG 2000 portrait",
      description: "The portrait is JPEG 2000, as in most real documents.",
      expectedFailureCode: null,
      profileId: "brainpoolP384r1-sha384-explicit",
      portrait: "elder.jp2",
      mrz: {
        primaryName: "Oldcastle",
        secondaryName: "Amos",
        sex: "M",
        dateOfBirth: `${shortYear(year - 71)}0312`,
      },
      options: { chipAuthentication: "ecdh_aes128" },
    },
    {
      id: "passport-minor",
      title: "Valid passport of a child",
      description: "The holder is ten or eleven years old: every age claim from 12 on is false.",
      expectedFailureCode: null,
      profileId: "secp384r1-sha384-explicit",
      portrait: "child.jpg",
      mrz: { primaryName: "Littlefield", secondaryName: "Sam", sex: "X", dateOfBirth: minorBorn },
      // Without DG11, two digits of the year leave open whether the holder is a child or over a hundred.
      options: { chipAuthentication: "ecdh_aes128", details: { fullDateOfBirth: `${year - 11}0701` } },
    },
    {
      id: "passport-expired",
      title: "Expired passport",
      description: "Genuine in every respect, but its validity ended last year.",
      expectedFailureCode: "document_expired",
      profileId: "rsa-2048-sha256",
      mrz: { dateOfExpiry: expired },
      options: { chipAuthentication: "ecdh_3des" },
    },
    {
      id: "passport-altered-data",
      title: "Passport with altered data",
      description: "The date of birth on the chip was changed after signing, its check digits with it.",
      expectedFailureCode: "document_authenticity_failed",
      profileId: "brainpoolP256r1-sha256-explicit",
      options: { chipAuthentication: "ecdh_aes128" },
      tamper: (files, mrz) => ({
        ...files,
        DG1: buildDg1(buildMrz({ ...mrz, dateOfBirth: `${shortYear(year - 44)}0812` })),
      }),
    },
    {
      id: "passport-altered-portrait",
      title: "Passport with an altered portrait",
      description: "The portrait on the chip was replaced after signing.",
      expectedFailureCode: "document_authenticity_failed",
      profileId: "brainpoolP256r1-sha256-explicit",
      options: { chipAuthentication: "ecdh_aes128" },
      tamper: (files) => ({
        ...files,
        DG2: buildDg2({ image: readPortrait("elder.jpg"), encoding: "ISO_19794_5" }),
      }),
    },
    {
      id: "passport-wrong-signer",
      title: "Passport signed by an impostor",
      description: "Signed with certificates that bear the right names and that no trusted authority issued.",
      expectedFailureCode: "document_authenticity_failed",
      profileId: "brainpoolP256r1-sha256-explicit",
      options: { chipAuthentication: "ecdh_aes128", signerVariant: { realm: "impostor" } },
    },
    {
      id: "passport-revoked-signer",
      title: "Passport of a revoked signer",
      description: "The certificate that signed it is on the revocation list.",
      expectedFailureCode: "document_authenticity_failed",
      profileId: "brainpoolP256r1-sha256-explicit",
      options: { chipAuthentication: "ecdh_aes128", signerVariant: { revoked: true } },
    },
    {
      id: "passport-cloned-chip-authentication",
      title: "Copied chip (chip authentication)",
      description:
        "Every file is genuine, but the chip is a copy and has no private key for chip authentication.",
      expectedFailureCode: "document_chip_authentication_failed",
      profileId: "brainpoolP256r1-sha256-explicit",
      options: { chipAuthentication: "ecdh_aes128", clone: true },
    },
    {
      id: "passport-cloned-active-authentication",
      title: "Copied chip (active authentication)",
      description:
        "Every file is genuine, but the chip is a copy and has no private key to sign the challenge with.",
      expectedFailureCode: "document_active_authentication_failed",
      profileId: "brainpoolP256r1-sha256-explicit",
      options: { activeAuthentication: "rsa", clone: true },
    },
    {
      id: "passport-invalid-data",
      title: "Passport with invalid data",
      description: "Signed as it is, but the check digits of its machine readable zone are wrong.",
      expectedFailureCode: "document_data_invalid",
      profileId: "rsa-2048-sha256",
      options: { chipAuthentication: "ecdh_aes128", spoilMrz: withWrongCompositeDigit },
    },
    {
      id: "passport-liveness",
      title: "Valid passport for a failed liveness check",
      description: "The document passes. Show the camera a still picture, or do not follow the movements.",
      expectedFailureCode: "liveness_failed",
      decidedBy: "face",
      holder: { person: "adult", followsInstructions: false },
      profileId: "secp256r1-sha256-explicit",
      options: { chipAuthentication: "ecdh_aes128" },
    },
    {
      id: "passport-another-face",
      title: "Valid passport of somebody else",
      description:
        "The document passes. Its portrait is of an older man, so another person in front of the camera does not match.",
      expectedFailureCode: "selfie_face_mismatch",
      decidedBy: "face",
      holder: { person: "adult", followsInstructions: true },
      profileId: "brainpoolP512r1-sha512-explicit",
      portrait: "elder.jpg",
      mrz: {
        primaryName: "Stranger",
        secondaryName: "Simon",
        sex: "M",
        dateOfBirth: `${shortYear(year - 68)}0905`,
      },
      options: { chipAuthentication: "ecdh_aes128" },
    },
    {
      id: "passport-no-revocation-list",
      title: "Valid passport without a revocation list",
      description:
        "Its authority publishes no revocation list. It passes with a higher risk score, unless the session requires revocation.",
      expectedFailureCode: null,
      profileId: "unlisted",
      options: { chipAuthentication: "ecdh_aes128" },
    },
  ];
}

/**
 * The documents of the test country for the year of `now`:
 * one for each possible outcome. Seed and year determine every byte.
 */
export function testDocuments(now: Date, seed: string = defaultTestSeed): readonly TestDocument[] {
  const country = createTestCountry(seed, now);
  return entries(country.year).map((entry, index) => makeDocument(country, entry, index));
}

/** One of them, made without the others; null where there is none of this id. */
export function testDocument(id: string, now: Date, seed: string = defaultTestSeed): TestDocument | null {
  const country = createTestCountry(seed, now);
  const all = entries(country.year);
  const index = all.findIndex((entry) => entry.id === id);
  const entry = all[index];
  return entry === undefined ? null : makeDocument(country, entry, index);
}

/** Lists the documents without making them. */
export function listTestDocuments(): readonly Pick<
  TestDocument,
  "id" | "title" | "description" | "expectedFailureCode"
>[] {
  // Only dates depend on the year.
  return entries(0).map(({ id, title, description, expectedFailureCode }) => ({
    id,
    title,
    description,
    expectedFailureCode,
  }));
}

function makeDocument(country: TestCountry, entry: Entry, index: number): TestDocument {
  const number = String(index + 1).padStart(4, "0");
  const mrz: MrzContent = {
    format: "TD3",
    documentCode: "P",
    issuingState: testCountry.threeLetters,
    nationality: testCountry.threeLetters,
    documentNumber: `UT${number}TST`,
    dateOfBirth: `${shortYear(country.year - 34)}0812`,
    dateOfExpiry: `${shortYear(country.year + 5)}1231`,
    sex: "F",
    primaryName: "Specimen",
    secondaryName: "Olivia",
    ...entry.mrz,
  };
  const portrait = entry.portrait ?? "adult.jpg";
  const made = personalise({
    can: `1000${String(index + 1).padStart(2, "0")}`,
    ...entry.options,
    country,
    profile: signerProfile(entry.profileId),
    portrait: readPortrait(portrait),
    mrz,
  });
  const { id, title, description, expectedFailureCode, decidedBy = "chip" } = entry;
  const files = entry.tamper?.(made.files, mrz) ?? made.files;
  return {
    id,
    title,
    description,
    expectedFailureCode,
    decidedBy,
    holder: entry.holder ?? { person: personOf(portrait), followsInstructions: true },
    mrzLines: made.mrzLines,
    files,
    chip: made.chip,
  };
}

function personOf(portrait: PortraitName): TestHolder["person"] {
  switch (portrait) {
    case "adult.jpg":
      return "adult";
    case "child.jpg":
      return "child";
    case "elder.jpg":
    case "elder.jp2":
      return "elder";
  }
}

function withWrongCompositeDigit(lines: readonly string[]): readonly string[] {
  const last = lines.at(-1) ?? "";
  const digit = (Number(last.slice(-1)) + 1) % 10;
  return [...lines.slice(0, -1), `${last.slice(0, -1)}${digit}`];
}
