import { randomInt } from "node:crypto";
import type { FaceCheck } from "@assay/contract/sessions";
import { isForStillHead } from "@assay/contract/verify-protocol";
import { type AttackSignal, judgeAttacks } from "@assay/face/attack-signals";
import { type Challenge, newChallenge } from "@assay/face/challenge";
import { type ColourFinding, type ColourLimits, colourLimits, judgeColours } from "@assay/face/colour-signal";
import type { FailureReason } from "@assay/face/failure-reason";
import { foreseeFailure } from "@assay/face/foresee-failure";
import { type LivenessLimits, livenessLimits } from "@assay/face/limits";
import { judgeMovements, judgeTiming } from "@assay/face/liveness";
import { defaultMatchDistance, matchPortrait } from "@assay/face/match";
import { isBent, turnChangeOf } from "@assay/face/turn-change";
import type { Log } from "../../platform/lib/log.ts";
import type { Metrics } from "../../platform/lib/metrics.ts";
import { withoutNetwork } from "../../platform/lib/network-namespace.ts";
import { detectorLimit } from "./attack-detector.ts";
import type { FaceJob, FaceJobResult, FaceLook, FaceLookResult } from "./face-job.ts";
import { FaceSitting } from "./face-sitting.ts";
import {
  FaceWorkerPool,
  type FaceWorkerPoolOptions,
  WorkerFault,
  type WorkerFaultReason,
} from "./face-worker-pool.ts";

export type JudgeInput = {
  readonly challenge: Challenge;
  /** The socket enforces number and size with `verifySocketLimits`, so they are not checked here. */
  readonly frames: readonly JudgedFrame[];
  /** As the chip holds it, JPEG or JPEG 2000. */
  readonly portrait: Uint8Array;
  /** Waits behind every live try. */
  readonly sandbox: boolean;
  /** Set if these frames were added to it, in this order, as they arrived. */
  readonly sitting?: FaceSitting | undefined;
};

export type JudgedFrame = {
  /** Reported by the device, in milliseconds since it showed the first colour and began to take pictures. */
  readonly atMs: number;
  /** When it had arrived, in milliseconds since `begin`, on the server's clock. */
  readonly receivedAtMs: number;
  readonly jpeg: Uint8Array;
};

/** What a passed try leaves for the risk score; see `faceRisk`. */
type FaceRiskInputs = {
  readonly distance: number;
  /** The greatest distance between two straight looks of this try. */
  readonly identitySpread: number;
  readonly colours: ColourFinding["outcome"];
  readonly colourCorrelation: number;
  readonly colourReflection: number;
  readonly colourSurroundingShare: number;
  readonly framesPerSecond: number;
  /** The person could not turn the head and was asked for movements that prove less. */
  readonly stillHead: boolean;
  readonly signs: readonly AttackSign[];
};

/** Signs of an attack: our own, and the operator's detector or its absence. */
type AttackSign = AttackSignal | "detector" | "detector_unavailable";

export type FaultReason = WorkerFaultReason | "portrait_unusable";

export type FaceVerdict =
  | {
      readonly kind: "passed";
      readonly distance: number;
      readonly riskInputs: FaceRiskInputs;
      /** The face's part of the risk score. */
      readonly risk: number;
      readonly checks: readonly FaceCheck[];
    }
  | {
      readonly kind: "failed";
      readonly code: "liveness_failed" | "selfie_face_mismatch";
      readonly reasons: readonly FailureReason[];
    }
  /** The service could not judge; that costs the person no try. */
  | { readonly kind: "fault"; readonly reason: FaultReason };

type FollowedTry = {
  readonly challenge: Challenge;
  readonly onFailed: (verdict: Extract<FaceVerdict, { kind: "failed" }>) => void;
};

export type FaceJudge = {
  /** Fresh and random for each try. Null if too many wait already, so that no one is filmed in vain. */
  begin(who: { readonly sandbox: boolean; readonly stillHead: boolean }): Challenge | null;
  /** Examines frames as they arrive. Calls `onFailed` at most once, when the try can no longer pass. */
  follow(attempt: FollowedTry): FaceSitting;
  judge(input: JudgeInput): Promise<FaceVerdict>;
  close(): Promise<void>;
};

