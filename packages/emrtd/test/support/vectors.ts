import { readFileSync } from "node:fs";
import path from "node:path";

const folder = process.env.ASSAY_VECTORS ?? "";

/**
 * Chip material made by others, which cannot be part of this repository. Used as the `skip` option of tests.
 */
export const skipWithoutVectors: string | false =
  folder === "" ? "independent vectors are absent: set ASSAY_VECTORS to their folder" : false;

/** `relativePath` is for example "sod/AT.sod". */
export function readVector(relativePath: string): Uint8Array {
  return new Uint8Array(readFileSync(path.join(folder, relativePath)));
}
