import type { ChipTransport } from "@assay/emrtd/apdu/transport";
import {
  type AccessKey,
  type Chip,
  type ChipProgress,
  type OpenChipOptions,
  openChip,
} from "@assay/emrtd/reader/open-chip";
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
  options: Pick<OpenChipOptions, "waitsForReturn"> = {},
): Promise<OpenedChip> {
  const onProgress = (progress: ChipProgress) => onStep(stepOf(progress));
  const chip = await openChip(transport, key, { ...options, onProgress }).catch((error: unknown) => {
    // The caller gets no chip to release when opening fails, so it is released here.
    release();
    throw error;
  });
  return openedChip(chip, { release });
}

/** Wraps an opened chip for the device's driver. Functions that are not given in `own` have a plain default. */
export function openedChip(
  chip: Chip,
  own: Partial<Pick<OpenedChip, "readFiles" | "reopen" | "release">>,
): OpenedChip {
  return {
    readFiles: own.readFiles ?? (() => readDocument(chip, new Date())),
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
