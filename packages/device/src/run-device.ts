import type { RequirementName } from "@assay/contract/facts";
import type { FailureCode } from "@assay/contract/sessions";
import { verifySocketLimits } from "@assay/contract/verify-protocol";
import { type ClaimOptions, type ClaimStep, claimAttempt, claimSteps } from "./claim-attempt.ts";
import type { DeviceEnd, FaceChallenge } from "./device-state.ts";
import { type ChipSource, DeviceDriver, type FaceCapture } from "./drive-device.ts";
import { DeviceError } from "./verification-url.ts";

/**
 * A reading device without a screen. It uses only HTTP and WebSocket, like any other device. The partner's
 * simulator and the desk reader are built on it.
 */

export const stopSteps = [...claimSteps, "chip", "face"] as const;
type StopStep = (typeof stopSteps)[number];

/** The camera's pictures during the challenge: JPEGs, yielded as they are taken. */
export type CameraSource = (
  challenge: FaceChallenge,
) => AsyncIterable<{ readonly jpeg: Uint8Array; readonly atMs: number }>;

type DeviceRun = Omit<ClaimOptions, "stopAfter"> & {
  chip: ChipSource;
  /**
   * Without a camera, the test document decides in the sandbox,
   * and a live session needs another device for the face.
   */
  camera?: CameraSource;
  stopAfter?: StopStep;
  /** Leaves the session unchanged; `runDevice` rejects with the signal's reason. */
  signal?: AbortSignal;
};

export type DeviceOutcome =
  | { kind: "succeeded"; sessionId: string }
  | {
      kind: "failed";
      sessionId: string;
      failureCode: FailureCode | null;
      /** The session's requirement that this document cannot meet, if that is the reason. */
      unmetRequirement: RequirementName | null;
    }
  /** As requested with `stopAfter`. */
  | { kind: "stopped"; sessionId: string; after: ClaimStep | "chip" }
  /** The chip has passed. A browser that opens `url` soon continues in place of this device. */
  | { kind: "face_elsewhere"; sessionId: string; url: string }
  /** The service could not carry it out; nothing was counted. */
  | { kind: "fault"; sessionId: string; code: string; message: string }
  | { kind: "closed"; sessionId: string; code: string };

export function describeOutcome(outcome: DeviceOutcome): string {
  switch (outcome.kind) {
    case "succeeded":
      return "Succeeded.";
    case "failed":
      return outcome.unmetRequirement === null
        ? `Failed: ${outcome.failureCode}.`
        : `Failed: ${outcome.failureCode}, because the session requires ${outcome.unmetRequirement} and this document cannot give it.`;
    case "stopped":
      return `Stopped after ${outcome.after}, as asked.`;
    case "face_elsewhere":
      return `The chip has passed. Within ${verifySocketLimits.resumeMs / 60_000} minutes, open this in a browser with a camera, and show the face there: ${outcome.url}`;
    case "fault":
      return `The service could not carry it out (${outcome.code}): ${outcome.message}`;
    case "closed":
      return `The service closed the socket: ${outcome.code}.`;
  }
}

/** The whole verification, from the link to the outcome. Rejects if the chip cannot be read. */
export async function runDevice(run: DeviceRun): Promise<DeviceOutcome> {
  const claimed = await claimAttempt(run);
  const { sessionId } = claimed;
  if ("stopped" in claimed) return { kind: "stopped", sessionId, after: claimed.stopped };
  let { socketToken } = claimed;
  let error: unknown = null;
  const ended = Promise.withResolvers<DeviceEnd>();
  const driver = new DeviceDriver(
    {
      baseUrl: claimed.baseUrl,
      sessionId,
      claim: claimed.claimAgain,
      onChange: ({ end, token }) => {
        socketToken = token ?? socketToken;
        if (end !== null) ended.resolve(end);
      },
      ...(run.onStep === undefined ? {} : { onStep: run.onStep }),
      onError: (thrown) => {
        error = thrown;
      },
    },
    { camera: run.camera !== undefined, stopAfterChip: run.stopAfter === "chip" },
  );
  driver.setChip(run.chip);
  if (run.camera !== undefined) driver.setCamera(captureFrom(run.camera));
  driver.feed({ kind: "start", token: socketToken });
  const leave = () => {
    driver.feed({ kind: "stop" });
    ended.reject(run.signal?.reason);
  };
  run.signal?.addEventListener("abort", leave);
  if (run.signal?.aborted === true) leave();
  const end = await ended.promise.finally(() => run.signal?.removeEventListener("abort", leave));
  switch (end.kind) {
    case "problem":
      throw error ?? new DeviceError(`The document could not be read: ${end.problem}.`);
    case "face_elsewhere":
      return {
        kind: "face_elsewhere",
        sessionId,
        url: `${claimed.baseUrl}/verify/${sessionId}#socket=${encodeURIComponent(socketToken)}`,
      };
    default:
      return { ...end, sessionId };
  }
}

function captureFrom(camera: CameraSource): FaceCapture {
  return async (challenge, sendFrame, signal) => {
    for await (const { jpeg, atMs } of camera(challenge)) {
      if (signal.aborted) return;
      sendFrame(jpeg, atMs);
    }
  };
}
