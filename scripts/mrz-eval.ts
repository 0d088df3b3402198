/**
 * `npm run mrz-eval -- FOLDER`: how many documents the reader of the printed lines reads on an operator's own pictures (JPEG or PNG). What each says stands in a text file of the same name
 * beside it (the lines of its zone, or nothing where there is none), or for all of them in `labels.csv`. A folder in it is a film: its pictures in the order of their names are frames of one document, as the camera
 * sees them, and `lines.txt` in it is what the document says. Nothing is written and nothing leaves the machine; of the lines nothing is printed.
 */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { maxImagePixels } from "@assay/emrtd/lds/image";
import { type MrzKeyFields, mrzInformation } from "@assay/emrtd/mrz/mrz-key";
import { keyFieldsOf, parseMrz } from "@assay/emrtd/mrz/parse-mrz";
import { rateOf } from "@assay/face/error-rates";
import { addSight, nothingSeen } from "@assay/mrz-reader/film";
import { greyOf } from "@assay/mrz-reader/grey";
import { loadReader } from "@assay/mrz-reader/node/load-reader";
import { readPhoto } from "@assay/mrz-reader/photo";
import { decodePicture, PictureError } from "../apps/server/src/verification/face/decode-picture.ts";
import { decodePng, type Pixels, PngError } from "./decode-png.ts";

type Outcome = "right" | "wrong" | "not_read" | "rightly_none" | "unusable" | "no_label";

/** The key that the lines say; null where it is said that there is no zone. */
function keyIn(lines: string, at: Date): string | null {
  const text = lines.replace(/[ \t]/g, "").trim();
  return text === "" ? null : mrzInformation(keyFieldsOf(parseMrz(text, at)));
}

const pictureName = /\.(?:jpe?g|png)$/i;

/** What stands in the labels for each picture of the folder that has one. */
function labelsIn(folder: string): ReadonlyMap<string, string> {
  const labels = new Map<string, string>();
  const table = path.join(folder, "labels.csv");
  if (existsSync(table))
    for (const row of readFileSync(table, "utf8").split(/\r?\n/)) {
      // The picture, then each of its lines; names and zones hold no comma and no quotation mark.
      const [name = "", ...lines] = row.split(/[,;]/).map((cell) => cell.trim().replace(/^"|"$/g, ""));
      if (pictureName.test(name)) labels.set(name, lines.join("\n"));
    }
  for (const name of readdirSync(folder).filter((file) => pictureName.test(file))) {
    const beside = path.join(folder, name.replace(pictureName, ".txt"));
    if (existsSync(beside)) labels.set(name, readFileSync(beside, "utf8"));
  }
  for (const name of readdirSync(folder)) {
    const inside = path.join(folder, name, "lines.txt");
    if (existsSync(inside) && framesIn(path.join(folder, name)).length > 0)
      labels.set(name, readFileSync(inside, "utf8"));
  }
  return labels;
}

/** A label that is no zone is the operator's mistake, and is told as one. */
function keyOf(lines: string, at: Date): string | null | "no_label" {
  try {
    return keyIn(lines, at);
  } catch {
    return "no_label";
  }
}

async function pixelsOf(file: string): Promise<Pixels> {
  const bytes = readFileSync(file);
  if (/\.png$/i.test(file)) return decodePng(bytes, maxImagePixels);
  return decodePicture(bytes, { kinds: ["jpeg"], maxPixels: maxImagePixels });
}

/** The names of the frames of a film, in order; none where this is no folder. */
function framesIn(film: string): readonly string[] {
  if (!statSync(film).isDirectory()) return [];
  return readdirSync(film)
    .filter((file) => pictureName.test(file))
    .sort();
}

/** The key that the page would accept while the camera sees these frames. */
async function readFilm(
  reader: ReturnType<typeof loadReader>,
  film: string,
  at: Date,
): Promise<MrzKeyFields | null> {
  let seen = nothingSeen;
  for (const frame of framesIn(film)) {
    const { rgb, width, height } = await pixelsOf(path.join(film, frame));
    const added = addSight(seen, reader.look(greyOf(rgb, width, height, 3), at));
    if (added.accepted !== null) return added.accepted;
    seen = added.film;
  }
  return null;
}

async function readPicture(reader: ReturnType<typeof loadReader>, picture: string, at: Date) {
  const { rgb, width, height } = await pixelsOf(picture);
  return readPhoto(reader, greyOf(rgb, width, height, 3), at);
}

async function outcomeOf(
  reader: ReturnType<typeof loadReader>,
  picture: string,
  expected: string | null,
  at: Date,
): Promise<Outcome> {
  try {
    const read = await (statSync(picture).isDirectory() ? readFilm : readPicture)(reader, picture, at);
    if (read === null || read === "visa") return expected === null ? "rightly_none" : "not_read";
    return mrzInformation(read) === expected ? "right" : "wrong";
  } catch (error) {
    if (error instanceof PictureError || error instanceof PngError) return "unusable";
    throw error;
  }
}

async function main(folder: string | undefined): Promise<void> {
  if (folder === undefined || !existsSync(folder)) {
    console.error(
      "Usage: npm run mrz-eval -- FOLDER, with pictures (JPEG or PNG) in it, and the lines of each in a text file of the same name or in labels.csv; a folder in it with lines.txt is a film",
    );
    process.exitCode = 2;
    return;
  }
  const reader = loadReader();
  const at = new Date();
  const outcomes = new Map<Outcome, string[]>();
  const labels = labelsIn(folder);
  for (const [file, lines] of [...labels].sort(([a], [b]) => a.localeCompare(b))) {
    const picture = path.join(folder, file);
    const expected = existsSync(picture) ? keyOf(lines, at) : "no_label";
    const outcome = expected === "no_label" ? expected : await outcomeOf(reader, picture, expected, at);
    outcomes.set(outcome, [...(outcomes.get(outcome) ?? []), file]);
  }
  const count = (outcome: Outcome) => outcomes.get(outcome)?.length ?? 0;
  const documents = count("right") + count("wrong") + count("not_read");
  const share = (part: number, of: number) => {
    const rate = rateOf(part, of);
    if (rate === null) return "not measured";
    return `${part} of ${of} (95 %: ${(rate.low * 100).toFixed(1)} to ${(rate.high * 100).toFixed(1)} %)`;
  };
  console.log(`key right: ${share(count("right"), documents)}`);
  console.log(`wrong key accepted: ${share(count("wrong"), documents + count("rightly_none"))}`);
  console.log(
    `without a zone, and nothing read: ${count("rightly_none")}; no picture that can be read: ${count("unusable")}; without picture, or with a label that is no zone: ${count("no_label")}`,
  );
  for (const outcome of ["wrong", "not_read", "unusable", "no_label"] as const)
    for (const file of outcomes.get(outcome) ?? []) console.log(`  ${outcome}: ${file}`);
}

await main(process.argv[2]);
