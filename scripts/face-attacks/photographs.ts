import { readdirSync } from "node:fs";
import path from "node:path";
import { type Challenge, newChallenge } from "@assay/face/challenge";
import type { FailureReason } from "@assay/face/failure-reason";
import { livenessLimits } from "@assay/face/limits";
import { copyDistance, defaultMatchDistance } from "@assay/face/match";
import { type Box, distanceOf, type FaceMeasurement, type FrameMeasurement } from "@assay/face/measurement";
import { isBent, straightLookFor, turnChange } from "@assay/face/turn-change";
import { encode } from "jpeg-js";
import { createLog } from "../../apps/server/src/platform/lib/log.ts";
import { Metrics } from "../../apps/server/src/platform/lib/metrics.ts";
import type { DecodedPicture } from "../../apps/server/src/verification/face/decode-picture.ts";
import { defaultJobLimits } from "../../apps/server/src/verification/face/face-job.ts";
import {
  createFaceJudge,
  type FaceJudge,
  type FaceMeasurer,
} from "../../apps/server/src/verification/face/face-judge.ts";
import { surroundingsAt } from "../../apps/server/src/verification/face/face-light.ts";
import { type FaceModels, loadFaceModels } from "../../apps/server/src/verification/face/face-models.ts";
import { measureFaces } from "../../apps/server/src/verification/face/measure-faces.ts";
import { type Bend, filmOfBentStill, wholeHead } from "../../apps/server/test/support/bent-still.ts";
import { type ErrorRate, rateOf } from "../error-rates.ts";
import { pictureReader } from "../read-picture.ts";
import { seeded } from "./films.ts";
import { filmOfSwappedFace } from "./swapped-film.ts";

/** A photograph of a person, looked at. */
type Look = {
  readonly picture: DecodedPicture;
  readonly box: Box;
  readonly face: FaceMeasurement;
  readonly embedding: readonly number[];
};

/** Manipulations of one photograph. Each is judged as a whole try, against the chip's portrait. */
const attacks = [
  "the chip's portrait, bent",
  "the same, blurred",
  "another photograph, bent",
  "another photograph, its whole head bent",
  "another photograph, pasted into another's film",
] as const;
type Attack = (typeof attacks)[number];

const unseen: readonly FailureReason[] = ["face_still", "movement_missing", "movement_wrong"];

/** An attacker can find the smallest bend that counts as a turn, because the networks are public. */
const bends: readonly Bend[] = [22, 30, 38, 46].map((yaw) => ({ yaw, pitch: yaw, depth: 0.8 }));

/** Degrees up to which a look of a genuine film is straight, as for embeddings. */
const straightDegrees = 9;

type Outcome = {
  readonly attack: Attack;
  readonly reasons: readonly FailureReason[];
  readonly passed: boolean;
};

/** Attacks and genuine looks on a folder with a folder of photographs for each person; lines to print. */
export async function attackPhotographs(folder: string): Promise<string[]> {
  const models = await loadFaceModels();
  const judge = judgeOf((job) => measureFaces(models, job, defaultJobLimits));
  const outcomes: Outcome[] = [];
  const genuine = { pairs: 0, copies: 0, turned: [] as boolean[] };
  let people = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (!entry.isDirectory()) continue;
    const looks = await looksIn(models, path.join(folder, entry.name));
    const straight = looks.filter(({ face }) => Math.abs(face.yaw) <= livenessLimits.maxStartYaw);
    const [portrait, other] = straight.sort((a, b) => Math.abs(a.face.yaw) - Math.abs(b.face.yaw));
    if (portrait === undefined) continue;
    people++;
    countGenuine(portrait, straight, looks, genuine);
    for (const attack of attacks) {
      const source = attack.startsWith("another") ? other : portrait;
      if (source === undefined) continue;
      const outcome = await tryAttack({ judge, models }, portrait, source, attack, people);
      if (outcome !== null) outcomes.push(outcome);
    }
  }
  return report(people, outcomes, genuine);
}

/** The judge as shipped, in this process. */
export function judgeOf(run: FaceMeasurer["run"], colours: "risk" | "require" = "risk"): FaceJudge {
  return createFaceJudge({
    log: createLog({ level: "error", write: () => undefined, now: () => new Date() }),
    metrics: new Metrics(),
    colours,
    measurer: {
      warmUp() {},
      hasCapacity: () => true,
      run,
      look: () => null,
      async close() {},
    },
  });
}

async function looksIn(models: FaceModels, folder: string): Promise<Look[]> {
  const reader = pictureReader();
  const looks: Look[] = [];
  for (const file of readdirSync(folder).sort()) {
    const picture = await reader.read(path.join(folder, file));
    if (typeof picture === "string") continue;
    const found = await models.detect(picture);
    const [box] = found;
    if (box === undefined || found.length > 1) continue;
    const face = await models.measure(picture, box);
    if (face !== null && face.size >= livenessLimits.minFaceHeightPixels)
      looks.push({ picture, box, face, embedding: await models.embed(picture, box) });
  }
  await reader.close();
  return looks;
}

