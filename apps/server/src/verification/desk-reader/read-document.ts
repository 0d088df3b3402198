import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { RandomSource } from "@assay/emrtd/crypto/random";
import { isEmrtdError } from "@assay/emrtd/emrtd-error";
import { readDg1 } from "@assay/emrtd/lds/dg1";
import { isoDate, type MrzDate } from "@assay/emrtd/mrz/mrz-date";
import { compareWithDg14 } from "@assay/emrtd/pace/pace-offers";
import { type AccessKey, type Chip, type ChipProgress, openChip } from "@assay/emrtd/reader/open-chip";
import { type ReadDocumentFiles, readDocument } from "@assay/emrtd/reader/read-document";
import type { ChipProof, ProofResult } from "@assay/emrtd/verify/report";
import { CardAtDesk, type CardWait, type DeskReaders } from "./card-at-desk.ts";
import { proveChip } from "./prove-chip.ts";

type DeskReading = CardWait & {
  accessKey: AccessKey;
  /** Where the files go. Nothing is saved without it. */
  saveTo?: string;
};

/** The judgement of the files, and what to ask the chip for next. */
export type DeskVerdict = {
  lines: readonly string[];
  nextProof: ChipProof | null;
  /** The verdict once the chip was asked for `nextProof`. */
  withProof(result: ProofResult): DeskVerdict;
  /** The document is what it says. False as soon as a check failed. */
  accepted: boolean;
};

type DeskSurroundings = DeskReaders & {
  judge: (files: ReadDocumentFiles) => DeskVerdict;
  now: () => Date;
  random?: RandomSource;
};

/** Reads the document on the reader, judges it and prints both. Resolves with whether it was accepted. */
export async function readDocumentAtDesk(
  reading: DeskReading,
  surroundings: DeskSurroundings,
): Promise<boolean> {
  const { print, random } = surroundings;
  const card = new CardAtDesk(reading, surroundings);
  // Kept if the document slips off during its proof: the next chip must belong to these files.
  let files: ReadDocumentFiles | null = null;
  let verdict: DeskVerdict | null = null;
  try {
    return await card.work(async () => {
      const chip = await openChip(card.transport, reading.accessKey, {
        onProgress: progressPrinter(print),
        ...(random === undefined ? {} : { random }),
      });
      if (files === null) {
        files = await readDocument(chip, surroundings.now());
        // Saved before judging, because a document that fails is the one to examine later.
        if (reading.saveTo !== undefined) await saveFiles(reading.saveTo, files, print);
      }
      verdict ??= surroundings.judge(files);
      while (verdict.nextProof !== null) {
        const proof = verdict.nextProof;
        print(`Asking the chip for ${words(proof)} …`);
        verdict = verdict.withProof(await proveChip(chip, proof, files, random));
        if (verdict.nextProof === proof) throw new Error("A proof was asked for twice");
      }
      for (const line of holderLines(files, surroundings.now())) print(line);
      for (const line of verdict.lines) print(line);
      if (accessDiffers(chip, files))
        print("warning access: the chip offered other keys for opening it than DG14 states");
      return verdict.accepted;
    });
  } finally {
    await card.release();
  }
}

function accessDiffers(chip: Chip, { DG14 }: ReadDocumentFiles): boolean {
  try {
    return (
      chip.cardAccess !== null && DG14 !== undefined && compareWithDg14(chip.cardAccess, DG14) === "differs"
    );
  } catch (error) {
    // A DG14 that cannot be read has failed the checks already.
    if (!isEmrtdError(error)) throw error;
    return false;
  }
}

/** A line when something starts or ends; a bar would not survive being piped. */
function progressPrinter(print: (line: string) => void): (progress: ChipProgress) => void {
  return (progress) => {
    switch (progress.kind) {
      case "connecting":
        return;
      case "opening":
        print(`Opening the chip with ${progress.method} …`);
        return;
      case "opened":
        print(progress.method === "none" ? "The chip needs no key." : `Opened with ${progress.method}.`);
        return;
      case "reopening":
        print("The session was lost; opening a new one.");
        return;
      case "reading":
        if (progress.readBytes === progress.totalBytes)
          print(`Read ${progress.file}: ${progress.totalBytes} bytes`);
        return;
    }
  };
}

function holderLines(files: ReadDocumentFiles, now: Date): string[] {
  try {
    const mrz = readDg1(files.DG1, now);
    return [
      "",
      `Name:         ${[mrz.name.secondary, mrz.name.primary].filter((part) => part !== "").join(" ")}`,
      `Document:     ${mrz.documentCode} ${mrz.documentNumber}, issued by ${mrz.issuingState}`,
      `Nationality:  ${mrz.nationality}`,
      `Born:         ${isoDate(mrz.dateOfBirth) ?? "not fully known"}${openCentury(mrz.dateOfBirth)}`,
      `Expires:      ${isoDate(mrz.dateOfExpiry) ?? (mrz.endless ? "never" : "not stated")}`,
      "",
    ];
  } catch {
    return ["", "The machine readable zone on the chip cannot be read.", ""];
  }
}

/** The desk shows the zone unchanged: the person at the desk sees which century it is. */
function openCentury({ otherYears }: MrzDate): string {
  return otherYears.length === 0 ? "" : ` (or ${otherYears.join(" or ")}: the zone has two digits)`;
}

/** Readable by their owner only, and never over an existing file. */
async function saveFiles(
  folder: string,
  files: ReadDocumentFiles,
  print: (line: string) => void,
): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const [name, bytes] of Object.entries(files)) {
    await writeFile(join(folder, `${name}.bin`), bytes, { mode: 0o600, flag: "wx" });
  }
  print(`Saved ${Object.keys(files).join(", ")} to ${folder}`);
}

function words(name: string): string {
  return name.replaceAll("_", " ");
}
