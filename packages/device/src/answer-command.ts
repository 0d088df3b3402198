import { fromBase64, toBase64 } from "@assay/emrtd/base64";
import { isEmrtdError } from "@assay/emrtd/emrtd-error";
import { type AnsweringChip, carryCommands } from "@assay/emrtd/reader/carry-commands";
import type { ChipCommand, ReadProblem } from "./device-state.ts";

/**
 * Passes commands of the service on to the chip, as socket messages.
 * "lost" means that the chip left the field.
 */
export async function answerCommand(
  chip: AnsweringChip,
  { kind, commands }: Pick<ChipCommand, "kind" | "commands">,
): Promise<string[] | "lost"> {
  try {
    const answers = await carryCommands(chip, { kind, commands: commands.map(fromBase64) });
    return answers.map(toBase64);
  } catch (error) {
    // A chip that needs a reset by a person returns like one that left the field.
    if (isEmrtdError(error) && (error.code === "CHIP_LOST" || error.code === "RESET_NEEDED")) return "lost";
    throw error;
  }
}

/** The problem that the person sees for an error of opening, reading or passing on. */
export function problemOf(error: unknown): ReadProblem {
  if (!isEmrtdError(error)) return "device";
  switch (error.code) {
    case "CHIP_LOST":
    case "RESET_NEEDED":
      return "lost";
    case "ACCESS_KEY_INVALID":
    case "BAC_FAILED":
    case "PACE_FAILED":
      return "key";
    case "PROTOCOL_UNSUPPORTED":
    case "ALGORITHM_UNSUPPORTED":
    case "FILE_TOO_LARGE":
      return "unsupported";
    case "APDU_INVALID":
    case "BYTES_INVALID":
      return "device";
    default:
      return "unreadable";
  }
}
