import {
  decodeArtifactFrame,
  type VerifyCloseCode,
  verifySocketLimits,
} from "@assay/contract/verify-protocol";
import { type DeviceMessage, deviceMessages } from "@assay/contract/verify-socket";
import { Compile } from "typebox/compile";
import type { SocketInput } from "../attempts/attempt-run.ts";

const validators = Object.fromEntries(
  Object.entries(deviceMessages).map(([type, schema]) => [type, Compile(schema)]),
);

/** The message in a text frame, or null. Its text is never quoted in an error or a log. */
export function parseDeviceMessage(text: string): DeviceMessage | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  const type = typeof value === "object" && value !== null && "type" in value ? value.type : undefined;
  if (typeof type !== "string" || !Object.hasOwn(validators, type)) return null;
  return validators[type]?.Check(value) ? (value as DeviceMessage) : null;
}

/** A frame of a device that has been welcomed, or why the socket is closed for it. */
export function readFrame(data: Buffer, isBinary: boolean): SocketInput | VerifyCloseCode {
  if (isBinary) {
    const frame = decodeArtifactFrame(data);
    return frame === null ? "MESSAGE_INVALID" : { kind: "part", frame };
  }
  if (data.length > verifySocketLimits.textBytes) return "FRAME_TOO_LARGE";
  const message = parseDeviceMessage(data.toString("utf8"));
  if (message === null) return "MESSAGE_INVALID";
  return message.type === "hello" ? "OUT_OF_ORDER" : { kind: "message", message };
}
