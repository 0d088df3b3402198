import { cborReaders } from "./cbor-readers.ts";
import type { FuzzReader } from "./fuzz-reader.ts";
import { joseReaders } from "./jose-readers.ts";

/** Every reader of bytes in the package. A reader that is not here is not fuzzed. */
export const allReaders: readonly FuzzReader[] = [...cborReaders, ...joseReaders];
