import assert from "node:assert/strict";
import test, { after } from "node:test";
import { type FaceMovement, stillHeadMovements } from "@assay/contract/verify-protocol";
import { livenessLimits } from "@assay/face/limits";
import type { Locator, Page } from "playwright-core";
import { systemClock } from "../../../src/platform/kernel/clock.ts";
import { createLog } from "../../../src/platform/lib/log.ts";
import { Metrics } from "../../../src/platform/lib/metrics.ts";
import {
  createFaceJudge,
  type FaceJudge,
  type FaceVerdict,
} from "../../../src/verification/face/face-judge.ts";
import { FaceWorkerPool } from "../../../src/verification/face/face-worker-pool.ts";
import { perform, type Role } from "../../support/actor.ts";
import { createPartner, expectData } from "../../support/api.ts";
import {
  checkAccessibility,
  keepLooks,
  keepScreenshot,
  keepsScreenshots,
  openBrowser,
  openPage,
} from "../../support/browser.ts";
import { startTestService } from "../../support/service.ts";
import { createSteeredCamera } from "../../support/steered-camera.ts";
import { watchedMeasurer } from "../../support/watched-measurer.ts";

// The judge of the service with its real models. The tests can reach its processes and its verdicts.
const log = createLog({ level: "warn", write: () => {}, now: () => new Date() });
const workers = new FaceWorkerPool({ log });
// How fast this machine films does not matter. `packages/face/src/limits.test.ts` tests the pace.
const limits = {
  ...livenessLimits,
  maxGapMs: 20_000,
  maxStepMs: 60_000,
  maxArrivalSpreadMs: 60_000,
  minFramesPerSecond: 0.2,
};
/** Called when a worker was given a try to judge. */
let whileJudging: () => void = () => {};
const measurer = watchedMeasurer(workers, () => whileJudging());
const judge = createFaceJudge({ log, metrics: new Metrics(), measurer, limits });
const verdicts: FaceVerdict[] = [];
const judged = new Set<string>();
/** The first verdict of each try: a try that fails while its last frames are judged reports twice. */
function note(challenge: unknown, verdict: FaceVerdict): void {
  const id = JSON.stringify(challenge);
  if (!judged.has(id)) verdicts.push(verdict);
  judged.add(id);
}
/** The real number, or fewer where that is enough: filming and judging take time. */
let movementsAsked = 4;
const faceJudge: FaceJudge = {
  ...judge,
  begin(who) {
    const challenge = judge.begin(who);
    return challenge && { ...challenge, movements: challenge.movements.slice(0, movementsAsked) };
  },
  follow: ({ challenge, onFailed }) =>
    judge.follow({
      challenge,
      onFailed: (verdict) => {
        note(challenge, verdict);
        onFailed(verdict);
      },
    }),
  async judge(input) {
    const verdict = await judge.judge(input);
    note(input.challenge, verdict);
    return verdict;
  },
};

const camera = createSteeredCamera();
after(() => camera.close());
const { url, api } = await startTestService({
  clock: systemClock,
  verify: { faceJudge },
});
const browser = await openBrowser(camera.launchArguments);
const partner = await createPartner(api);

const heading = (page: Page, name: string) => page.getByRole("heading", { level: 1, name });

/** A person who agreed and whose test passport, with the portrait of the drawn woman, was read. */
async function comeToTheFace(width: number) {
  verdicts.length = 0;
  const session = expectData(
    await partner.api.post("/v1/sessions", {
      share_fields: { age_over_18: { required: true, reason: "The bar is for adults." } },
    }),
    201,
  );
  const { page, problems } = await openPage(browser, url, { width });
  page.setDefaultTimeout(90_000);
  await page.goto(session.verification_url);
  // The texts arrive a moment later and move the checkbox.
  await page.getByText("What you agree to").waitFor();
  await page.getByRole("checkbox", { name: "I agree to the check" }).check();
  await page.getByRole("button", { name: "Agree and continue" }).click();
  await page.getByRole("button", { name: "Choose a test passport" }).click();
  await page.getByRole("radio", { name: /^Valid passport A/ }).check();
  await page.getByRole("button", { name: "Read this document" }).click();
  await heading(page, "Now show your face").waitFor();
  const read = async () => {
    const { status, failure_code, liveness_tries_used } = expectData(
      await partner.api.get(`/v1/sessions/${session.id}`),
    );
    return { status, failure_code, liveness_tries_used };
  };
  return { page, problems, read };
}

/** From opening the camera to the first instruction, by hand if the page's guide is too slow. */
async function startCamera(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Use the camera" }).click();
  const instruction = page.getByTestId("face-instruction");
  const byHand = page.getByText("then press “Start now”");
  await instruction.or(byHand).first().waitFor();
  if (!(await instruction.isVisible())) await page.getByRole("button", { name: "Start now" }).click();
  await instruction.waitFor();
}

/** One try, up to where the service judges it. */
async function beFilmed(page: Page, role: Role, movements = 4): Promise<void> {
  movementsAsked = movements;
  await perform(camera, page, role, async () => {
    await startCamera(page);
    // Most frames are judged before the last one arrives, so the verdict may come before this text.
    const [compared, verified, failed] = [
      "Your face is being compared…",
      "You are verified",
      "The verification did not succeed",
    ].map((name) => heading(page, name)) as [Locator, Locator, Locator];
    await compared.or(verified).or(failed).or(page.getByRole("alert")).first().waitFor();
  });
}

/** A busy machine may follow an instruction too late. Like a person, it may try again. */
async function beFilmedUntilTheEnd(page: Page, role: Role, movements: number): Promise<void> {
  const ends = heading(page, "You are verified").or(heading(page, "The verification did not succeed"));
  for (let film = 0; film < 8; film++) {
    await beFilmed(page, role, movements);
    await ends.or(page.getByRole("alert")).first().waitFor();
    if (await ends.isVisible()) return;
  }
  assert.fail("the session never ended");
}

