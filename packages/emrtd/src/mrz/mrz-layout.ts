export type MrzFormat = "TD1" | "TD2" | "TD3";

/** Allowed characters of a field, used to repair recognized text. */
export type MrzCharacters = "letters" | "digits" | "any" | "sex";

export type MrzField = {
  readonly line: number;
  readonly start: number;
  readonly end: number;
  readonly characters: MrzCharacters;
};

export type MrzLayout = {
  readonly format: MrzFormat;
  readonly lineCount: number;
  readonly lineLength: number;
  readonly documentCode: MrzField;
  readonly issuingState: MrzField;
  readonly documentNumber: MrzField;
  readonly documentNumberCheck: MrzField;
  /** The overflow of a long document number begins here in TD1 and TD2. */
  readonly optionalData: MrzField;
  /** Only TD3 has a check digit for the optional data. */
  readonly optionalDataCheck: MrzField | null;
  readonly secondOptionalData: MrzField | null;
  readonly dateOfBirth: MrzField;
  readonly dateOfBirthCheck: MrzField;
  readonly sex: MrzField;
  readonly dateOfExpiry: MrzField;
  readonly dateOfExpiryCheck: MrzField;
  readonly nationality: MrzField;
  readonly compositeCheck: MrzField;
  readonly name: MrzField;
  /** The parts that the composite check digit runs over, in order. */
  readonly composite: readonly MrzField[];
};

/** Positions as the standard counts them: from 1, both ends included. */
function field(line: number, first: number, last: number, characters: MrzCharacters): MrzField {
  return { line: line - 1, start: first - 1, end: last, characters };
}

const td1: MrzLayout = {
  format: "TD1",
  lineCount: 3,
  lineLength: 30,
  documentCode: field(1, 1, 2, "letters"),
  issuingState: field(1, 3, 5, "letters"),
  documentNumber: field(1, 6, 14, "any"),
  documentNumberCheck: field(1, 15, 15, "digits"),
  optionalData: field(1, 16, 30, "any"),
  optionalDataCheck: null,
  secondOptionalData: field(2, 19, 29, "any"),
  dateOfBirth: field(2, 1, 6, "digits"),
  dateOfBirthCheck: field(2, 7, 7, "digits"),
  sex: field(2, 8, 8, "sex"),
  dateOfExpiry: field(2, 9, 14, "digits"),
  dateOfExpiryCheck: field(2, 15, 15, "digits"),
  nationality: field(2, 16, 18, "letters"),
  compositeCheck: field(2, 30, 30, "digits"),
  name: field(3, 1, 30, "letters"),
  composite: [field(1, 6, 30, "any"), field(2, 1, 7, "any"), field(2, 9, 15, "any"), field(2, 19, 29, "any")],
};

const td2: MrzLayout = {
  format: "TD2",
  lineCount: 2,
  lineLength: 36,
  documentCode: field(1, 1, 2, "letters"),
  issuingState: field(1, 3, 5, "letters"),
  name: field(1, 6, 36, "letters"),
  documentNumber: field(2, 1, 9, "any"),
  documentNumberCheck: field(2, 10, 10, "digits"),
  nationality: field(2, 11, 13, "letters"),
  dateOfBirth: field(2, 14, 19, "digits"),
  dateOfBirthCheck: field(2, 20, 20, "digits"),
  sex: field(2, 21, 21, "sex"),
  dateOfExpiry: field(2, 22, 27, "digits"),
  dateOfExpiryCheck: field(2, 28, 28, "digits"),
  optionalData: field(2, 29, 35, "any"),
  optionalDataCheck: null,
  secondOptionalData: null,
  compositeCheck: field(2, 36, 36, "digits"),
  composite: [field(2, 1, 10, "any"), field(2, 14, 20, "any"), field(2, 22, 35, "any")],
};

const td3: MrzLayout = {
  format: "TD3",
  lineCount: 2,
  lineLength: 44,
  documentCode: field(1, 1, 2, "letters"),
  issuingState: field(1, 3, 5, "letters"),
  name: field(1, 6, 44, "letters"),
  documentNumber: field(2, 1, 9, "any"),
  documentNumberCheck: field(2, 10, 10, "digits"),
  nationality: field(2, 11, 13, "letters"),
  dateOfBirth: field(2, 14, 19, "digits"),
  dateOfBirthCheck: field(2, 20, 20, "digits"),
  sex: field(2, 21, 21, "sex"),
  dateOfExpiry: field(2, 22, 27, "digits"),
  dateOfExpiryCheck: field(2, 28, 28, "digits"),
  optionalData: field(2, 29, 42, "any"),
  optionalDataCheck: field(2, 43, 43, "digits"),
  secondOptionalData: null,
  compositeCheck: field(2, 44, 44, "digits"),
  composite: [field(2, 1, 10, "any"), field(2, 14, 20, "any"), field(2, 22, 43, "any")],
};

const layouts: readonly MrzLayout[] = [td1, td2, td3];

export const mrzLayouts: Readonly<Record<MrzFormat, MrzLayout>> = { TD1: td1, TD2: td2, TD3: td3 };

export function layoutForLength(characters: number): MrzLayout | null {
  for (const layout of layouts) if (layout.lineCount * layout.lineLength === characters) return layout;
  return null;
}

export function textOf(lines: readonly string[], at: MrzField): string {
  return (lines[at.line] ?? "").slice(at.start, at.end);
}
