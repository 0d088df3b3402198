import assert from "node:assert/strict";
import test from "node:test";
import type { FaceMovement } from "@assay/contract/verify-protocol";
import { verifySocketLimits } from "@assay/contract/verify-protocol";
import { captureLimits } from "@assay/face/limits";
import type { SeenFace } from "./framing.ts";
import { type FacePrompt, frameEveryMs, PromptSchedule } from "./prompt-schedule.ts";

const movements: readonly FaceMovement[] = ["turn_left", "look_up", "come_closer", "turn_right"];
const ahead: SeenFace = {
  x: 0.5,
  y: 0.5,
  size: 0.4,
  yaw: 3,
  pitch: -6,
  roll: 0,
  eyes: 0.33,
  mouth: 0.05,
  brightness: 0.5,
};
const made: Readonly<Record<FaceMovement, SeenFace>> = {
  turn_left: { ...ahead, yaw: 23 },
  turn_right: { ...ahead, yaw: -17 },
  look_up: { ...ahead, pitch: 6 },
  come_closer: { ...ahead, size: 0.54 },
  close_eyes: { ...ahead, eyes: 0.05 },
  open_mouth: { ...ahead, mouth: 0.6 },
};
const plenty = 40_000;
const frameMs = 225;

/** Prompts in the order they came, with the time of each, until it is over. */
function run(
  see: (prompt: FacePrompt, sinceMs: number) => SeenFace | null | undefined,
  withinMs = plenty,
  asked = movements,
): { prompts: { prompt: FacePrompt; atMs: number }[]; endMs: number; frames: number } {
  const schedule = new PromptSchedule(asked, withinMs);
  const prompts: { prompt: FacePrompt; atMs: number }[] = [{ prompt: schedule.prompt, atMs: 0 }];
  let atMs = 0;
  let frames = 0;
  while (!schedule.isOver && frames < 1_000) {
    const last = prompts.at(-1);
    schedule.look(atMs, see(schedule.prompt, atMs - (last?.atMs ?? 0)));
    frames += 1;
    if (!schedule.isOver && schedule.prompt !== last?.prompt) prompts.push({ prompt: schedule.prompt, atMs });
    atMs += Math.min(frameMs, frameEveryMs(maxFrames - frames, schedule.maxLeftMs(atMs)));
  }
  return { prompts, endMs: atMs, frames };
}

const wanted = ["ahead", ...movements.flatMap((movement) => [movement, "ahead"])];

test("a person who follows is asked for the next movement as soon as the head is back", () => {
  const followed = run((prompt, sinceMs) => (prompt === "ahead" || sinceMs < 600 ? ahead : made[prompt]));
  assert.deepEqual(
    followed.prompts.map(({ prompt }) => prompt),
    wanted,
  );
  assert.ok(followed.endMs < 10_000, `took ${followed.endMs} ms`);
  assert.ok(followed.frames >= captureLimits.minFrames, "the service wants at least so many frames");
});

test("a movement counts only when it is the one asked for, far enough, twice in a row", () => {
  const at = (faces: readonly (SeenFace | null)[]) => {
    const schedule = new PromptSchedule(["turn_left"], plenty);
    for (let index = 0; index < 6; index++) schedule.look(index * 225, ahead);
    assert.equal(schedule.prompt, "turn_left");
    faces.forEach((face, index) => {
      schedule.look(1_350 + index * 225, face);
    });
    return schedule.prompt;
  };
  assert.equal(at([made.turn_left]), "turn_left");
  assert.equal(at([made.turn_left, ahead, made.turn_left]), "turn_left");
  assert.equal(at([made.turn_right, made.turn_right, made.look_up, made.look_up]), "turn_left");
  assert.equal(at([{ ...ahead, yaw: 15 }, { ...ahead, yaw: 15 }, null, null]), "turn_left");
  assert.equal(at([made.turn_left, made.turn_left]), "ahead");
  assert.equal(at([made.turn_left, null, made.turn_left]), "ahead", "one frame without a face is no break");
});

