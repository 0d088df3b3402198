/**
 * The process that sees pictures. The pool starts it with an empty environment, without permission to write
 * files or start processes, and if possible without a network. It also limits time and memory.
 */
import type { AttackDetector, LoadAttackDetector } from "./attack-detector.ts";
import { defaultJobLimits, type FromWorker, type ToWorker } from "./face-job.ts";
import type { FaceModels } from "./face-models.ts";
import { lookAtFrame, measureFaces } from "./measure-faces.ts";

const [, , givenModels = "", detectorModule = ""] = process.argv;
const modelsModule = givenModels === "" ? new URL("./face-models.ts", import.meta.url).href : givenModels;

function send(message: FromWorker): void {
  process.send?.(message);
}

process.on("disconnect", () => process.exit(0));

const { loadFaceModels } = (await import(modelsModule)) as { loadFaceModels(): Promise<FaceModels> };
const models = await loadFaceModels();
const detector = detectorModule === "" ? null : loadDetector(detectorModule);
// If it does not load, every try reports that. It must not end the process here.
detector?.catch(() => undefined);
await warmUp();

process.on("message", (message: ToWorker) => {
  void work(message);
});
send({ kind: "ready" });

async function work({ id, ...task }: ToWorker): Promise<void> {
  try {
    const result =
      task.kind === "look"
        ? await lookAtFrame(models, task.look, defaultJobLimits)
        : await measureFaces(models, task.job, defaultJobLimits, detector);
    send({ kind: "result", id, result, residentBytes: process.memoryUsage.rss() });
  } catch (error) {
    // Messages of decoders and models may quote their input; the kind of error is enough.
    send({ kind: "error", id, name: error instanceof Error ? error.name : typeof error });
  }
}

async function loadDetector(address: string): Promise<AttackDetector> {
  const { loadAttackDetector } = (await import(address)) as { loadAttackDetector: LoadAttackDetector };
  return loadAttackDetector();
}

/** The first run of every network compiles and allocates, so do it before the first try. */
async function warmUp(): Promise<void> {
  const side = 240;
  const picture = { width: side, height: side, rgb: new Uint8Array(side * side * 3).fill(128) };
  const box = { x: 60, y: 60, width: 120, height: 120 };
  await models.detect(picture);
  await models.measure(picture, box);
  await models.embed(picture, box);
}
