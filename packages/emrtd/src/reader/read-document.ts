import { isEmrtdError } from "../emrtd-error.ts";
import type { ChipFileName } from "./chip-files.ts";
import type { Chip } from "./open-chip.ts";

/** What verification needs, the small files first so that an unreadable document is noticed early. */
export const documentFiles = [
  "COM",
  "SOD",
  "DG1",
  "DG14",
  "DG15",
  "DG2",
] as const satisfies readonly ChipFileName[];

export type DocumentFileName = (typeof documentFiles)[number];
export type ReadDocumentFiles = Readonly<Partial<Record<DocumentFileName, Uint8Array>>> &
  Readonly<Record<"SOD" | "DG1" | "DG2", Uint8Array>>;

/**
 * Reads the files of a document. EF.COM, DG14 and DG15 may be absent; the others may not. The caller owns what it gets, and
 * overwrites it when it is no longer needed; of a reading that fails nothing is left.
 */
export async function readDocument(chip: Chip): Promise<ReadDocumentFiles> {
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
    await readIfThere("COM");
    const sod = await read("SOD");
    const dg1 = await read("DG1");
    await readIfThere("DG14");
    await readIfThere("DG15");
    const dg2 = await read("DG2");
    return { ...files, SOD: sod, DG1: dg1, DG2: dg2 };
  } catch (error) {
    for (const file of Object.values(files)) file.fill(0);
    throw error;
  }
}
