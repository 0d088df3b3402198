import type { FuzzTarget } from "../../../scripts/fuzz/fuzz-target.ts";
import { CredentialError } from "../src/credential-error.ts";
import { cborReaders } from "./cbor-readers.ts";
import { joseReaders } from "./jose-readers.ts";

/** Every reader of bytes in the package. A reader that is not here is not fuzzed. */
export const walletTarget: FuzzTarget = {
  readers: [...cborReaders, ...joseReaders],
  refusal: CredentialError,
  canaries: /Čapek|Ærø|1990-02-28|T220001293|ERIKSSON/,
  maxMilliseconds: 500,
  maxResidentMegabytes: 64,
};
