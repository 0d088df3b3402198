import type { FaceMeasurer } from "../../src/verification/face/face-judge.ts";

/** The workers of the face check, which notify the test when one gets a try to judge. */
export function watchedMeasurer(
  workers: FaceMeasurer,
  onRun: (job: Parameters<FaceMeasurer["run"]>[0]) => void,
): FaceMeasurer {
  return {
    warmUp: () => workers.warmUp(),
    hasCapacity: (who) => workers.hasCapacity(who),
    look: (look) => workers.look(look),
    run: (job, who) => {
      const result = workers.run(job, who);
      onRun(job);
      return result;
    },
    close: () => workers.close(),
  };
}
