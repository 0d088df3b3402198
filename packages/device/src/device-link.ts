import { type VerifyCloseCode, verifyCloseCodes } from "@assay/contract/verify-protocol";
import type { ServiceMessage } from "@assay/contract/verify-socket";
import { dropChip } from "./device-chip.ts";
import { closeRules, deviceLimits } from "./device-rules.ts";
import type { DeviceEffect, DeviceEnd, DeviceInput, DeviceState, DeviceStep } from "./device-state.ts";
import { also, type Handlers, stay } from "./device-step.ts";

/** Codes of a failed claim that is worth retrying. A claim without an answer is retried too. */
const passingClaimFailures: readonly string[] = ["INTERNAL_SERVER_ERROR", "SERVICE_UNAVAILABLE"];

/** Handlers for events of the connection. */
export const onLink: Pick<
  Handlers<DeviceInput, "kind">,
  "claimed" | "claim_failed" | "connected" | "closed" | "timer" | "awake"
> = {
  claimed: (state, { job, token }) =>
    state.claimJob === job
      ? also(stay({ ...state, claimJob: null, link: "none", token }, { kind: "keep_token", token }), connect)
      : stay(state),
  claim_failed: (state, { job, code }) => {
    if (state.claimJob !== job) return stay(state);
    const unclaimed: DeviceState = { ...state, claimJob: null, link: "none" };
    if (code === null || passingClaimFailures.includes(code)) return connectLater(unclaimed);
    return refuse(unclaimed, code);
  },
  connected: (state) =>
    state.link === "opening" && state.token !== null
      ? stay(
          { ...state, link: "greeting" },
          { kind: "send", message: { type: "hello", socket_token: state.token } },
        )
      : stay(state),
  closed: (state, { reason }) => (isConnected(state) ? afterClose(state, reason) : stay(state)),
  timer: (state, { timer }) => {
    if (timer === "reconnect") return state.link === "waiting" ? connect(state) : stay(state);
    if (timer === "turn") return stay({ ...state, waitsForTurn: false });
    return state.faceWaits ? connectAnew({ ...state, faceWaits: false }) : stay(state);
  },
  awake: (state) =>
    state.link === "waiting"
      ? also(stay(state, { kind: "clear_timer", timer: "reconnect" }), connect)
      : stay(state),
};

export function connect(state: DeviceState): DeviceStep {
  if (state.token !== null) return stay({ ...state, link: "opening" }, { kind: "connect" });
  const job = state.nextJob;
  return stay({ ...state, link: "claiming", claimJob: job, nextJob: job + 1 }, { kind: "claim", job });
}

function connectLater(state: DeviceState): DeviceStep {
  const { backoffMs, failuresAllowed } = deviceLimits;
  const ms = backoffMs[Math.min(state.failures, backoffMs.length - 1)] ?? 0;
  const failures = state.failures + 1;
  if (failures > failuresAllowed) return stay({ ...state, failures, connection: "gone" });
  return stay(
    { ...state, failures, link: "waiting", connection: "lost" },
    { kind: "set_timer", timer: "reconnect", ms },
  );
}

/** Leaves a connection that works, so that the service discards what was sent on it. */
export function connectAnew(state: DeviceState): DeviceStep {
  if (!isConnected(state)) return stay(state);
  return also(stay({ ...disconnected(state), connection: "connecting" }, { kind: "disconnect" }), connect);
}

function afterClose(state: DeviceState, reason: string): DeviceStep {
  const code = state.announcedClose ?? reason;
  const closed: DeviceState = { ...disconnected(state), lastClose: code === "" ? null : code };
  if (state.outcome !== null) return stay(closed);
  switch (ruleOfClose(code)) {
    case "over":
      return refuse(closed, "SESSION_ENDED");
    case "refused":
      return refuse(closed, code);
    case "claim_again":
      return also(stay({ ...closed, token: null }, { kind: "keep_token", token: null }), connectLater);
    case "connect_again":
      return connectLater(closed);
    case "own_mistake": {
      const ownMistakes = state.ownMistakes + 1;
      if (ownMistakes <= deviceLimits.ownMistakesAllowed) return connectLater({ ...closed, ownMistakes });
      // The bytes that were read may be what the service refuses, so another try begins with a fresh reading.
      return dropChip({ ...closed, ownMistakes, connection: "gone", faceSource: null, step: null });
    }
  }
}

function ruleOfClose(code: string): (typeof closeRules)[VerifyCloseCode] {
  if (Object.hasOwn(verifyCloseCodes, code)) return closeRules[code as VerifyCloseCode];
  // Without a reason it was the network. An unknown reason counts as a fault of this device.
  return code === "" ? "connect_again" : "own_mistake";
}

/** This device is refused and stops. */
function refuse(state: DeviceState, code: string): DeviceStep {
  return dropChip({ ...state, connection: "closed", refused: code, faceSource: null, step: null });
}

/** The state that is void once the connection has ended. */
function disconnected(state: DeviceState): DeviceState {
  return { ...state, link: "none", announcedClose: null, command: null, faceAsked: false, challenge: null };
}

export function stop(state: DeviceState): DeviceStep {
  const left: DeviceState = {
    ...disconnected(state),
    stopped: true,
    claimJob: null,
    faceSource: null,
    capture: null,
    faceWaits: false,
    waitsForTurn: false,
    step: null,
  };
  const effects: DeviceEffect[] = [];
  if (state.waitsForTurn) effects.push({ kind: "clear_timer", timer: "turn" });
  if (state.link === "waiting") effects.push({ kind: "clear_timer", timer: "reconnect" });
  if (state.faceWaits) effects.push({ kind: "clear_timer", timer: "challenge" });
  if (state.capture !== null) effects.push({ kind: "abort_capture" });
  if (isConnected(state)) effects.push({ kind: "disconnect" });
  return also(stay(left, ...effects), dropChip);
}

export function finish(state: DeviceState, end: DeviceEnd): DeviceStep {
  return stop({ ...state, end });
}

function isConnected({ link }: DeviceState): boolean {
  return link === "opening" || link === "greeting" || link === "open";
}

export function saidBeforeWelcome({ link }: DeviceState, type: ServiceMessage["type"]): boolean {
  return link === "greeting" && (type === "welcome" || type === "closing" || type === "outcome");
}
