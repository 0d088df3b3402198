import type { ChipTransport } from "@assay/emrtd/apdu/transport";
import { type AccessKey, type Chip, type ChipProgress, openChip } from "@assay/emrtd/reader/open-chip";
import { readDocument } from "@assay/emrtd/reader/read-document";
import { answerCommand } from "./answer-command.ts";
import type { ReadStep } from "./device-flow.ts";
import type { OpenedChip } from "./drive-device.ts";

/** Opens the chip in the field of `transport` with what is printed on its document. */
export async function openDocument(
  transport: ChipTransport,
  key: AccessKey,
  onStep: (step: ReadStep) => void,
  release: () => void,
): Promise<OpenedChip> {
  const onProgress = (progress: ChipProgress) => onStep(stepOf(progress));
  const chip = await openChip(transport, key, { onProgress }).catch((error: unknown) => {
    // Nobody holds a chip that did not open, so nobody else could let it go.
    release();
    throw error;
  });
  return openedChip(chip, { release });
}

/** A chip of the reader as the device's driver takes it. What is not given is done in the plain way. */
export function openedChip(
  chip: Chip,
  own: Partial<Pick<OpenedChip, "readFiles" | "reopen" | "release">>,
): OpenedChip {
  return {
    readFiles: own.readFiles ?? (() => readDocument(chip)),
    reopen: own.reopen ?? (() => chip.open()),
    release: own.release ?? (() => {}),
    answer: (command) => answerCommand(chip, command),
  };
}

function stepOf(progress: ChipProgress): ReadStep {
  switch (progress.step) {
    case "connecting":
    case "reopening":
      return { at: "connecting" };
    case "opening":
    case "opened":
      return { at: "opening" };
    case "reading":
      return {
        at: progress.file === "DG2" ? "portrait" : "data",
        readBytes: progress.readBytes,
        totalBytes: progress.totalBytes,
      };
  }
}
