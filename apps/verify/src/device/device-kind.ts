/**
 * The kind of device that shows this page, known before consent: each kind reaches the chip in another way.
 * - `desk`: a desk reader has read the chip, and this browser continues with the face.
 * - `shell`: an app around this page lends it the phone's reader.
 * - `android`, `iphone`: a phone that can read, but whose browser must not.
 * - `ipad`: treated like a desktop, because no iPad has a chip reader.
 */
export type DeviceKind = "desk" | "shell" | "android" | "iphone" | "ipad" | "desktop";

/**
 * What a browser reports about itself.
 * None of it is proof; a wrong guess costs a tap on "Use another device".
 */
export type DeviceSigns = {
  userAgent: string;
  /** `navigator.userAgentData` (client hints), null where the browser has none. */
  hints: { platform: string; mobile: boolean } | null;
  touchPoints: number;
  /** Touch only: no mouse, no pad, nothing that can hover. */
  fingersOnly: boolean;
  shortSidePx: number;
  hasBridge: boolean;
  fromDesk: boolean;
};

/** No iPhone is wider, no iPad narrower. */
const widestPhonePx = 500;

export function deviceKindOf(signs: DeviceSigns): DeviceKind {
  if (signs.fromDesk) return "desk";
  if (signs.hasBridge) return "shell";
  const { userAgent, hints } = signs;
  if (hints?.platform === "Android") return "android";
  // A phone of Windows, and some televisions, once called themselves Android as well.
  if (/\bAndroid\b/.test(userAgent) && !/Windows Phone|\bTV\b|CrOS/.test(userAgent)) return "android";
  if (/\biPhone\b|\biPod\b/.test(userAgent)) return "iphone";
  if (/\biPad\b/.test(userAgent)) return "ipad";
  // "Desktop website": an iPad always, an iPhone on demand, say they are a Mac. No Mac has a touch screen.
  if (/\bMacintosh\b/.test(userAgent) && signs.touchPoints > 1)
    return signs.shortSidePx < widestPhonePx ? "iphone" : "ipad";
  // The same on Android says Linux. A Linux computer with a touch screen also has something that hovers.
  const isLinux = hints === null ? /\bX11; Linux\b/.test(userAgent) : hints.platform === "Linux";
  if (isLinux && signs.touchPoints > 1 && signs.fingersOnly && signs.shortSidePx < widestPhonePx)
    return "android";
  return "desktop";
}

type Hints = { platform?: unknown; mobile?: unknown };

/** Reads the signs of this browser. */
export function readDeviceSigns({
  hasBridge,
  fromDesk,
}: Pick<DeviceSigns, "hasBridge" | "fromDesk">): DeviceSigns {
  const hints = (navigator as Navigator & { userAgentData?: Hints }).userAgentData;
  return {
    userAgent: navigator.userAgent,
    hints:
      typeof hints?.platform === "string"
        ? { platform: hints.platform, mobile: hints.mobile === true }
        : null,
    touchPoints: navigator.maxTouchPoints,
    fingersOnly: matchMedia("(pointer: coarse)").matches && !matchMedia("(any-hover: hover)").matches,
    shortSidePx: Math.min(screen.width, screen.height),
    hasBridge,
    fromDesk,
  };
}
