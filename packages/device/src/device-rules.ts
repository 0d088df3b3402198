import type { DeviceInputType, VerifyCloseCode, VerifyPhase } from "@assay/contract/verify-protocol";
import type { ServiceMessage } from "@assay/contract/verify-socket";

/**
 * What a closed socket means for the device.
 * - `over`: there is nothing more to do; if the outcome was not received, the session's status has it.
 * - `refused`: this device does not go on, and the person sees why.
 * - `claim_again`: the token is no longer valid, because this device has claimed again elsewhere or another device has taken over. Only a
 * new claim shows which.
 * - `connect_again`: wait a little and connect; nothing is lost.
 * - `own_mistake`: this device sent something that the service does not accept. Connecting once more may help, again and again would not.
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
 * The phase that the device assumes after sending this, until the service says otherwise. Messages that are not listed
 * leave it unchanged.
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
   * Waits before the next connections (backoff); the last one is repeated. Half: thousands of devices knock twice as
   * often at a service that is being restarted. Twice: a person looks at "connection lost" for longer than a lift ride
   * takes.
   */
  backoffMs: [300, 1_000, 2_000, 4_000, 8_000],
  /**
   * Failed connections in a row, about 40 seconds. Fewer: devices give up while the service restarts. More: a person is
   * left before a dead page.
   */
  failuresAllowed: 8,
  /**
   * Sockets that may be closed for a mistake of this device. The service does so only to a device with a fault, which
   * more tries would repeat.
   */
  ownMistakesAllowed: 2,
  /**
   * A challenge with less time left than this is not taken up again after a lost connection: it is left to run out. The
   * page gives a slow person 30.4 seconds for four movements, and the last frames need 1.5 to arrive. Half: the person
   * would be hurried into a failed try. Twice: no challenge of 45 seconds could ever be taken up again.
   */
  leastTimeForFaceMs: 33_000,
  /**
   * Added to the end of a challenge, because the two clocks need not agree on it. Without this margin the service may
   * send the same challenge once more.
   */
  runOutMarginMs: 300,
  /**
   * How long a device without a person waits before it asks again for a face check that was refused with
   * `FACE_CHECK_BUSY`. Half: many that wait ask twice as often for nothing. Twice: a place that became free stays empty
   * for longer.
   */
  turnMs: 5_000,
  /** How often it does so: two minutes. Fewer: a rush makes it fail. More: somebody looks at a command that does not end. */
  turnsAllowed: 24,
} as const;
