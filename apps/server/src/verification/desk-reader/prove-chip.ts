import { type RandomSource, secureRandom } from "@assay/emrtd/crypto/random";
import { carryCommands } from "@assay/emrtd/reader/carry-commands";
import type { Chip } from "@assay/emrtd/reader/open-chip";
import {
  beginChipProof,
  continueChipProof,
  overwriteChipProof,
  type ProofFiles,
} from "@assay/emrtd/verify/prove-chip";
import type { ChipProof, ProofResult } from "@assay/emrtd/verify/report";

/**
 * Asks the chip in the reader to prove that it is no copy. The desk acts as server and device: it makes the
 * commands, sends them and judges the answers. A chip that leaves the field has not failed.
 */
export async function proveChip(
  chip: Chip,
  proof: ChipProof,
  files: ProofFiles,
  random: RandomSource = secureRandom,
): Promise<ProofResult> {
  let step = beginChipProof(proof, files, random);
  while (step.kind === "ask") {
    const { state, ask } = step;
    try {
      step = continueChipProof(state, await carryCommands(chip, ask), files, random);
    } finally {
      overwriteChipProof(state);
    }
  }
  return step.verdict;
}
