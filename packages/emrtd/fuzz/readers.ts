import { DATA_READERS } from "./data-readers.ts";
import type { FuzzReader } from "./fuzz-reader.ts";
import { PROTOCOL_READERS } from "./protocol-readers.ts";
import { TRUST_READERS } from "./trust-readers.ts";

/** Every reader of bytes in the package. A reader that is not here is not fuzzed. */
export const READERS: readonly FuzzReader[] = [...DATA_READERS, ...TRUST_READERS, ...PROTOCOL_READERS];