async function untilTold(page: Page, text: string): Promise<void> {
  await page.getByRole("alert").filter({ hasText: text }).waitFor();
}

const notAPerson = "We could not see a person in front of the camera";
const otherwise: Readonly<Record<FaceMovement, FaceMovement>> = {
  turn_left: "turn_right",
  turn_right: "turn_left",
  look_up: "come_closer",
  come_closer: "look_up",
  close_eyes: "open_mouth",
  open_mouth: "close_eyes",
};

test("other movements than asked use up a try, a killed worker does not, and the person of the portrait passes", async () => {
  const { page, problems, read } = await comeToTheFace(390);
  await keepLooks(page, "verify-face-start");

  await beFilmed(page, { person: "adult", does: (asked) => otherwise[asked] }, 1);
  await keepScreenshot(page, "verify-face-checking-390-light");
  await untilTold(page, notAPerson);
  await page.getByText("2 attempts left.").waitFor();
  assert.deepEqual(verdicts.splice(0), [
    { kind: "failed", code: "liveness_failed", reasons: ["movement_wrong"] },
  ]);
  await keepLooks(page, "verify-face-failed");

  whileJudging = () => {
    for (const pid of workers.processIds) process.kill(pid, "SIGKILL");
  };
  await beFilmed(page, { person: "adult" }, 2);
  await untilTold(page, "Something went wrong on our side");
  whileJudging = () => {};
  await page.getByText("This didn’t count as an attempt").waitFor();
  assert.deepEqual(verdicts.splice(0), [{ kind: "fault", reason: "worker_died" }]);
  assert.deepEqual(await read(), { status: "in_progress", failure_code: null, liveness_tries_used: 1 });
  await keepLooks(page, "verify-face-fault");

  await beFilmedUntilTheEnd(page, { person: "adult" }, 4);
  const { status, failure_code, liveness_tries_used } = await read();
  assert.deepEqual({ status, failure_code }, { status: "succeeded", failure_code: null });
  const tries = verdicts.filter(({ kind }) => kind !== "fault");
  assert.equal(liveness_tries_used, 1 + tries.length, JSON.stringify(verdicts));
  const verdict = verdicts.at(-1);
  assert.ok(verdict?.kind === "passed", JSON.stringify(verdict));
  assert.equal(verdict.riskInputs.colours, "followed", JSON.stringify(verdict));
  assert.deepEqual(problems, []);
  await page.context().close();
});

test("who cannot turn the head is asked for eyes, mouth and distance instead, and passes at a higher risk", async () => {
  const { page, problems, read } = await comeToTheFace(390);
  await page.getByRole("button", { name: "I cannot turn my head" }).click();
  await page.getByText("the reported risk is higher").waitFor();
  const asked = new Set<FaceMovement>();
  const does = (movement: FaceMovement) => {
    asked.add(movement);
    return movement;
  };
  await beFilmedUntilTheEnd(page, { person: "adult", among: stillHeadMovements, does }, 2);
  const gentle: readonly FaceMovement[] = stillHeadMovements;
  assert.ok(asked.size > 1 && [...asked].every((movement) => gentle.includes(movement)), [...asked].join());
  const verdict = verdicts.at(-1);
  assert.ok(verdict?.kind === "passed" && verdict.riskInputs.stillHead, JSON.stringify(verdicts));
  assert.ok(verdict.risk >= 0.2, "as risky as any other");
  // A fault of the service is a verdict but no try.
  const { status, failure_code, liveness_tries_used } = await read();
  assert.deepEqual({ status, failure_code }, { status: "succeeded", failure_code: null });
  assert.ok(liveness_tries_used <= verdicts.length, `${liveness_tries_used} tries`);
  assert.deepEqual(problems, []);
  await page.context().close();
});

// For `npm run screens`.
if (keepsScreenshots)
  test("the camera is shown to who wants to look", async () => {
    const { page } = await comeToTheFace(390);
    await page.getByText("Read the instructions aloud").click();
    await keepLooks(page, "verify-face-aloud");
    // A person who does nothing takes the longest time.
    movementsAsked = 4;
    await perform(camera, page, { person: "adult", does: () => "nothing" }, async () => {
      await page.getByRole("button", { name: "Use the camera" }).click();
      await page.getByRole("button", { name: "Stop" }).waitFor();
      await keepScreenshot(page, "verify-face-framing-390-light");
      await page.getByTestId("face-instruction").waitFor();
      await keepLooks(page, "verify-face-instruction");
    });
    await page.context().close();
  });

test("stopping costs nothing, and a photograph uses up a try", async () => {
  const { page, problems, read } = await comeToTheFace(1440);

  // The challenge stays the same until its time is over, so this is also the one of the photograph.
  movementsAsked = 1;
  await perform(camera, page, { person: "adult" }, async () => {
    await startCamera(page);
    await checkAccessibility(page);
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByRole("button", { name: "Use the camera" }).waitFor();
  });
  assert.equal((await read()).liveness_tries_used, 0);

  await beFilmed(page, { person: "adult", does: () => "nothing" }, 1);
  await untilTold(page, notAPerson);
  await page.getByText("2 attempts left.").waitFor();
  assert.deepEqual(verdicts.splice(0), [
    { kind: "failed", code: "liveness_failed", reasons: ["face_still"] },
  ]);

  assert.deepEqual(await read(), { status: "in_progress", failure_code: null, liveness_tries_used: 1 });
  assert.deepEqual(problems, []);
  await page.context().close();
});
