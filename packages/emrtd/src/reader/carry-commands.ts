import { type EmrtdError, isEmrtdError } from "../emrtd-error.ts";
import type { ChipCommands } from "../proof-step.ts";
import type { Chip } from "./open-chip.ts";

export type AnsweringChip = Pick<Chip, "forwardInSession" | "forwardSealed" | "activeAuthentication">;

/**
 * The device's part in a proof of the chip: it passes the commands on and brings the answers back, none of which it has
 * to understand. Where the chip refuses one there are fewer answers than commands, which is for the judge to judge. A
 * chip that is gone has not answered: CHIP_LOST is thrown, and the proof can be begun again. Any other error is a fault
 * of this reader and is thrown too: as an answer it would count as a refusal of the chip, and an honest document would
 * fail for a fault of ours.
 */
export async function carryCommands(
  chip: AnsweringChip,
  { kind, commands }: ChipCommands,
): Promise<readonly Uint8Array[]> {
  const [first = new Uint8Array(0)] = commands;
  try {
    switch (kind) {
      case "in_session":
        return await chip.forwardInSession(commands);
      case "sealed":
        return [await chip.forwardSealed(first)];
      case "challenge":
        return [await chip.activeAuthentication(first)];
    }
  } catch (error) {
    if (isEmrtdError(error) && isRefusal(error)) return [];
    throw error;
  }
}

/** The chip answered, with a status word that is no success or with something that is no answer. */
function isRefusal({ code, statusWord }: EmrtdError): boolean {
  if (code === "CHIP_LOST" || code === "RESET_NEEDED") return false;
  return statusWord !== null || code === "CHIP_RESPONSE_INVALID" || code === "SECURE_MESSAGING_FAILED";
}
