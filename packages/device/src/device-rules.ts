import type { DeviceInputType, VerifyCloseCode, VerifyPhase } from "@assay/contract/verify-protocol";
import type { ServiceMessage } from "@assay/contract/verify-socket";

/**
 * What a closed socket means for the device.
 * - `over`: nothing is left to do; if the outcome was not received, the session's status has it.
 * - `refused`: this device cannot continue, and the person sees why.
 * - `claim_again`: the token is no longer valid, because this device claimed again elsewhere or another took
 *   over. A new claim shows which.
 * - `connect_again`: wait a little and connect; nothing is lost.
 * - `own_mistake`: this device sent something that the service does not accept. One more connection may help.
 */
export const closeRules: Readonly<
  Record<VerifyCloseCode, "over" | "refused" | "claim_again" | "connect_again" | "own_mistake">
> = {
  OUTCOME: "over",
  SESSION_ENDED: "refused",
  REPLACED: "refused",
  SOCKET_TOKEN_INVALID: "claim_again",
  SHUTTING_DOWN: "connect_again",
  BUSY: "connect_again",
  INTERNAL: "connect_again",
  IDLE_TIMEOUT: "connect_again",
  HELLO_TIMEOUT: "connect_again",
  FRAME_TOO_LARGE: "own_mistake",
  MESSAGE_INVALID: "own_mistake",
  OUT_OF_ORDER: "own_mistake",
  ALREADY_PASSED: "own_mistake",
  STALE_EXCHANGE: "own_mistake",
  ARTIFACT_INVALID: "own_mistake",
};

/**
 * The phase that the device assumes after sending this, until the service says otherwise.
 * Unlisted messages leave it unchanged.
 */
export const phaseAfterSending: Readonly<Partial<Record<DeviceInputType, VerifyPhase>>> = {
  chip_done: "chip_check",
  chip_restart: "chip",
  face_done: "face_check",
};

/** The phase that a message of the service implies. Other messages name the phase, or leave it unchanged. */
export const phaseAfterHearing: Readonly<Partial<Record<ServiceMessage["type"], VerifyPhase>>> = {
  chip_command: "chip_proof",
  face_challenge: "face_capture",
  outcome: "ended",
};

export const deviceLimits = {
  /**
   * Waits before the next connections (backoff); the last one is repeated. Shorter: thousands of devices
   * burden a restarting service. Longer: a person waits needlessly at "connection lost".
   */
  backoffMs: [300, 1_000, 2_000, 4_000, 8_000],
  /**
   * Failed connections in a row, about 40 seconds. Fewer: devices give up while the service restarts. More: a
   * person waits at a dead page.
   */
  failuresAllowed: 8,
  /**
   * Sockets that may be closed for a mistake of this device. Only a faulty device gets such a close, and
   * retries would repeat the fault.
   */
  ownMistakesAllowed: 2,
  /**
   * A challenge with less time left is not resumed after a lost connection but left to expire. The page gives
   * a slow person 30.4 seconds for four movements, and the last frames need 1.5. Shorter: the person is
   * rushed into a failed try. At twice the value no challenge of 45 seconds could be resumed.
   */
  leastTimeForFaceMs: 33_000,
  /**
   * Added to the end of a challenge, because the two clocks may differ.
   * Without it the service may send the same challenge again.
   */
  runOutMarginMs: 300,
  /**
   * How long an unattended device waits before it retries
   * a face check that was refused with `FACE_CHECK_BUSY`.
   */
  turnMs: 5_000,
  /**
   * Number of such retries: two minutes. Fewer: a load peak makes the command fail. More: it seems to hang.
   */
  turnsAllowed: 24,
} as const;
