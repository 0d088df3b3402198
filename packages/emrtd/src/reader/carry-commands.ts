import { isEmrtdError } from "../emrtd-error.ts";
import type { ChipCommands } from "../proof-step.ts";
import type { Chip } from "./open-chip.ts";

/**
 * The device's part in a proof of the chip: it passes the commands on and brings the answers back, none of which it has to understand. A chip that
 * refuses has answered too, with nothing. One that is gone has not; then CHIP_LOST is thrown, and the proof can be begun again.
 */
export async function carryCommands(
  chip: Chip,
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
    if (!isEmrtdError(error) || error.code === "CHIP_LOST") throw error;
    return [];
  }
}
