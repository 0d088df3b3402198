import { needsCardSecurity } from "../chip-authentication-mapping/card-security.ts";
import { isEmrtdError } from "../emrtd-error.ts";
import type { ChipFileName } from "../lds/chip-files.ts";
import type { DataGroupNumber } from "../lds/data-group.ts";
import { readDg1 } from "../lds/dg1.ts";
import { readDg14 } from "../lds/dg14.ts";
import { type DocumentFiles, readSecurityObjectFile } from "../verify/document-content.ts";
import type { Chip } from "./open-chip.ts";

/** The files for verification, small ones first, so that an unreadable document is noticed early. */
export const documentFiles = [
  "SOD",
  "DG1",
  "DG11",
  "DG14",
  "DG15",
  "CardSecurity",
  "DG2",
] as const satisfies readonly ChipFileName[];

export type DocumentFileName = (typeof documentFiles)[number];
export type ReadDocumentFiles = Readonly<Partial<Record<DocumentFileName, Uint8Array>>> &
  Readonly<Record<"SOD" | "DG1" | "DG2", Uint8Array>>;

/** A data group that is read and not listed here does not compile: whatever is read is judged. */
const judgedGroups: Readonly<Record<Exclude<DocumentFileName, "SOD" | "CardSecurity">, DataGroupNumber>> = {
  DG1: 1,
  DG2: 2,
  DG11: 11,
  DG14: 14,
  DG15: 15,
};

/** The read files, in the form that `verifyDocument` takes. */
export function filesToJudge(files: ReadDocumentFiles): DocumentFiles {
  const dataGroups = new Map<DataGroupNumber, Uint8Array>();
  for (const name of documentFiles) {
    const file = files[name];
    if (name !== "SOD" && name !== "CardSecurity" && file !== undefined)
      dataGroups.set(judgedGroups[name], file);
  }
  const { SOD: sod, CardSecurity: cardSecurity } = files;
  return { sod, dataGroups, ...(cardSecurity === undefined ? {} : { cardSecurity }) };
}

/**
 * Reads the files that a document's security object names. EF.COM is unsigned, and in several states missing
 * or wrong, so it is not read. DG11 holds more personal data than needed: it is read only if the century of
 * birth is otherwise open, by `now`. The caller owns and overwrites the result; a failed reading leaves
 * nothing behind.
 */
export async function readDocument(chip: Chip, now: Date): Promise<ReadDocumentFiles> {
  const files: Partial<Record<DocumentFileName, Uint8Array>> = {};
  const read = async (name: DocumentFileName): Promise<Uint8Array> => {
    const file = await chip.readFile(name);
    files[name] = file;
    return file;
  };
  const readIfThere = async (name: DocumentFileName): Promise<void> => {
    try {
      await read(name);
    } catch (error) {
      // Some chips say "not allowed" about files that they do not have.
      if (!isEmrtdError(error) || (error.code !== "FILE_NOT_FOUND" && error.code !== "ACCESS_DENIED"))
        throw error;
    }
  };
  try {
    const sod = await read("SOD");
    const dg1 = await read("DG1");
    const named = groupsNamedIn(sod);
    for (const number of [11, 14, 15] as const) {
      // If the security object is unreadable, try the groups with keys; the judge refuses it anyway.
      if (!(named?.has(number) ?? number !== 11)) continue;
      if (number === 11 && !centuryOfBirthIsOpen(dg1, now)) continue;
      await readIfThere(`DG${number}`);
    }
    const { DG14, DG15 } = files;
    if (DG14 !== undefined && wantsCardSecurity(DG14, DG15 !== undefined)) await readIfThere("CardSecurity");
    const dg2 = await read("DG2");
    return { ...files, SOD: sod, DG1: dg1, DG2: dg2 };
  } catch (error) {
    for (const file of Object.values(files)) file.fill(0);
    throw error;
  }
}

function wantsCardSecurity(dg14: Uint8Array, signsChallenges: boolean): boolean {
  try {
    return needsCardSecurity(readDg14(dg14), signsChallenges);
  } catch (error) {
    // A DG14 that this reader cannot read is for the judge to refuse.
    if (isEmrtdError(error)) return false;
    throw error;
  }
}

function groupsNamedIn(sod: Uint8Array): ReadonlySet<DataGroupNumber> | null {
  try {
    return new Set(readSecurityObjectFile(sod).securityObject.hashes.keys());
  } catch (error) {
    if (isEmrtdError(error)) return null;
    throw error;
  }
}

function centuryOfBirthIsOpen(dg1: Uint8Array, now: Date): boolean {
  try {
    return readDg1(dg1, now).dateOfBirth.otherYears.length > 0;
  } catch (error) {
    if (isEmrtdError(error)) return false;
    throw error;
  }
}
