import path from "node:path";
import { pathToFileURL } from "node:url";
import type { Config } from "../config.ts";
import type { FaceJudgeOptions } from "./face-judge.ts";

/** The operator's part of a face judge. */
export function faceJudgeSettings(config: Config): Omit<FaceJudgeOptions, "log" | "metrics"> {
  const file = config.faceModelsFile === "" ? undefined : path.resolve(config.faceModelsFile);
  return {
    thresholds: { match: config.faceMatchDistance, review: config.faceReviewDistance },
    colours: config.faceColours,
    pool: {
      workers: config.faceWorkers,
      queueLimit: config.faceQueueLimit,
      ...(file === undefined
        ? {}
        : { modelsModule: pathToFileURL(file).href, readableFolders: [path.dirname(file)] }),
    },
  };
}
