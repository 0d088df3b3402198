/**
 * What a browser lends to a page. All of it is off on every page but what the page needs, so that a script that should not
 * be there gets no more than that. Names that only experiments know are left out: browsers complain about them.
 */
const features = [
  "accelerometer",
  "autoplay",
  "browsing-topics",
  "camera",
  "clipboard-read",
  "clipboard-write",
  "display-capture",
  "encrypted-media",
  "fullscreen",
  "gamepad",
  "geolocation",
  "gyroscope",
  "hid",
  "identity-credentials-get",
  "idle-detection",
  "keyboard-map",
  "local-fonts",
  "magnetometer",
  "microphone",
  "midi",
  "otp-credentials",
  "payment",
  "picture-in-picture",
  "publickey-credentials-create",
  "publickey-credentials-get",
  "screen-wake-lock",
  "serial",
  "storage-access",
  "sync-xhr",
  "usb",
  "window-management",
  "xr-spatial-tracking",
] as const;
type Feature = (typeof features)[number];

function permissions(...needed: Feature[]): string {
  return features.map((feature) => `${feature}=(${needed.includes(feature) ? "self" : ""})`).join(", ");
}

/** `frame-ancestors`: who may show the page in a frame. */
const locked = "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const textSources =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'";
const textHeaders = {
  "cache-control": "no-cache",
  "permissions-policy": permissions("clipboard-write"),
  "cross-origin-opener-policy": "same-origin",
} as const;

/**
 * The headers of every page of ours that a browser shows. Scripts, styles, pictures and data come from this service only.
 *
 * A page of another origin that opened one of these must not be able to put something else in its place
 * (Cross-Origin-Opener-Policy). The verify page alone leads to others, those of the partner, and the shells and partners that
 * show it may open more windows from it: these stay connected to it, it does not stay connected to who opened it.
 */
export const pageHeaders = {
  /** Guides and reference: text, and one script that searches, copies and sends what somebody tries. */
  text: { "content-security-policy": `${textSources}; ${locked}`, ...textHeaders },
  /** Shows the preview of the person's page in a frame. */
  dashboard: {
    "content-security-policy": `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; frame-src 'self'; ${locked}`,
    // What it showed must not come back from the history once somebody has signed out.
    "cache-control": "no-store",
    "permissions-policy": permissions(
      "clipboard-write",
      "publickey-credentials-create",
      "publickey-credentials-get",
    ),
    "cross-origin-opener-policy": "same-origin",
  },
  /** The camera, and models that look at its picture. */
  verify: {
    "content-security-policy": `default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; media-src 'self' blob:; worker-src 'self'; manifest-src 'self'; ${locked}`,
    "cache-control": "no-store",
    "permissions-policy": permissions("autoplay", "camera", "clipboard-write", "screen-wake-lock"),
    "cross-origin-opener-policy": "same-origin-allow-popups",
  },
  /**
   * The person's page as a preview, for the dashboard of this service alone. It may ask nobody for anything and is lent nothing, so that whatever is pressed in it has no effect. What
   * it shows besides its own words, the page around it says.
   */
  preview: {
    "content-security-policy":
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'",
    "x-frame-options": "SAMEORIGIN",
    "cache-control": "no-store",
    "permissions-policy": permissions(),
    "cross-origin-opener-policy": "same-origin",
  },
} as const;

/**
 * The policy of the worker that reads the printed lines of a document. It may compile its kernels and nothing else: no address is one that it may connect to,
 * so that a picture of a document cannot leave the device through it. The page hands it what it needs.
 */
export const sealedWorkerPolicy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'";

/** The policy of a page that this one origin may show in a frame. */
export function framedBy(policy: string, ancestor: string): string {
  return policy.replace("frame-ancestors 'none'", `frame-ancestors ${ancestor}`);
}
