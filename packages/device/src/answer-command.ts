import { fromBase64, toBase64 } from "@assay/emrtd/base64";
import { type EmrtdError, isEmrtdError } from "@assay/emrtd/emrtd-error";
import type { Chip } from "@assay/emrtd/reader/open-chip";
import type { ChipCommand, ReadProblem } from "./device-flow.ts";

export type AnsweringChip = Pick<Chip, "forwardInSession" | "forwardSealed" | "activeAuthentication">;

/**
 * Passes commands of the service on to the chip. Where the chip refuses one, there are fewer answers than commands, and
 * the service judges that; "lost" means that the chip left the field. Any other error is a fault of this device and is
 * thrown: as an answer it would count as a refusal of the chip, and an honest document would fail for a fault of ours.
 */
export async function answerCommand(
  chip: AnsweringChip,
  { kind, commands }: Pick<ChipCommand, "kind" | "commands">,
): Promise<string[] | "lost"> {
  try {
    const bytes = commands.map(fromBase64);
    const [first = new Uint8Array(0)] = bytes;
    switch (kind) {
      case "in_session":
        return (await chip.forwardInSession(bytes)).map(toBase64);
      case "sealed":
        return [toBase64(await chip.forwardSealed(first))];
      case "challenge":
        return [toBase64(await chip.activeAuthentication(first))];
    }
  } catch (error) {
    if (!isEmrtdError(error)) throw error;
    if (error.code === "CHIP_LOST") return "lost";
    if (isRefusal(error)) return [];
    throw error;
  }
}

/** The chip answered, with a status word that is no success or with something that is no answer. */
function isRefusal({ code, statusWord }: EmrtdError): boolean {
  return statusWord !== null || code === "CHIP_RESPONSE_INVALID" || code === "SECURE_MESSAGING_FAILED";
}

/** What a person is told about an error of opening, reading or passing on. */
export function problemOf(error: unknown): ReadProblem {
  if (!isEmrtdError(error)) return "device";
  switch (error.code) {
    case "CHIP_LOST":
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
