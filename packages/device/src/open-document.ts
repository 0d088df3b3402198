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
import type { ReadStep } from "./device-state.ts";
import type { OpenedChip } from "./drive-device.ts";

/**
 * How often a chip may leave the field and return in one reading. Fewer: shaky hands must start over. More: a
 * person who holds the document in the wrong place gets no hint.
 */
const maxReturns = 3;

/**
 * Opens the chip in the field of `transport` with the printed key of its document. `comesBack` tells for an
 * error whether the chip left the field while the reader still looks for it. Then the work restarts when it
 * returns.
 */
export async function openDocument(
  transport: ChipTransport,
  key: AccessKey,
  onStep: (step: ReadStep) => void,
  release: () => void,
  {
    comesBack = () => false,
    ...options
  }: Pick<OpenChipOptions, "waitsForReturn"> & { comesBack?: (error: unknown) => boolean } = {},
): Promise<OpenedChip> {
  const onProgress = (progress: ChipProgress) => onStep(stepOf(progress));
  let returns = 0;
  const untilDone = async <T>(work: (again: boolean) => Promise<T>): Promise<T> => {
    for (let again = false; ; again = true) {
      try {
        return await work(again);
      } catch (error) {
        if (returns >= maxReturns || !comesBack(error)) throw error;
        returns += 1;
      }
    }
  };
  const chip = await untilDone(() => openChip(transport, key, { ...options, onProgress })).catch(
    (error: unknown) => {
      // The caller gets no chip to release when opening fails, so it is released here.
      release();
      throw error;
    },
  );
  return openedChip(chip, {
    release,
    readFiles: () =>
      untilDone(async (again) => {
        if (again) await chip.open();
        return await readDocument(chip, new Date());
      }),
    reopen: () => untilDone(() => chip.open()),
  });
}

/** Wraps an opened chip for the device's driver. Functions not given in `own` have a plain default. */
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
  switch (progress.kind) {
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