/** The checks' results for photographs, or frames of a film in order, that were not bent. */
function countGenuine(
  portrait: Look,
  straight: readonly Look[],
  looks: readonly Look[],
  counts: { pairs: number; copies: number; turned: boolean[] },
): void {
  for (const one of straight) {
    if (one === portrait) continue;
    counts.pairs++;
    if (distanceOf(one.embedding, portrait.embedding) < copyDistance(defaultMatchDistance)) counts.copies++;
  }
  const frames = looks.map(
    ({ face, picture }, atMs): FrameMeasurement => ({
      ...{ atMs, receivedAtMs: atMs, faces: 1, width: picture.width, height: picture.height, face },
    }),
  );
  const ahead = frames.filter(({ face }) => face !== null && Math.abs(face.yaw) <= straightDegrees);
  const compared = frames.flatMap((frame, index): FrameMeasurement[] => {
    const { width, height, face } = frame;
    const same = ahead.filter((other) => other.width === width && other.height === height);
    const other = straightLookFor(frame, same);
    const [turnedLook, straightLook] = [looks[index], other === null ? undefined : looks[other.atMs]];
    if (face === null || turnedLook === undefined || straightLook === undefined) return [];
    const [one, two] = [straightLook, turnedLook].map(({ picture }) =>
      surroundingsAt(picture, straightLook.face.box),
    );
    const change = turnChange(one ?? [], two ?? []);
    return change === null ? [] : [{ ...frame, face: { ...face, turnChange: change } }];
  });
  if (compared.length > 0) counts.turned.push(isBent(furthestOf(compared)));
}

/** The looks that a try would compare: furthest to either side, and up. */
function furthestOf(frames: readonly FrameMeasurement[]): FrameMeasurement[] {
  const furthest = (value: (face: FaceMeasurement) => number) =>
    frames.reduce<FrameMeasurement | null>((most, next) => {
      if (next.face === null) return most;
      return most?.face === null || most === null || value(next.face) > value(most.face) ? next : most;
    }, null);
  const picks = [furthest(({ yaw }) => yaw), furthest(({ yaw }) => -yaw), furthest(({ pitch }) => pitch)];
  return [...new Set(picks.filter((frame) => frame !== null))];
}

/** Null if the photograph could not be bent far enough to count as turned, or not be pasted. */
async function tryAttack(
  { judge, models }: { readonly judge: FaceJudge; readonly models: FaceModels },
  portrait: Look,
  source: Look,
  attack: Attack,
  seed: number,
): Promise<Outcome | null> {
  const random = seeded(seed);
  const challenge: Challenge = newChallenge((below) => Math.floor(random() * below));
  const chip = jpegOf(portrait.picture);
  let last: Outcome | null = null;
  for (const bend of bends) {
    const blur = attack === "the same, blurred" ? 1.6 : 0;
    const how = attack === "another photograph, its whole head bent" ? { ...bend, radius: wholeHead } : bend;
    const frames =
      attack === "another photograph, pasted into another's film"
        ? await filmOfSwappedFace(models, source, "adult", challenge, random)
        : filmOfBentStill(source.picture, source.face.box, challenge, { bend: how, random, blur });
    if (frames === null) return null;
    const verdict = await judge.judge({ challenge, frames, portrait: chip, sandbox: false });
    if (verdict.kind === "fault") return null;
    if (verdict.kind === "passed") return { attack, reasons: [], passed: true };
    last = { attack, reasons: verdict.reasons, passed: false };
    // Further bending only helps where the network did not see the movement.
    if (!verdict.reasons.every((reason) => unseen.includes(reason))) return last;
  }
  return last;
}

function jpegOf({ width, height, rgb }: DecodedPicture): Uint8Array {
  const data = new Uint8Array(width * height * 4).fill(255);
  for (let from = 0, to = 0; from < rgb.length; from += 3, to += 4)
    data.set(rgb.subarray(from, from + 3), to);
  return new Uint8Array(encode({ data, width, height }, 92).data);
}

function report(
  people: number,
  outcomes: readonly Outcome[],
  genuine: { pairs: number; copies: number; turned: readonly boolean[] },
): string[] {
  const lines = [`${people} people`, "| Attack | Passes the step (APCER) | Refused by |", "|---|---|---|"];
  for (const attack of attacks) {
    const of = outcomes.filter((outcome) => outcome.attack === attack);
    const reasons = new Map<string, number>();
    for (const reason of of.flatMap((outcome) => outcome.reasons))
      reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
    const named = [...reasons].sort((a, b) => b[1] - a[1]).map(([reason, count]) => `\`${reason}\` ${count}`);
    lines.push(
      `| ${attack} | ${shown(rateOf(of.filter(({ passed }) => passed).length, of.length))} | ${named.join(", ")} |`,
    );
  }
  return [
    ...lines,
    "",
    `BPCER of \`portrait_copied\`, by straight photographs of one person, which has to be from different days: ${shown(rateOf(genuine.copies, genuine.pairs))}`,
    `BPCER of \`face_bent\`, by people with photographs of one size in which they are turned: ${shown(rateOf(genuine.turned.filter((bent) => bent).length, genuine.turned.length))}`,
  ];
}

export function shown(rate: ErrorRate | null): string {
  if (rate === null) return "not measured";
  const percent = (share: number) => `${(share * 100).toFixed(1)} %`;
  return `${percent(rate.share)} (${percent(rate.low)} to ${percent(rate.high)}; ${rate.errors} of ${rate.of})`;
}
