import { fromBase64, toBase64 } from "../base64.ts";
import { EmrtdError } from "../emrtd-error.ts";
import { type DataGroupNumber, dataGroupTags, isDataGroupNumber } from "../lds/data-group.ts";
import type { MrzKeyFields } from "../mrz/mrz-key.ts";
import type { DocumentFiles } from "../verify/document-content.ts";

export type TestFileName = "COM" | "SOD" | "CardSecurity" | `DG${DataGroupNumber}`;

/** The failure that partners see when the document or its holder is refused. */
export type ExpectedFailureCode =
  | "document_data_invalid"
  | "document_authenticity_failed"
  | "document_expired"
  | "document_chip_authentication_failed"
  | "document_active_authentication_failed"
  | "liveness_failed"
  | "selfie_face_mismatch";

/** The private side of the software chip, as `createVirtualChip` takes it. */
export type TestChip = {
  readonly mrzKey: MrzKeyFields;
  readonly can: string;
  readonly pace: readonly { readonly oid: string; readonly parameterId: number }[];
  readonly chipAuthentication: readonly { readonly privateKey: Uint8Array; readonly keyId?: number }[];
  readonly activeAuthentication: {
    readonly privateKey: Uint8Array;
    readonly hash?: "SHA-1" | "SHA-256";
  } | null;
  /** A copy: the files are all there, the private keys are not. */
  readonly clone: boolean;
};

/** The drawn person in front of the camera for a test document. */
export type TestHolder = {
  readonly person: "adult" | "elder" | "child";
  /** Otherwise a still photograph of them is held up. */
  readonly followsInstructions: boolean;
};

/** A document of the test country, with everything that a software chip needs to be it. */
export type TestDocument = {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  /** Null when the document passes. */
  readonly expectedFailureCode: ExpectedFailureCode | null;
  /**
   * The step that the expectation applies to; with `face`, the person in front of the camera counts as well.
   */
  readonly decidedBy: "chip" | "face";
  readonly holder: TestHolder;
  /** The zone as printed, which is what a person types or a camera reads. */
  readonly mrzLines: readonly string[];
  readonly files: Readonly<Partial<Record<TestFileName, Uint8Array>>>;
  readonly chip: TestChip;
};

/** The files as verification takes them. */
export function documentFilesOf({ files }: Pick<TestDocument, "files">): DocumentFiles {
  const dataGroups = new Map<DataGroupNumber, Uint8Array>();
  for (const text of Object.keys(dataGroupTags)) {
    const number = Number(text);
    if (!isDataGroupNumber(number)) continue;
    const file = files[`DG${number}`];
    if (file !== undefined) dataGroups.set(number, file);
  }
  if (files.SOD === undefined) throw new EmrtdError("LDS_INVALID", "The document has no EF.SOD");
  const { SOD: sod, CardSecurity: cardSecurity } = files;
  return { sod, dataGroups, ...(cardSecurity === undefined ? {} : { cardSecurity }) };
}

const bytesMark = "base64:";

/** JSON in which every byte string is text, so that a page can be given a document whole. */
export function serialiseTestDocuments(documents: readonly TestDocument[]): string {
  return JSON.stringify(documents, (_key, value: unknown) =>
    value instanceof Uint8Array ? `${bytesMark}${toBase64(value)}` : value,
  );
}

/** The counterpart of `serialiseTestDocuments`; it reads only that format. */
export function deserialiseTestDocuments(text: string): readonly TestDocument[] {
  const value: unknown = JSON.parse(text, (_key, item: unknown) =>
    typeof item === "string" && item.startsWith(bytesMark) ? fromBase64(item.slice(bytesMark.length)) : item,
  );
  if (!Array.isArray(value)) throw new EmrtdError("BYTES_INVALID", "The test documents are not a list");
  return value as readonly TestDocument[];
}
