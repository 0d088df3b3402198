import type { FuzzTarget } from "../../../scripts/fuzz/fuzz-target.ts";
import { EmrtdError } from "../src/emrtd-error.ts";
import { dataReaders } from "./data-readers.ts";
import { damageBer, damageZone } from "./mutate.ts";
import { protocolReaders } from "./protocol-readers.ts";
import { trustReaders } from "./trust-readers.ts";

/** Every reader of bytes in the package. A reader that is not here is not fuzzed. */
export const chipTarget: FuzzTarget = {
  readers: [...dataReaders, ...trustReaders, ...protocolReaders].map(({ isText = false, ...reader }) => ({
    ...reader,
    damage: isText ? damageZone : damageBer,
  })),
  refusal: EmrtdError,
  canaries: /ERIKSSON|STEVENSON|L898902|D231458|740812|ANNA/,
  maxMilliseconds: 500,
  maxResidentMegabytes: 256,
};
