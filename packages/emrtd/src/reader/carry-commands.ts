import { type EmrtdError, isEmrtdError } from "../emrtd-error.ts";
import type { ChipCommands } from "../proof-step.ts";
import type { Chip } from "./open-chip.ts";

export type AnsweringChip = Pick<Chip, "forwardInSession" | "forwardSealed" | "activeAuthentication">;

/**
 * The device's part in a proof of the chip: it passes commands on and returns the answers, without
 * understanding them. If the chip refuses a command there are fewer answers, which the judge evaluates. If
 * the chip is gone, CHIP_LOST is thrown, and the proof can restart. Any other error is a fault of this reader
 * and is thrown too. As an answer it would count as a refusal, and an honest document would fail.
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