export type FaceJudgeOptions = {
  readonly log: Log;
  readonly metrics: Metrics;
  readonly matchDistance?: number;
  readonly limits?: LivenessLimits;
  readonly colourLimits?: ColourLimits;
  /** `risk`: the colours only weigh on the risk score; `require`: a face that does not follow them fails. */
  readonly colours?: "risk" | "require";
  /**
   * The operator's detector. `risk`: its score, or its absence, only raises the risk score. `require`: an
   * attack fails the try, and no answer is a fault.
   */
  readonly detector?: "risk" | "require";
  readonly pool?: Omit<FaceWorkerPoolOptions, "log">;
  /** For tests and benchmarks: replaces the workers. */
  readonly measurer?: FaceMeasurer;
};

export type FaceMeasurer = {
  warmUp(): void;
  hasCapacity(who: { readonly sandbox: boolean }): boolean;
  run(job: FaceJob, who: { readonly sandbox: boolean }): Promise<FaceJobResult>;
  /** Null when no worker has time. */
  look(look: FaceLook): Promise<FaceLookResult> | null;
  close(): Promise<void>;
};

export function createFaceJudge(options: FaceJudgeOptions): FaceJudge {
  if (options.measurer === undefined && withoutNetwork() === null)
    options.log.warn("face workers can reach the network, because this system cannot take it from a process");
  const pool = options.measurer ?? new FaceWorkerPool({ log: options.log, ...options.pool });
  const count = options.metrics.counter("assay_face_judgements_total", "Judged faces, by result.");
  const observe = options.metrics.histogram(
    "assay_face_judgement_seconds",
    "Time of a judgement, with its time in the queue.",
    [1, 2, 4, 8, 16, 32, 64],
  );
  if (pool instanceof FaceWorkerPool)
    options.metrics.gaugeOf("assay_face_queue", "Tries that wait for a face worker.", () => pool.waiting);
  return {
    begin(who) {
      if (!pool.hasCapacity(who)) return null;
      pool.warmUp();
      return newChallenge((below) => randomInt(below), { stillHead: who.stillHead });
    },
    follow({ challenge, onFailed }) {
      let failed = false;
      return new FaceSitting(
        (look) => pool.look(look),
        (soFar) => {
          if (failed || soFar === "fault") return;
          const reasons: readonly FailureReason[] =
            soFar === "frame_unreadable" ? [soFar] : foreseeFailure(soFar, challenge, options.limits);
          if (reasons.length === 0) return;
          failed = true;
          count({ outcome: "liveness_failed" });
          onFailed(livenessFailed(reasons));
        },
      );
    },
    async judge(input) {
      const start = performance.now();
      const verdict = await judge(input, pool, options);
      observe((performance.now() - start) / 1000);
      count({ outcome: verdict.kind === "failed" ? verdict.code : verdict.kind });
      return verdict;
    },
    close: () => pool.close(),
  };
}

