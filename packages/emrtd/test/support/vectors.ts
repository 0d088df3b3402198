import { existsSync, readFileSync } from "node:fs";
import path from "node:path";

const repositoryRoot = path.resolve(import.meta.dirname, "../../../..");
const folder = process.env.ASSAY_VECTORS ?? path.resolve(repositoryRoot, "../shared/vectors");

/**
 * Chip material made by others, which cannot be part of this repository. Pass it as the `skip` option of a test that
 * has "independent vectors" in its name: the reason is then printed with the skipped test.
 */
export const skipWithoutVectors: string | false = existsSync(path.join(folder, "sod"))
  ? false
  : "independent vectors are absent: set ASSAY_VECTORS to their folder";

/** `relativePath` is for example "sod/AT.sod". */
export function readVector(relativePath: string): Uint8Array {
  return new Uint8Array(readFileSync(path.join(folder, relativePath)));
}
