import { dataReaders } from "./data-readers.ts";
import type { FuzzReader } from "./fuzz-reader.ts";
import { protocolReaders } from "./protocol-readers.ts";
import { trustReaders } from "./trust-readers.ts";

/** Every reader of bytes in the package. A reader that is not here is not fuzzed. */
export const allReaders: readonly FuzzReader[] = [...dataReaders, ...trustReaders, ...protocolReaders];
