import { randomInt } from "node:crypto";
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { readPortrait } from "@assay/emrtd/node/test-country/portraits";
import { type Challenge, newChallenge } from "@assay/face/challenge";
import { colourAt, screenLight } from "@assay/face/colour-schedule";
import { judgeColours } from "@assay/face/colour-signal";
import type { FrameMeasurement } from "@assay/face/measurement";
import { median } from "@assay/face/median";
import { decode, encode } from "jpeg-js";
import { createLog } from "../apps/server/src/platform/lib/log.ts";
import { Metrics } from "../apps/server/src/platform/lib/metrics.ts";
import { decodePicture } from "../apps/server/src/verification/face/decode-picture.ts";
import {
  createFaceJudge,
  type FaceVerdict,
  type JudgedFrame,
} from "../apps/server/src/verification/face/face-judge.ts";
import { loadFaceModels } from "../apps/server/src/verification/face/face-models.ts";
import { FaceWorkerPool } from "../apps/server/src/verification/face/face-worker-pool.ts";
import { filmFace } from "../apps/server/test/support/film-face.ts";

const rounds = 4;
const queueLimit = 2;
const simulations = 2_000;

const challenge: Challenge = {
  movements: ["come_closer", "turn_left", "look_up", "turn_right"],
  colours: ["red", "green", "blue", "white", "blue", "red", "green", "white"],
  colourMs: 900,
  deadlineMs: 45_000,
};
const log = createLog({ level: "error", write: (line) => process.stderr.write(line), now: () => new Date() });

const [frameWidth, frameHeight, frameMs] = [360, 480, 225];

/** The page's size of pictures and pace: every look of the film twice, half as large again. */
function asThePageSends(film: readonly JudgedFrame[]): JudgedFrame[] {
  const enlarged = film.map(({ jpeg }) => {
    const small = decode(jpeg, { useTArray: true });
    const data = new Uint8Array(frameWidth * frameHeight * 4);
    for (let y = 0; y < frameHeight; y++)
      for (let x = 0; x < frameWidth; x++) {
        const row = Math.floor((y * small.height) / frameHeight);
        const from = (row * small.width + Math.floor((x * small.width) / frameWidth)) * 4;
        data.set(small.data.subarray(from, from + 4), (y * frameWidth + x) * 4);
      }
    return new Uint8Array(encode({ data, width: frameWidth, height: frameHeight }, 85).data);
  });
  return enlarged
    .flatMap((jpeg) => [jpeg, jpeg])
    .map((jpeg, index) => {
      const atMs = (index + 1) * frameMs;
      return { jpeg, atMs, receivedAtMs: atMs + 100 };
    });
}

function residentMegabytes(pid: number): string {
  try {
    const [, peak = ""] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return (Number(peak) / 1000).toFixed(0);
  } catch {
    return "?";
  }
}

/** Processor time of a process and its threads; Linux counts in hundredths of a second. */
function processorMilliseconds(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
    return (Number(fields[11]) + Number(fields[12])) * 10;
  } catch {
    return Number.NaN;
  }
}

/**
 * Time and memory of one judgement, judgements per minute on this machine,
 * and the behaviour at twice that load.
 */
