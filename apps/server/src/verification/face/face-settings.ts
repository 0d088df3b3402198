import path from "node:path";
import { pathToFileURL } from "node:url";
import type { Config } from "../../config.ts";
import type { FaceJudgeOptions } from "./face-judge.ts";

/** The operator's part of a face judge. */
export function faceJudgeSettings(config: Config): Omit<FaceJudgeOptions, "log" | "metrics"> {
  const moduleAt = (file: string) =>
    file === ""
      ? null
      : { href: pathToFileURL(path.resolve(file)).href, folder: path.dirname(path.resolve(file)) };
  const models = moduleAt(config.faceModelsFile);
  const detector = moduleAt(config.faceAttackDetector);
  const readableFolders = [models, detector].flatMap((module) => (module === null ? [] : [module.folder]));
  return {
    matchDistance: config.faceMatchDistance,
    colours: config.faceColours,
    detector: config.faceAttackPolicy,
    pool: {
      workers: config.faceWorkers,
      ...(models === null ? {} : { modelsModule: models.href }),
      ...(detector === null ? {} : { detectorModule: detector.href }),
      ...(readableFolders.length === 0 ? {} : { readableFolders }),
    },
  };
}
