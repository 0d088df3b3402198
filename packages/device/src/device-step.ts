import { type DeviceInputType, phaseRules, type VerifyPhase } from "@assay/contract/verify-protocol";
import { phaseAfterSending } from "./device-rules.ts";
import type { DeviceEffect, DeviceState, DeviceStep, FaceSourceKind, SpokenMessage } from "./device-state.ts";

/** One function for each kind of input. */
export type Handlers<Union, Key extends keyof Union> = {
  readonly [Name in Union[Key] & string]: (
    state: DeviceState,
    input: Extract<Union, Record<Key, Name>>,
    nowMs: number,
  ) => DeviceStep;
};

/** Whether the service takes this now, by the contract's table. */
export function may({ link, phase }: DeviceState, type: DeviceInputType): boolean {
  return link === "open" && phase !== null && phaseRules[type][phase] === "taken";
}

/** Sends a message where the service takes it, and does nothing otherwise. */
export function say(state: DeviceState, message: Exclude<SpokenMessage, { type: "hello" }>): DeviceStep {
  if (!may(state, message.type)) return stay(state);
  return stay({ ...state, phase: phaseAfterSending[message.type] ?? state.phase }, { kind: "send", message });
}

export function stay(state: DeviceState, ...effects: DeviceEffect[]): DeviceStep {
  return { state, effects };
}

export function also(step: DeviceStep, next: (state: DeviceState) => DeviceStep): DeviceStep {
  const { state, effects } = next(step.state);
  return { state, effects: [...step.effects, ...effects] };
}

export function isFacePhase(phase: VerifyPhase | null): boolean {
  return phase === "face" || phase === "face_capture" || phase === "face_check";
}

export function isCamera(source: FaceSourceKind | null): boolean {
  return source === "camera" || source === "still_camera";
}