export async function run(): Promise<void> {
  const workers = Math.min(2, availableParallelism());
  const frames = asThePageSends(filmFace(challenge, { reflection: 0.05 }));
  const input = { challenge, frames, portrait: readPortrait("adult.jpg"), sandbox: false };

  const pool = new FaceWorkerPool({ log, workers, queueLimit: queueLimit, jobTimeoutMs: 120_000 });
  const judge = createFaceJudge({ log, metrics: new Metrics(), measurer: pool });
  let start = performance.now();
  const first = await judge.judge(input);
  console.log(
    `${frames.length} frames of ${frameWidth} by ${frameHeight} pixels, ${workers} workers; verdict: ${first.kind}\n`,
  );
  console.log(`first judgement, with loading the models   ${(performance.now() - start).toFixed(0)} ms`);
  const alone: number[] = [];
  const [worker = 0] = pool.processIds;
  const before = processorMilliseconds(worker);
  for (let round = 0; round < rounds; round++) {
    start = performance.now();
    await judge.judge(input);
    alone.push(performance.now() - start);
  }
  const processorTime = (processorMilliseconds(worker) - before) / rounds;
  const ceiling = await bareModels(frames.map(({ jpeg }) => jpeg));
  console.log(`judgement, alone, median of ${rounds}               ${median(alone).toFixed(0)} ms`);
  // Other load affects wall-clock time, and processor time hardly.
  console.log(
    `processor time of a judgement              ${processorTime.toFixed(0)} ms   ${(processorTime / ceiling).toFixed(2)} × the bare models (${ceiling.toFixed(0)} ms)`,
  );
  const afterLast: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const sitting = judge.follow({ challenge, onFailed: () => undefined });
    for (const frame of frames) {
      const before = sitting.looked;
      sitting.add(frame);
      // The interval of frames; a slower worker has the rest to do at the end.
      for (let waitedMs = 0; waitedMs < frameMs && sitting.looked === before; waitedMs += 5)
        await new Promise((resolve) => setTimeout(resolve, 5));
    }
    start = performance.now();
    await judge.judge({ ...input, sitting });
    afterLast.push(performance.now() - start);
  }
  console.log(`verdict after the last frame, median of ${rounds}   ${median(afterLast).toFixed(0)} ms`);
  console.log(`judgements a minute and core, by that      ${(60_000 / processorTime).toFixed(0)}`);

  // Both workers are loaded before the clock starts.
  await Promise.all(Array.from({ length: workers }, () => judge.judge(input)));
  start = performance.now();
  const lane = async () => {
    for (let round = 0; round < rounds; round++) await judge.judge(input);
  };
  await Promise.all(Array.from({ length: workers }, lane));
  const minutes = (performance.now() - start) / 60_000;
  console.log(
    `judgements a minute, ${workers} workers             ${((workers * rounds) / minutes).toFixed(0)}`,
  );
  console.log(
    `most memory of a worker                    ${pool.processIds.map(residentMegabytes).join(" and ")} MB`,
  );

  const capacity = workers + queueLimit;
  start = performance.now();
  const answers = await Promise.all(
    Array.from({ length: 2 * capacity }, async () => {
      const verdict: FaceVerdict = await judge.judge(input);
      return { verdict, ms: performance.now() - start };
    }),
  );
  const refused = answers.filter(({ verdict }) => verdict.kind === "fault");
  const answered = answers.filter(({ verdict }) => verdict.kind !== "fault").map(({ ms }) => ms);
  console.log(
    `twice the capacity (${2 * capacity} at once, ${workers} at work, ${queueLimit} waiting): ${answered.length} answered, the last after ` +
      `${Math.max(...answered).toFixed(0)} ms; ${refused.length} refused after ${Math.max(...refused.map(({ ms }) => ms)).toFixed(0)} ms`,
  );
  await judge.close();

  console.log("\nColours, simulated mean light of a face, share of tries that count as followed:\n");
  for (const noise of [0.002, 0.01, 0.03]) {
    const shares = [0, 0.01, 0.02, 0.05, 0.1].map(
      (reflection) => `${reflection}: ${followedShare({ reflection, noise, recorded: false })}`,
    );
    console.log(`noise ${noise}, by strength of the reflection    ${shares.join("   ")}`);
  }
  console.log(
    `recording lit by another random sequence      ${followedShare({ reflection: 0.05, noise: 0.002, recorded: true })}`,
  );
}

async function bareModels(jpegs: readonly Uint8Array[]): Promise<number> {
  const models = await loadFaceModels();
  const pictures = await Promise.all(
    jpegs.map((jpeg) => decodePicture(jpeg, { kinds: ["jpeg"], maxPixels: 1_000_000 })),
  );
  const times: number[] = [];
  for (let round = 0; round < 2; round++) {
    const start = process.cpuUsage();
    for (const [index, picture] of pictures.entries()) {
      const [box] = await models.detect(picture);
      if (box === undefined) continue;
      await models.measure(picture, box);
      // A judgement embeds four straight looks, four turned ones and the portrait.
      if (index < 9) await models.embed(picture, box);
    }
    const { user, system } = process.cpuUsage(start);
    times.push((user + system) / 1000);
  }
  return Math.min(...times);
}

function followedShare(how: { reflection: number; noise: number; recorded: boolean }): string {
  let followed = 0;
  for (let round = 0; round < simulations; round++) {
    const asked = newChallenge((below) => randomInt(below));
    const shown = how.recorded ? newChallenge((below) => randomInt(below)) : asked;
    const frames = Array.from({ length: 45 }, (_, index): FrameMeasurement => {
      const atMs = index * 200;
      const colour = colourAt(shown, atMs);
      const light = (channel: 0 | 1 | 2, base: number) =>
        base * (1 + screenLight[colour][channel] * how.reflection) * (1 + gauss() * how.noise);
      return {
        atMs,
        receivedAtMs: atMs,
        faces: 1,
        width: 640,
        height: 480,
        face: {
          box: { x: 0, y: 0, width: 1, height: 1 },
          yaw: 0,
          pitch: 0,
          roll: 0,
          size: 1,
          eyes: 0.3,
          mouth: 0.05,
          faceLight: [light(0, 0.4), light(1, 0.3), light(2, 0.25)],
          surroundingLight: null,
        },
      };
    });
    if (judgeColours(frames, asked).outcome === "followed") followed++;
  }
  return `${((100 * followed) / simulations).toFixed(1)} %`;
}

function gauss(): number {
  return Math.sqrt(-2 * Math.log(1 - Math.random())) * Math.cos(2 * Math.PI * Math.random());
}
