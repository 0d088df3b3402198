/**
 * `npm run face-eval -- FOLDER`: error rates of the face embedding on an operator's pictures. The folder has
 * a folder per person with at least two pictures (JPEG, JPEG 2000, PNG or WebP), or groups of such folders.
 * `--upright` adds the rates without alignment by landmarks. Nothing is written and nothing leaves the
 * machine.
 */
import { readdirSync } from "node:fs";
import path from "node:path";
import { livenessLimits } from "@assay/face/limits";
import { defaultMatchDistance } from "@assay/face/match";
import { type FaceModels, loadFaceModels } from "../apps/server/src/verification/face/face-models.ts";
import { loadUprightEmbedding } from "../apps/server/test/support/upright-embedding.ts";
import {
  type ErrorRate,
  errorsAt,
  type PairDistances,
  pairDistances,
  pairsNeededFor,
  thresholdFor,
  tryDistances,
} from "./error-rates.ts";
import { type PictureReader, pictureReader } from "./read-picture.ts";

/** Common targets: one stranger in a hundred, a thousand, ten thousand. */
const wantedRates = [0.01, 0.001, 0.0001];
const detThresholds = Array.from({ length: 21 }, (_, index) => (30 + index * 2) / 100);

type Embedding = readonly number[];
type Embed = FaceModels["embed"];
/** A picture of a person: one embedding per method, and whether a try would count it as a straight look. */
type Usable = { readonly embeddings: readonly Embedding[]; readonly isStraight: boolean };
type Person = { readonly group: string; readonly pictures: readonly Usable[] };

/** The usable parts of a picture, or why there are none. */
async function look(
  models: FaceModels,
  ways: readonly Embed[],
  reader: PictureReader,
  file: string,
): Promise<Usable | string> {
  const picture = await reader.read(file);
  if (typeof picture === "string") return picture;
  const [box] = await models.detect(picture);
  if (box === undefined) return "no face was found";
  const face = await models.measure(picture, box);
  const { maxStartYaw, minFaceHeightPixels } = livenessLimits;
  const isStraight = face !== null && Math.abs(face.yaw) <= maxStartYaw && face.size >= minFaceHeightPixels;
  const embeddings: Embedding[] = [];
  for (const embed of ways) embeddings.push(await embed(picture, box));
  return { embeddings, isStraight };
}

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
  lines.push(atThreshold(defaultMatchDistance, "   ← FACE_MATCH_DISTANCE, unless you set it"), "");
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

/** The folders of people, with the group that they are in. */
function peopleIn(folder: string): { readonly group: string; readonly folder: string }[] {
  const foldersIn = (at: string) =>
    readdirSync(at, { withFileTypes: true }).flatMap((entry) =>
      entry.isDirectory() ? [path.join(at, entry.name)] : [],
    );
  return foldersIn(folder).flatMap((first) => {
    const inner = foldersIn(first);
    if (inner.length === 0) return [{ group: "", folder: first }];
    return inner.map((second) => ({ group: path.basename(first), folder: second }));
  });
}

/** Both tables, of one way to make embeddings. */
function tell(people: readonly Person[], way: number): void {
  const embeddingsOf = (take: (picture: Usable) => boolean) =>
    people.map(({ pictures }) =>
      pictures.filter(take).flatMap(({ embeddings }) => {
        const embedding = embeddings[way];
        return embedding === undefined ? [] : [embedding];
      }),
    );
  const distances = pairDistances(embeddingsOf(() => true));
  console.log(`${distances.genuine.length} pairs of one person, ${distances.impostor.length} pairs of two\n`);
  for (const line of report(distances)) console.log(line);
  const tries = tryDistances(embeddingsOf(({ isStraight }) => isStraight));
  console.log(
    `\nAs in a try, the median of four straight pictures against another as the portrait: ${tries.genuine.length} tries of the person, ${tries.impostor.length} of others\n`,
  );
  if (tries.impostor.length > 0) for (const line of report(tries)) console.log(line);
}

async function main([folder, ...options]: readonly string[]): Promise<void> {
  if (folder === undefined) {
    console.error(
      "Usage: npm run face-eval -- FOLDER [--upright], with a folder in it for each person, and their pictures in that",
    );
    process.exitCode = 2;
    return;
  }
  const models = await loadFaceModels();
  const reader = pictureReader();
  const ways: { readonly name: string; readonly embed: Embed }[] = [
    ...(options.includes("--upright")
      ? [{ name: "Before: an upright box around the face", embed: await loadUprightEmbedding() }]
      : []),
    { name: "Faces turned by their landmarks, as the service compares", embed: models.embed },
  ];
  const people: Person[] = [];
  const unusable: string[] = [];
  let [pictures, straight] = [0, 0];
  for (const person of peopleIn(folder)) {
    const usable: Usable[] = [];
    for (const file of readdirSync(person.folder).sort()) {
      pictures++;
      const embeds = ways.map(({ embed }) => embed);
      const found = await look(models, embeds, reader, path.join(person.folder, file));
      if (typeof found === "string")
        unusable.push(`${path.join(path.basename(person.folder), file)}: ${found}`);
      else usable.push(found);
    }
    straight += usable.filter(({ isStraight }) => isStraight).length;
    people.push({ group: person.group, pictures: usable });
  }
  await reader.close();
  console.log(
    `${people.length} people, ${pictures} pictures; no face was found, or nothing could be read, in ${unusable.length}; ${straight} are straight looks`,
  );
  for (const file of unusable) console.log(`  ${file}`);
  const groups = [...new Set(people.map(({ group }) => group))];
  for (const [way, { name }] of ways.entries()) {
    if (ways.length > 1) console.log(`\n## ${name}\n`);
    tell(people, way);
    if (groups.length > 1)
      for (const group of groups) {
        console.log(`\n# Within ${group}\n`);
        tell(
          people.filter((person) => person.group === group),
          way,
        );
      }
  }
  console.log(
    "\nThe 95 % intervals assume independent pairs. Pairs that share a person are not, so with few people the intervals are too narrow.",
  );
}

await main(process.argv.slice(2));
