/**
 * `npm run mrz-eval -- FOLDER`: how many documents the reader of the printed lines reads on an operator's
 * pictures (JPEG, PNG or WebP). A text file of the same name holds the lines of each picture, or nothing if
 * there is no zone; `labels.csv` may hold them for all. A subfolder is a film: its pictures, sorted by name,
 * are frames of one document, and `lines.txt` has its lines. Nothing is written, printed of the lines, or
 * sent.
 */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { type MrzKeyFields, mrzInformation } from "@assay/emrtd/mrz/mrz-key";
import { keyFieldsOf, parseMrz } from "@assay/emrtd/mrz/parse-mrz";
import { addSight, nothingSeen } from "@assay/mrz-reader/film";
import { greyOf } from "@assay/mrz-reader/grey";
import type { Plane } from "@assay/mrz-reader/network";
import { readPhoto } from "@assay/mrz-reader/photo";
import { loadReader } from "../packages/mrz-reader/test/support/load-reader.ts";
import { rateOf } from "./error-rates.ts";
import { type PictureReader, pictureReader } from "./read-picture.ts";

type Outcome = "right" | "wrong" | "not_read" | "rightly_none" | "unusable" | "no_label";

/** The key that the lines say; null where it is said that there is no zone. */
function keyIn(lines: string, at: Date): string | null {
  const text = lines.replace(/[ \t]/g, "").trim();
  return text === "" ? null : mrzInformation(keyFieldsOf(parseMrz(text, at)));
}

const pictureName = /\.(?:jpe?g|png|webp)$/i;

/** The labels of the pictures in the folder that have one. */
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

/** A label that is no zone is a mistake of the operator and is reported. */
function keyOf(lines: string, at: Date): string | null | "no_label" {
  try {
    return keyIn(lines, at);
  } catch {
    return "no_label";
  }
}

/** The input of the line reader for a picture; null if it cannot be decoded. */
async function planeOf(pictures: PictureReader, file: string): Promise<Plane | null> {
  const picture = await pictures.read(file);
  return typeof picture === "string" ? null : greyOf(picture.rgb, picture.width, picture.height, 3);
}

/** The names of the frames of a film, in order; none where this is no folder. */
function framesIn(film: string): readonly string[] {
  if (!statSync(film).isDirectory()) return [];
  return readdirSync(film)
    .filter((file) => pictureName.test(file))
    .sort();
}

type Readers = { readonly lines: ReturnType<typeof loadReader>; readonly pictures: PictureReader };
type Read = MrzKeyFields | "visa" | "unusable" | null;

/** The key that the page would accept while the camera sees these frames. */
async function readFilm({ lines, pictures }: Readers, film: string, at: Date): Promise<Read> {
  let seen = nothingSeen;
  for (const name of framesIn(film)) {
    const frame = await planeOf(pictures, path.join(film, name));
    if (frame === null) return "unusable";
    const added = addSight(seen, lines.look(frame, at));
    if (added.accepted !== null) return added.accepted;
    seen = added.film;
  }
  return null;
}

async function readPicture({ lines, pictures }: Readers, picture: string, at: Date): Promise<Read> {
  const photo = await planeOf(pictures, picture);
  return photo === null ? "unusable" : readPhoto(lines, photo, at);
}

async function outcomeOf(
  readers: Readers,
  picture: string,
  expected: string | null,
  at: Date,
): Promise<Outcome> {
  const read = await (statSync(picture).isDirectory() ? readFilm : readPicture)(readers, picture, at);
  if (read === "unusable") return read;
  if (read === null || read === "visa") return expected === null ? "rightly_none" : "not_read";
  return mrzInformation(read) === expected ? "right" : "wrong";
}

async function main(folder: string | undefined): Promise<void> {
  if (folder === undefined || !existsSync(folder)) {
    console.error(
      "Usage: npm run mrz-eval -- FOLDER. It holds pictures (JPEG, PNG or WebP), with the lines of each in a text file of the same name or in labels.csv. A subfolder with lines.txt is a film",
    );
    process.exitCode = 2;
    return;
  }
  const readers = { lines: loadReader(), pictures: pictureReader() };
  const at = new Date();
  const outcomes = new Map<Outcome, string[]>();
  const labels = labelsIn(folder);
  for (const [file, lines] of [...labels].sort(([a], [b]) => a.localeCompare(b))) {
    const picture = path.join(folder, file);
    const expected = existsSync(picture) ? keyOf(lines, at) : "no_label";
    const outcome = expected === "no_label" ? expected : await outcomeOf(readers, picture, expected, at);
    outcomes.set(outcome, [...(outcomes.get(outcome) ?? []), file]);
  }
  await readers.pictures.close();
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
