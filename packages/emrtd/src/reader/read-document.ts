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

/** Reads the files of a document. EF.COM, DG14 and DG15 may be absent; the others may not. */
export async function readDocument(chip: Chip): Promise<ReadDocumentFiles> {
  const optional: Partial<Record<DocumentFileName, Uint8Array>> = {};
  const read = async (name: DocumentFileName) => {
    try {
      optional[name] = await chip.readFile(name);
    } catch (error) {
      // Some chips say "not allowed" about files that they do not have.
      if (!isEmrtdError(error) || (error.code !== "FILE_NOT_FOUND" && error.code !== "ACCESS_DENIED"))
        throw error;
    }
  };
  await read("COM");
  const sod = await chip.readFile("SOD");
  const dg1 = await chip.readFile("DG1");
  await read("DG14");
  await read("DG15");
  const dg2 = await chip.readFile("DG2");
  return { ...optional, SOD: sod, DG1: dg1, DG2: dg2 };
}
