/**
 * `npm run face-attacks`: how well the signals of `packages/face/src/attack-signals.ts` separate drawn people
 * from rendered attacks, with the real networks. The first run renders for some minutes and caches in
 * `node_modules/.cache/face-attacks`: delete it after a change. `-- --films N` sets the films per kind, `--
 * --processes N` the processes (default: all cores). `-- --write` puts the table into
 * docs/face-error-rates.md. `-- --photographs FOLDER` bends and tints photographs, with a folder per person,
 * and judges them as whole tries. It also counts false alarms. `-- --replays` plays films back that were made
 * for another challenge.
 */
import { type ChildProcess, fork } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import path from "node:path";
import type { Picture } from "@assay/device/node/jpeg";
import { type PosedPerson, readPortrait, readPose } from "@assay/emrtd/node/test-country/portraits";
import { type AttackSignal, attackLimits, attackSignals, measureAttacks } from "@assay/face/attack-signals";
import { judgeColours } from "@assay/face/colour-signal";
import { decode } from "jpeg-js";
import { defaultJobLimits } from "../apps/server/src/verification/face/face-job.ts";
import { loadFaceModels } from "../apps/server/src/verification/face/face-models.ts";
import { measureFaces } from "../apps/server/src/verification/face/measure-faces.ts";
import { renderPerson } from "../packages/emrtd/drawing/render-portrait.ts";
import { rateOf } from "./error-rates.ts";
import {
  challenge,
  filmed,
  filmOf,
  type Kind,
  kinds,
  maskName,
  maskYaws,
  nearerDistances,
  nearerName,
  nearerSizes,
  type Rendered,
} from "./face-attacks/films.ts";
import { attackPhotographs } from "./face-attacks/photographs.ts";
import { attackByReplay } from "./face-attacks/replayed-film.ts";

const folder = path.join(import.meta.dirname, "../node_modules/.cache/face-attacks");
/**
 * Sizes of rendered pictures and of films:
 * rendering takes seconds per picture, and the networks use fewer pixels.
 */
const [drawnWidth, drawnHeight] = [150, 200];
const [width, height] = [240, 320];

type Task =
  | {
      readonly kind: "render";
      readonly name: string;
      readonly person: PosedPerson;
      readonly distance?: number;
      readonly portraitDistance?: number;
      readonly maskYaw?: number;
    }
  | { readonly kind: "film"; readonly of: Kind; readonly seed: number };
type Measured = { readonly of: Kind; readonly values: Readonly<Record<AttackSignal, number | null>> };

function renders(): Task[] {
  return filmed.flatMap((person): Task[] => [
    ...nearerDistances.flatMap((portraitDistance) =>
      nearerSizes.map(
        (size): Task => ({
          kind: "render",
          name: nearerName(person, portraitDistance, size),
          person,
          portraitDistance,
          distance: portraitDistance / size,
        }),
      ),
    ),
    ...maskYaws.map(
      (maskYaw): Task => ({ kind: "render", name: maskName(person, maskYaw), person, maskYaw }),
    ),
  ]);
}

const fileOf = (name: string) => path.join(folder, `${name.replaceAll(" ", "_")}.rgb`);

function render({
  person,
  distance,
  portraitDistance,
  maskYaw,
  name,
}: Extract<Task, { kind: "render" }>): void {
  if (existsSync(fileOf(name))) return;
  const print = decode(readPose(person, [0, 0]), { useTArray: true, formatAsRGBA: false });
  const printed = (x: number, y: number) => {
    const column = Math.min(Math.max(Math.round(((x / 1.28 + 1) * print.width) / 2), 0), print.width - 1);
    const row = Math.round(((1 - (y / 1.28) * (print.width / print.height)) * print.height) / 2);
    const at = (Math.min(Math.max(row, 0), print.height - 1) * print.width + column) * 3;
    const linear = (value: number | undefined) => ((value ?? 0) / 255) ** 2.2;
    // Paper gives back most of the light, so the print is lighter than what it shows in shade.
    return [
      1.3 * linear(print.data[at]),
      1.3 * linear(print.data[at + 1]),
      1.3 * linear(print.data[at + 2]),
    ] as const;
  };
  const pixels = renderPerson(person, {
    yawDegrees: maskYaw ?? 0,
    pitchDegrees: 0,
    width: drawnWidth,
    height: drawnHeight,
    samples: [[0.5, 0.5]],
    ...(distance === undefined ? {} : { distance }),
    ...(portraitDistance === undefined ? {} : { portraitDistance }),
    ...(maskYaw === undefined ? {} : { mask: printed }),
  });
  writeFileSync(fileOf(name), enlarged(pixels));
}

