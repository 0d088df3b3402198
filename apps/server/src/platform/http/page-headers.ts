/**
 * Browser features. Each page disables all except those that it needs, to limit an injected script.
 * Experimental names are left out, because browsers log warnings about them.
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
 * Headers of every HTML page. All content comes from this service. Cross-Origin-Opener-Policy keeps a foreign
 * opener from replacing our page. The verify page may open windows of the partner, so it stays connected to
 * those, but not to its opener.
 */
export const pageHeaders = {
  /** Guides and reference: text, and one script that searches, copies and sends test requests. */
  text: { "content-security-policy": `${textSources}; ${locked}`, ...textHeaders },
  /** Shows the preview of the verify page in a frame. */
  dashboard: {
    "content-security-policy": `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; frame-src 'self'; ${locked}`,
    // After sign-out the browser history must not show the page.
    "cache-control": "no-store",
    "permissions-policy": permissions(
      "clipboard-write",
      "publickey-credentials-create",
      "publickey-credentials-get",
    ),
    "cross-origin-opener-policy": "same-origin",
  },
  /** The camera, and models that process its picture. */
  verify: {
    "content-security-policy": `default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; media-src 'self' blob:; worker-src 'self'; manifest-src 'self'; ${locked}`,
    "cache-control": "no-store",
    "permissions-policy": permissions("autoplay", "camera", "clipboard-write", "screen-wake-lock"),
    "cross-origin-opener-policy": "same-origin-allow-popups",
  },
  /**
   * The preview of the verify page, only for the dashboard of this service. It has no network access and no
   * browser features, so nothing in it has an effect. The surrounding page supplies its content.
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
 * The policy of the worker that reads the printed lines of a document. It may only compile its kernels and
 * has no network access, so that a picture of a document cannot leave the device. The page passes it all
 * data.
 */
export const sealedWorkerPolicy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'";

/** The policy of a page that one other origin may show in a frame. */
export function framedBy(policy: string, ancestor: string): string {
  return policy.replace("frame-ancestors 'none'", `frame-ancestors ${ancestor}`);
}
