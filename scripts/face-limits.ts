import { verifySocketLimits } from "@assay/contract/verify-protocol";
import { challengeShape } from "@assay/face/challenge";
import { colourLimits } from "@assay/face/colour-signal";
import type { FailureReason } from "@assay/face/failure-reason";
import { rivalSizeShare } from "@assay/face/find-faces";
import { livenessLimits } from "@assay/face/limits";
import { closeDistance, copyDistance, defaultMatchDistance } from "@assay/face/match";
import { minTurnChange } from "@assay/face/turn-change";

const seconds = (ms: number) => `${ms / 1000} s`;
const distance = (value: number) => value.toFixed(2);

/** When a try fails for each reason; a reason without its sentence does not compile. */
function failsWhen(maxFramePixels: number): Readonly<Record<FailureReason, string>> {
  const limits = livenessLimits;
  const { faceFrameBytes } = verifySocketLimits;
  const badFrames = `more than ${limits.maxBadFrameShare * 100} % of the frames`;
  return {
    too_few_frames: `fewer than ${limits.minFrames} frames`,
    frame_unreadable: `a frame is no JPEG that can be decoded, or has more than ${maxFramePixels / 1e6} million pixels (one over ${faceFrameBytes / 1024} KiB is never taken)`,
    frame_times_invalid: "times that do not grow, or a frame that arrived before it was taken",
    frame_rate_too_low: `fewer than ${limits.minFramesPerSecond} frames a second, or ${seconds(limits.maxGapMs)} without one or without a face`,
    deadline_passed: `the last frame arrived later than ${seconds(challengeShape.deadlineMs)} after the challenge`,
    frames_not_fresh: `frames did not arrive as they were taken: their delays differ by more than ${seconds(limits.maxArrivalSpreadMs)}`,
    no_face: `${badFrames} show no face`,
    several_faces: `${badFrames} show a second face at least ${rivalSizeShare} times as wide`,
    face_too_small: `the face is under ${limits.minFaceHeightPixels} pixels high`,
    not_frontal_at_start: `the first ${limits.startFrames} looks are turned by more than ${limits.maxStartYaw}°`,
    face_still: "nothing moved: a still photograph",
    movement_missing: `a movement is missing, or the head did not return. A turn counts from ${limits.turnDegrees}°, looking up from ${limits.lookUpDegrees}°, coming closer from ${limits.closerRatio} times the size, a mouth from ${limits.openMouth} of its width, over ${limits.framesToCount} frames; closed eyes from ${Math.round(limits.closedEyesShare * 100)} % of their opening, over ${limits.closedEyesFrames}`,
    movement_wrong:
      "the movements are not exactly those asked for, in their order; a recording that makes them all does not pass",
    movement_too_slow: `more than ${seconds(limits.maxStepMs)} to the next movement`,
    cut: `between two frames, with the seconds between them, the head turns by more than ${limits.cut.degrees}° plus ${limits.cut.degreesPerSecond}° a second, the face moves by more than ${limits.cut.shift} of its height plus ${limits.cut.shiftPerSecond} a second or grows by more than ${limits.cut.growth * 100} % plus ${limits.cut.growthPerSecond * 100} % a second; or the light around changes ${limits.cut.light}-fold, or the picture has another size`,
    face_changed: `straight looks differ by more than ${distance(limits.samePersonFrontal)}, or a turned one by more than ${distance(limits.samePersonTurned)} from them`,
    colours_not_followed: `only with \`FACE_COLOURS=require\`: a correlation under ${colourLimits.followedFrom}, or not measurable`,
    match_in_review_band: `the distance to the portrait is over \`FACE_MATCH_DISTANCE\`, and at the default distance of a match not over ${distance(closeDistance(defaultMatchDistance))}`,
    match_too_far: "the distance to the portrait is larger",
    portrait_copied: `a straight look is nearer than ${distance(copyDistance(defaultMatchDistance))} to the portrait at the default distance of a match, as no other picture of a person is`,
    face_bent: `the head turned, and face and surroundings changed as those of a bent picture: by less than ${minTurnChange}`,
    attack_detected: "only with `FACE_ATTACK_POLICY=require`: the score of your own detector is over 0.5",
  };
}

/** The table of reasons in docs/face.md. */
export function describeReasons(maxFramePixels: number): string {
  const rows = Object.entries(failsWhen(maxFramePixels)).map(
    ([reason, when]) => `| \`${reason}\` | ${when} |`,
  );
  return ["| Reason | Fails when |", "|---|---|", ...rows].join("\n");
}

/** The table of a challenge and its limits in docs/face.md. */
export function describeChallenge(): string {
  const { movements, colours, colourMs, deadlineMs } = challengeShape;
  const { faceFrames, faceFrameBytes, faceBytes } = verifySocketLimits;
  return [
    "| | |",
    "|---|---|",
    `| movements of a challenge | ${movements} |`,
    `| colours, one after another and again from the first | ${colours}, ${seconds(colourMs)} each |`,
    `| time from the challenge to the last frame | ${seconds(deadlineMs)} |`,
    `| frames of a try | ${livenessLimits.minFrames} to ${faceFrames}, at least ${livenessLimits.minFramesPerSecond} a second |`,
    `| one frame | at most ${faceFrameBytes / 1024} KiB |`,
    `| all frames together | at most ${faceBytes / 1024 / 1024} MiB |`,
    "",
    "A device that sends more or larger frames is refused by the socket, with the close codes of [its protocol](verify-protocol.md).",
  ].join("\n");
}

/** The table of the match in docs/face.md. */
export function describeMatch(): string {
  return [
    "| Distance | Decision |",
    "|---|---|",
    `| up to \`FACE_MATCH_DISTANCE\` (${distance(defaultMatchDistance)}) | match |`,
    `| up to ${distance(closeDistance(defaultMatchDistance))}, and in proportion to another \`FACE_MATCH_DISTANCE\` | failure, named \`match_in_review_band\` |`,
    "| beyond | failure, `match_too_far` |",
  ].join("\n");
}

/** How the colours are judged, in docs/face.md. */
export function describeColours(): string {
  const { lagsMs, followedFrom, minVariation } = colourLimits;
  return [
    `The colour of the face is correlated with what was shown at the lag from 0 to ${seconds(Math.max(...lagsMs))} that fits best. It counts as followed from a`,
    `correlation of ${followedFrom}; otherwise as not measurable when the face changes its colour by less than ${Number((minVariation * 100).toFixed(2))} %, which turning alone can do, and as`,
    "not followed when it changes more.",
  ].join("\n");
}