test("nobody waits for ever: a movement that is not made passes, within what the service allows", () => {
  const { prompts, endMs } = run(() => ahead);
  assert.deepEqual(
    prompts.map(({ prompt }) => prompt),
    wanted,
  );
  assert.ok(endMs < 24_000, `took ${endMs} ms`);
});

test("a slow person who takes nearly all the time keeps within what the service allows from movement to movement", () => {
  const counted: number[] = [];
  const schedule = new PromptSchedule(movements, plenty);
  let [since, prompt] = [0, schedule.prompt];
  let before: SeenFace = ahead;
  for (let atMs = 0; !schedule.isOver; atMs += frameMs) {
    const slow = schedule.prompt === "ahead" ? 1_400 : 2_900;
    if (atMs - since >= slow) before = schedule.prompt === "ahead" ? ahead : made[schedule.prompt];
    schedule.look(atMs, before);
    if (schedule.prompt === prompt) continue;
    if (prompt !== "ahead") counted.push(atMs);
    [since, prompt] = [atMs, schedule.prompt];
  }
  assert.equal(counted.length, movements.length);
  for (const [index, atMs] of counted.entries())
    assert.ok(atMs - (counted[index - 1] ?? 0) < captureLimits.maxStepMs);
});

test("without guidance each prompt has its time, and the movements follow each other as quickly as the service wants", () => {
  const { prompts, endMs } = run(() => undefined);
  assert.deepEqual(
    prompts.map(({ prompt }) => prompt),
    wanted,
  );
  assert.ok(endMs > 15_000 && endMs < 20_000, `took ${endMs} ms`);
  const shown = prompts.filter(({ prompt }) => prompt !== "ahead").map(({ atMs }) => atMs);
  for (const [index, atMs] of shown.slice(1).entries())
    assert.ok(atMs - (shown[index] ?? 0) + 2_600 < captureLimits.maxStepMs);
});

test("with little time left everything goes quicker", () => {
  assert.ok(run(() => undefined, 9_000).endMs <= 9_500);
});

const { faceFrames: maxFrames } = verifySocketLimits;

test("the frames last to the end, for the quick and for the slowest", () => {
  for (const see of [
    () => ahead,
    () => null,
    () => undefined,
    (prompt: FacePrompt) => (prompt === "ahead" ? ahead : made[prompt]),
    (prompt: FacePrompt, sinceMs: number) => (prompt === "ahead" || sinceMs < 3_000 ? ahead : made[prompt]),
  ]) {
    const schedule = new PromptSchedule(movements, plenty);
    let atMs = 0;
    let frames = 0;
    let since = 0;
    let prompt = schedule.prompt;
    while (!schedule.isOver) {
      schedule.look(atMs, see(schedule.prompt, atMs - since));
      if (schedule.prompt !== prompt) [prompt, since] = [schedule.prompt, atMs];
      frames += 1;
      atMs += frameEveryMs(maxFrames - frames, schedule.maxLeftMs(atMs));
      assert.ok(frames <= maxFrames, `${frames} frames after ${atMs} ms`);
    }
    assert.ok((frames * 1_000) / atMs >= 1.1 * captureLimits.minFramesPerSecond);
  }
});

test("who cannot turn the head is led by eyes, mouth and distance; a blink does not end a prompt", () => {
  const still: readonly FaceMovement[] = ["close_eyes", "open_mouth", "close_eyes", "come_closer"];
  const { prompts } = run((prompt) => (prompt === "ahead" ? ahead : made[prompt]), plenty, still);
  assert.deepEqual(
    prompts.map(({ prompt }) => prompt).filter((prompt) => prompt !== "ahead"),
    still,
  );
  const schedule = new PromptSchedule(still, plenty);
  for (let atMs = 0; schedule.prompt === "ahead"; atMs += frameMs) schedule.look(atMs, ahead);
  schedule.look(1_200, made.close_eyes);
  schedule.look(1_425, made.close_eyes);
  schedule.look(1_650, ahead);
  assert.equal(schedule.prompt, "close_eyes");
});
