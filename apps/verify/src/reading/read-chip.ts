import type { ChipFile } from "@assay/contract/verify-protocol";
import type { ServiceMessage } from "@assay/contract/verify-socket";
import type { ChipTransport } from "@assay/emrtd/apdu/transport";
import { fromBase64, toBase64 } from "@assay/emrtd/base64";
import { isEmrtdError } from "@assay/emrtd/emrtd-error";
import { type AccessKey, type ChipProgress, openChip } from "@assay/emrtd/reader/open-chip";
import { readDocument } from "@assay/emrtd/reader/read-document";
import type { ReadProblem } from "./device-session.ts";

export type ReadStep =
  | { at: "connecting" | "opening" | "sending" | "checking" | "proof" }
  | { at: "data" | "portrait"; readBytes: number; totalBytes: number };

type Files = Readonly<Partial<Record<ChipFile, Uint8Array>>>;
type CommandKind = Extract<ServiceMessage, { type: "chip_command" }>["kind"];

/** A chip in the field, opened with what is printed on its document. */
export type OpenedChip = {
  readFiles(): Promise<Files>;
  /** What was read, or null before. */
  files(): Files | null;
  /** Answers as base64; "lost" when the chip left the field. */
  passOn(kind: CommandKind, commands: readonly string[]): Promise<string[] | "lost">;
  reopen(): Promise<void>;
  release(): void;
};

export async function openForReading(
  transport: ChipTransport,
  key: AccessKey,
  onStep: (step: ReadStep) => void,
  release: () => void,
): Promise<OpenedChip> {
  const onProgress = (progress: ChipProgress) => tell(progress, onStep);
  const chip = await openChip(transport, key, { onProgress }).catch((error: unknown) => {
    // Nobody holds a chip that did not open, so nobody else could let it go.
    release();
    throw error;
  });
  let read: Files | null = null;
  return {
    readFiles: async () => {
      read = await readDocument(chip);
      return read;
    },
    files: () => read,
    reopen: () => chip.open(),
    release,
    passOn: async (kind, commands) => {
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
        if (isEmrtdError(error) && error.code === "CHIP_LOST") return "lost";
        // The chip refused, which the service is to judge: fewer answers than commands say so.
        return [];
      }
    },
  };
}

function tell(progress: ChipProgress, onStep: (step: ReadStep) => void): void {
  switch (progress.step) {
    case "connecting":
    case "reopening":
      onStep({ at: "connecting" });
      return;
    case "opening":
    case "opened":
      onStep({ at: "opening" });
      return;
    case "reading":
      onStep({
        at: progress.file === "DG2" ? "portrait" : "data",
        readBytes: progress.readBytes,
        totalBytes: progress.totalBytes,
      });
  }
}

export function problemOf(error: unknown): ReadProblem {
  if (!isEmrtdError(error)) return "unreadable";
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
    default:
      return "unreadable";
  }
}
