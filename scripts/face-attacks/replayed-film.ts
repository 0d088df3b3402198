import { film, personAt, stillsFor } from "@assay/device/node/test-person";
import { readPortrait } from "@assay/emrtd/node/test-country/portraits";
import { type Challenge, newChallenge } from "@assay/face/challenge";
import { defaultJobLimits } from "../../apps/server/src/verification/face/face-job.ts";
import { loadFaceModels } from "../../apps/server/src/verification/face/face-models.ts";
import { measureFaces } from "../../apps/server/src/verification/face/measure-faces.ts";
import { rateOf } from "../error-rates.ts";
import { seeded } from "./films.ts";
import { judgeOf, shown } from "./photographs.ts";

const films = 4;

/**
 * A film of a drawn person, made for one challenge and played back for every sequence of movements, each with
 * fresh colours; lines to print. The film is measured once, because the challenge changes nothing in it.
 */
export async function attackByReplay(): Promise<string[]> {
  const models = await loadFaceModels();
  const portrait = readPortrait("adult.jpg");
  let [tries, passed, passedWithColours, otherSequences] = [0, 0, 0, 0];
  for (let seed = 1; seed <= films; seed++) {
    const random = seeded(seed);
    const below = (limit: number) => Math.floor(random() * limit);
    const recorded = newChallenge(below);
    const pictures = stillsFor(recorded.movements).map((still) => personAt("adult", still));
    const frames = film(pictures, { schedule: recorded, reflection: 0.05 }).map(({ atMs, jpeg }) => ({
      ...{ atMs, jpeg, receivedAtMs: atMs + 120 },
    }));
    const measured = await measureFaces(models, { frames, portrait }, defaultJobLimits);
    const judges = (["risk", "require"] as const).map((colours) => judgeOf(async () => measured, colours));
    for (const movements of sequencesOf(recorded.movements.length)) {
      const challenge: Challenge = { ...newChallenge(below), movements };
      const verdicts = await Promise.all(
        judges.map((judge) => judge.judge({ challenge, frames, portrait, sandbox: false })),
      );
      const [asShipped, withColours] = verdicts.map(({ kind }) => kind === "passed");
      tries++;
      if (asShipped === true) {
        passed++;
        if (movements.join() !== recorded.movements.join()) otherSequences++;
      }
      if (withColours === true) passedWithColours++;
    }
  }
  return [
    `${films} films, each played back for every sequence of movements`,
    `Passes the step (APCER): ${shown(rateOf(passed, tries))}; ${otherSequences} for another sequence than it was made for`,
    `With FACE_COLOURS=require: ${shown(rateOf(passedWithColours, tries))}`,
  ];
}

/** Every sequence of movements in which none follows itself. */
export function sequencesOf(length: number): Challenge["movements"][] {
  const found = new Map<string, Challenge["movements"]>();
  const choices = 4 * 3 ** (length - 1);
  for (let index = 0; index < choices; index++) {
    let rest = index;
    const { movements } = newChallenge((below) => {
      const drawn = rest % below;
      rest = Math.floor(rest / below);
      return drawn;
    });
    found.set(movements.join(), movements);
  }
  return [...found.values()];
}