async function judge(
  { challenge, frames, portrait, sandbox, sitting }: JudgeInput,
  measurer: FaceMeasurer,
  options: FaceJudgeOptions,
): Promise<FaceVerdict> {
  const limits = options.limits ?? livenessLimits;
  // Judges first what needs no picture, before a worker spends seconds.
  const timing = judgeTiming(frames, challenge, limits);
  if (timing.length > 0) return livenessFailed(timing);

  const soFar = (await sitting?.finish()) ?? { kind: "seen", frames: [] };
  if (soFar.kind === "fault") return soFar;
  if (soFar.kind === "frame_unreadable") return livenessFailed(["frame_unreadable"]);

  let measured: FaceJobResult;
  try {
    measured = await measurer.run({ frames, portrait, seen: soFar.frames }, { sandbox });
  } catch (error) {
    if (error instanceof WorkerFault) return { kind: "fault", reason: error.reason };
    throw error;
  }
  if (measured.kind === "portrait_unusable") return { kind: "fault", reason: "portrait_unusable" };
  if (measured.kind === "frame_unreadable") return livenessFailed(["frame_unreadable"]);

  const movements = judgeMovements(measured.frames, challenge, limits);
  if (!movements.ok) return livenessFailed(movements.reasons);
  const colours = judgeColours(measured.frames, challenge, options.colourLimits ?? colourLimits);
  if (options.colours === "require" && colours.outcome !== "followed")
    return livenessFailed(["colours_not_followed"]);

  const detected = detectorSign(measured.attackScore, detectorLimit);
  if (options.detector === "require" && detected === "detector") return livenessFailed(["attack_detected"]);
  // Without the required answer a try neither passes nor is counted.
  if (options.detector === "require" && detected === "detector_unavailable")
    return { kind: "fault", reason: "worker_error" };

  if (isBent(measured.frames)) return livenessFailed(["face_bent"]);
  const matchDistance = options.matchDistance ?? defaultMatchDistance;
  const { decision, distance, isCopy } = matchPortrait(
    measured.portraitEmbedding,
    movements.frontal,
    matchDistance,
  );
  if (isCopy) return livenessFailed(["portrait_copied"]);
  if (decision !== "match")
    return {
      kind: "failed",
      code: "selfie_face_mismatch",
      reasons: [decision === "close" ? "match_in_review_band" : "match_too_far"],
    };
  const riskInputs: FaceRiskInputs = {
    distance,
    identitySpread: movements.identitySpread,
    colours: colours.outcome,
    colourCorrelation: colours.correlation,
    colourReflection: colours.reflection,
    colourSurroundingShare: colours.surroundingShare,
    framesPerSecond: movements.framesPerSecond,
    stillHead: isForStillHead(challenge.movements),
    signs: [...judgeAttacks(measured.frames, colours), ...(detected === null ? [] : [detected])],
  };
  const checks: FaceCheck[] = ["movements", "one_person", "portrait", "not_a_copy"];
  if (turnChangeOf(measured.frames) !== null) checks.push("head_turned");
  if (colours.outcome === "followed") checks.push("colours");
  return { kind: "passed", distance, riskInputs, risk: faceRisk(riskInputs, matchDistance), checks };
}

/** Null without a detector, or if it found nothing. */
function detectorSign(
  score: number | "unavailable" | undefined,
  limit: number,
): "detector" | "detector_unavailable" | null {
  if (score === undefined) return null;
  // A score that is not a number is no answer.
  if (score === "unavailable" || !(score >= 0)) return "detector_unavailable";
  return score > limit ? "detector" : null;
}

function livenessFailed(reasons: readonly FailureReason[]): Extract<FaceVerdict, { kind: "failed" }> {
  return { kind: "failed", code: "liveness_failed", reasons };
}

/**
 * Chosen by hand, as are the weights in `faceRisk`: colours weigh as much as the distance and the spread a
 * third of it. They change the `risk_score`, which partners compare with thresholds, but no verdict.
 */
const colourRisk: Readonly<Record<ColourFinding["outcome"], number>> = {
  followed: 0,
  unmeasurable: 0.1,
  not_followed: 0.3,
};

/**
 * Chosen by hand; changes the `risk_score`, not a verdict. A flat picture or a mask with holes can open a
 * mouth and hide its eyes, and there are fewer sequences.
 */
const stillHeadRisk = 0.2;

/**
 * Chosen by hand; changes the `risk_score`, not a verdict. Our signs were measured on rendered attacks only.
 * So one counts as much as unmeasurable colours, and all together twice as much. The operator's detector
 * counts as much as colours that are not followed.
 */
const signRisk = { one: 0.1, most: 0.2, detector: 0.3, detectorUnavailable: 0.1 } as const;

function riskOf(signs: readonly AttackSign[]): number {
  const own = signs.filter((sign) => sign !== "detector" && sign !== "detector_unavailable").length;
  return (
    Math.min(own * signRisk.one, signRisk.most) +
    (signs.includes("detector") ? signRisk.detector : 0) +
    (signs.includes("detector_unavailable") ? signRisk.detectorUnavailable : 0)
  );
}

/** The face's part of `risk_score`, from 0 to 1; `docs/face.md` explains it. */
export function faceRisk(inputs: FaceRiskInputs, matchDistance = defaultMatchDistance): number {
  const share = (value: number, from: number, to: number) =>
    Math.min(Math.max((value - from) / (to - from), 0), 1);
  const risk =
    0.3 * share(inputs.distance, 0.6 * matchDistance, matchDistance) +
    colourRisk[inputs.colours] +
    0.1 * share(inputs.identitySpread, 0.3, livenessLimits.samePersonFrontal) +
    (inputs.stillHead ? stillHeadRisk : 0) +
    riskOf(inputs.signs);
  return Math.min(risk, 1);
}
