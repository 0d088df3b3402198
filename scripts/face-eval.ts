/**
 * `npm run face-eval -- FOLDER`: how often the embedding of the face step errs on an operator's own pictures. The folder has a folder for each person, with two or more pictures (JPEG or
 * JPEG 2000). Nothing is written and nothing leaves the machine.
 */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { maxImagePixels } from "@assay/emrtd/lds/image";
import {
  type ErrorRate,
  errorsAt,
  type PairDistances,
  pairDistances,
  pairsNeededFor,
  thresholdFor,
  tryDistances,
} from "@assay/face/error-rates";
import { matchThresholds } from "@assay/face/match";
import { decodePicture, PictureError } from "../apps/server/src/verification/face/decode-picture.ts";
import { type FaceModels, loadFaceModels } from "../apps/server/src/verification/face/face-models.ts";

/** What is asked for most: one stranger in a hundred, a thousand, ten thousand. */
const wantedRates = [0.01, 0.001, 0.0001];
const detThresholds = Array.from({ length: 21 }, (_, index) => (30 + index * 2) / 100);

/** The embedding, or why there is none. */
async function embeddingOf(models: FaceModels, file: string): Promise<readonly number[] | string> {
  const bytes = readFileSync(file);
  try {
    const limits = { kinds: ["jpeg", "jp2", "j2k"], maxPixels: maxImagePixels } as const;
    const picture = await decodePicture(bytes, limits);
    const [box] = await models.detect(picture);
    return box === undefined ? "no face was found" : await models.embed(picture, box);
  } catch (error) {
    if (!(error instanceof PictureError)) throw error;
    const kind = otherKinds.find(({ isKind }) => isKind(bytes.toString("latin1", 0, 16)));
    return kind === undefined ? "it cannot be read" : `it is ${kind.name}; only JPEG and JPEG 2000 are read`;
  }
}

/** By their first bytes, whatever the name of the file says. */
const otherKinds: readonly { readonly name: string; readonly isKind: (start: string) => boolean }[] = [
  { name: "PNG", isKind: (start) => start.startsWith("\x89PNG\r\n\x1a\n") },
  { name: "WebP", isKind: (start) => /^RIFF.{4}WEBP/s.test(start) },
  { name: "GIF", isKind: (start) => /^GIF8[79]a/.test(start) },
  { name: "HEIF or AVIF", isKind: (start) => /^.{4}ftyp(hei|hev|mif1|avi)/s.test(start) },
  { name: "TIFF", isKind: (start) => start.startsWith("II*\0") || start.startsWith("MM\0*") },
  { name: "BMP", isKind: (start) => start.startsWith("BM") },
];

function shown(rate: ErrorRate | null): string {
  if (rate === null) return "not measured";
  const percent = (share: number) => `${(share * 100).toFixed(share < 0.01 ? 3 : 1)} %`;
  return `${percent(rate.share)} (${percent(rate.low)} to ${percent(rate.high)}; ${rate.errors} of ${rate.of})`;
}

function report(distances: PairDistances): string[] {
  const lines = ["threshold  FMR, strangers taken for the person  |  FNMR, the person not recognised"];
  const atThreshold = (threshold: number, note = "") => {
    const { falseMatch, falseNonMatch } = errorsAt(distances, threshold);
    return `${threshold.toFixed(2)}       ${shown(falseMatch)}  |  ${shown(falseNonMatch)}${note}`;
  };
  for (const threshold of detThresholds) lines.push(atThreshold(threshold));
  lines.push(atThreshold(matchThresholds.match, "   ← FACE_MATCH_DISTANCE, unless you set it"), "");
  for (const rate of wantedRates) {
    const threshold = thresholdFor(distances, rate);
    const name = `FACE_MATCH_DISTANCE for an FMR of at most ${rate * 100} %`;
    lines.push(
      threshold === null
        ? `${name}: not measured, it takes ${pairsNeededFor(rate)} pairs of two people or more`
        : `${name}: ${threshold.toFixed(2)}; FNMR there ${shown(errorsAt(distances, threshold).falseNonMatch)}`,
    );
  }
  return lines;
}

async function main(folder: string | undefined): Promise<void> {
  if (folder === undefined) {
    console.error(
      "Usage: npm run face-eval -- FOLDER, with a folder in it for each person, and their pictures in that",
    );
    process.exitCode = 2;
    return;
  }
  const models = await loadFaceModels();
  const people: (readonly number[])[][] = [];
  const unusable: string[] = [];
  let pictures = 0;
  for (const person of readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory())) {
    const embeddings: (readonly number[])[] = [];
    for (const file of readdirSync(path.join(folder, person.name)).sort()) {
      pictures++;
      const embedding = await embeddingOf(models, path.join(folder, person.name, file));
      if (typeof embedding === "string") unusable.push(`${path.join(person.name, file)}: ${embedding}`);
      else embeddings.push(embedding);
    }
    people.push(embeddings);
  }
  const distances = pairDistances(people);
  console.log(
    `${people.length} people, ${pictures} pictures; no face was found, or nothing could be read, in ${unusable.length}`,
  );
  for (const file of unusable) console.log(`  ${file}`);
  console.log(`${distances.genuine.length} pairs of one person, ${distances.impostor.length} pairs of two\n`);
  for (const line of report(distances)) console.log(line);
  const tries = tryDistances(people);
  console.log(
    `\nAs a try compares, the middle of four pictures with another as the portrait: ${tries.genuine.length} tries of the person, ${tries.impostor.length} of somebody else\n`,
  );
  if (tries.impostor.length > 0) for (const line of report(tries)) console.log(line);
  console.log(
    "\nIntervals hold 95 % if pairs were independent; pairs that share a person are not, so few people tell less than the intervals say.",
  );
}

await main(process.argv[2]);