function enlarged(pixels: Uint8Array): Uint8Array {
  const data = new Uint8Array(width * height * 3);
  for (let row = 0; row < height; row++)
    for (let column = 0; column < width; column++) {
      const x = Math.min(Math.max(((column + 0.5) * drawnWidth) / width - 0.5, 0), drawnWidth - 1.001);
      const y = Math.min(Math.max(((row + 0.5) * drawnHeight) / height - 0.5, 0), drawnHeight - 1.001);
      const [left, top] = [Math.floor(x), Math.floor(y)];
      for (let channel = 0; channel < 3; channel++) {
        const at = (down: number, across: number) =>
          pixels[((top + down) * drawnWidth + left + across) * 3 + channel] ?? 0;
        const upper = at(0, 0) + (at(0, 1) - at(0, 0)) * (x - left);
        const lower = at(1, 0) + (at(1, 1) - at(1, 0)) * (x - left);
        data[(row * width + column) * 3 + channel] = Math.round(upper + (lower - upper) * (y - top));
      }
    }
  return data;
}

/** Runs in a separate process, one per core. */
async function work(): Promise<void> {
  const models = await loadFaceModels();
  const known = new Map<string, Picture>();
  const rendered: Rendered = (name) => {
    const picture = known.get(name) ?? { width, height, data: new Uint8Array(readFileSync(fileOf(name))) };
    known.set(name, picture);
    return picture;
  };
  process.on("message", async (task: Task) => {
    if (task.kind === "render") {
      render(task);
      process.send?.(null);
      return;
    }
    const kept = path.join(folder, `${task.of} ${task.seed}.json`);
    if (existsSync(kept)) {
      process.send?.(JSON.parse(readFileSync(kept, "utf8")));
      return;
    }
    const job = { frames: filmOf(task.of, task.seed, rendered), portrait: readPortrait("adult.jpg") };
    const result = await measureFaces(models, job, defaultJobLimits);
    if (result.kind !== "measured") throw new Error(result.kind);
    const values = measureAttacks(result.frames, judgeColours(result.frames, challenge));
    const measured: Measured = { of: task.of, values };
    writeFileSync(kept, JSON.stringify(measured));
    process.send?.(measured);
  });
  process.send?.("ready");
}

/** Hands the tasks out, one at a time to each process. */
function share(processes: readonly ChildProcess[], tasks: readonly Task[]): Promise<Measured[]> {
  const left = [...tasks];
  const results: Measured[] = [];
  return Promise.all(
    processes.map(
      (child) =>
        new Promise<void>((resolve, reject) => {
          const next = () => {
            const task = left.shift();
            if (task === undefined) {
              child.removeAllListeners("message");
              resolve();
            } else child.send(task);
          };
          child.on("message", (result: Measured | null) => {
            if (result !== null) results.push(result);
            next();
          });
          child.once("exit", () => reject(new Error("a process ended early")));
          next();
        }),
    ),
  ).then(() => results);
}

/** Share of pairs of an attack and a person in which the attack scores higher (area under the ROC curve). */
function areaUnder(people: readonly number[], attacks: readonly number[]): number {
  let sum = 0;
  for (const person of people)
    for (const attack of attacks) sum += attack > person ? 1 : attack === person ? 0.5 : 0;
  return sum / (people.length * attacks.length);
}

/** Larger looks more like an attack. */
const lean = (signal: AttackSignal, value: number) =>
  attackLimits[signal].raisedWhen === "below" ? -value : value;

function table(measured: readonly Measured[]): string[] {
  const valuesOf = (of: Kind, signal: AttackSignal) =>
    measured.flatMap(({ of: kind, values }) =>
      kind === of && values[signal] !== null ? [lean(signal, values[signal])] : [],
    );
  const percent = (value: number) => `${(value * 100).toFixed(0)} %`;
  const shown = (errors: number, of: number) => {
    const rate = rateOf(errors, of);
    return rate === null
      ? "not measured"
      : `${percent(rate.share)} (${percent(rate.low)} to ${percent(rate.high)}; ${errors} of ${of})`;
  };
  const lines = ["| Signal | Attack | AUC | APCER | BPCER |", "|---|---|---|---|---|"];
  for (const signal of attackSignals) {
    const people = valuesOf("person", signal);
    const limit = lean(signal, attackLimits[signal].limit);
    for (const attack of kinds.filter((kind) => kind !== "person")) {
      const values = valuesOf(attack, signal);
      if (values.length === 0 || people.length === 0) continue;
      const missed = values.filter((value) => !(value > limit)).length;
      const wrong = people.filter((value) => value > limit).length;
      lines.push(
        `| \`${signal}\` | ${attack} | ${areaUnder(people, values).toFixed(2)} | ${shown(missed, values.length)} | ${shown(wrong, people.length)} |`,
      );
    }
  }
  return lines;
}

function spread(measured: readonly Measured[]): string[] {
  return attackSignals.flatMap((signal) =>
    kinds.map((kind) => {
      const values = measured
        .flatMap(({ of, values: all }) => (of === kind && all[signal] !== null ? [all[signal]] : []))
        .sort((a, b) => a - b);
      const at = (share: number) =>
        values[Math.min(values.length - 1, Math.floor(share * values.length))]?.toFixed(3);
      return `${signal.padEnd(22)} ${kind.padEnd(8)} n ${values.length}: least ${at(0)}, 5 % ${at(0.05)}, middle ${at(0.5)}, 95 % ${at(0.95)}, most ${at(1)}`;
    }),
  );
}

async function main(args: readonly string[]): Promise<void> {
  const photographs = args.includes("--photographs") ? args[args.indexOf("--photographs") + 1] : undefined;
  if (photographs !== undefined) {
    for (const line of await attackPhotographs(photographs)) console.log(line);
    return;
  }
  if (args.includes("--replays")) {
    for (const line of await attackByReplay()) console.log(line);
    return;
  }
  const numberAfter = (name: string) =>
    args.includes(name) ? Number(args[args.indexOf(name) + 1]) : Number.NaN;
  const films = numberAfter("--films") || 60;
  const atOnce = numberAfter("--processes") || availableParallelism();
  mkdirSync(folder, { recursive: true });
  const processes = Array.from({ length: atOnce }, () => fork(import.meta.filename, ["--work"]));
  try {
    await Promise.all(processes.map((child) => new Promise((resolve) => child.once("message", resolve))));
    await share(processes, renders());
    const tasks = Array.from({ length: films }, (_, seed) =>
      kinds.map((of): Task => ({ kind: "film", of, seed })),
    ).flat();
    const measured = await share(processes, tasks);
    console.log(spread(measured).join("\n"), "\n");
    console.log(table(measured).join("\n"));
    if (args.includes("--write")) writeTable(table(measured));
  } finally {
    for (const child of processes) child.removeAllListeners("exit").kill();
  }
}

function writeTable(lines: readonly string[]): void {
  const file = path.join(import.meta.dirname, "../docs/face-error-rates.md");
  const text = readFileSync(file, "utf8");
  const [begin, end] = ["<!-- measured: attacks -->", "<!-- end of measured -->"];
  writeFileSync(
    file,
    `${text.slice(0, text.indexOf(begin) + begin.length)}\n\n${lines.join("\n")}\n\n${text.slice(text.indexOf(end))}`,
  );
}

if (process.argv[2] === "--work") await work();
else await main(process.argv.slice(2));
