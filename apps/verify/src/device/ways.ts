import type { DeviceKind } from "./device-kind.ts";

/** The operator's apps, as the session's details have them. */
export type ReaderApps = {
  android: { package_name: string; install_url: string } | null;
  ios: { app_clip: boolean; install_url: string } | null;
};

export type AppWay =
  | { by: "app"; platform: "android"; packageName: string; installUrl: string }
  | { by: "app"; platform: "ios"; appClip: boolean; installUrl: string };

/**
 * How a person gets from this device to the chip. One way is offered first; another device is always offered
 * too.
 * - `here`: this page reads, with a shell's reader or in the sandbox with a test passport.
 * - `app`: an app on this phone reads.
 * - `code`: a phone reads, which takes over with a code from this screen.
 * - `elsewhere`: a phone that cannot read here. It cannot scan a code on its own screen.
 * - `counter`: no phone can read, so a code would lead nowhere. Staff may have a reader.
 */
export type Way = { by: "here" } | AppWay | { by: "code" } | { by: "elsewhere" } | { by: "counter" };

export function wayOf(kind: DeviceKind, apps: ReaderApps, sandbox: boolean): Way {
  if (kind === "desk" || kind === "shell") return { by: "here" };
  if (!sandbox && apps.android === null && apps.ios === null) return { by: "counter" };
  switch (kind) {
    case "desktop":
    case "ipad":
      return { by: "code" };
    case "android":
      if (apps.android !== null) {
        const { package_name: packageName, install_url: installUrl } = apps.android;
        return { by: "app", platform: "android", packageName, installUrl };
      }
      break;
    case "iphone":
      if (apps.ios !== null) {
        const { app_clip: appClip, install_url: installUrl } = apps.ios;
        return { by: "app", platform: "ios", appClip, installUrl };
      }
      break;
  }
  return sandbox ? { by: "here" } : { by: "elsewhere" };
}

/** In the query of the address that a phone opens in its browser where the app is not there. */
export const appMissingMark = "app=missing";

/**
 * A link into the app for this session. After consent it carries the token with which the app takes over. On
 * Android it is an intent, because Chrome opens no link of the same site in an app. Without the app the
 * browser returns to the page, which offers to install it. In Safari it is a Universal Link, which opens in
 * the browser without the app. The token is in the fragment, which no server sees.
 */
export function appLinkOf(
  way: AppWay,
  page: { origin: string; sessionId: string; handoffToken: string | null },
): string {
  const path = `/verify/${page.sessionId}`;
  const fragment = page.handoffToken === null ? "" : `#handoff=${encodeURIComponent(page.handoffToken)}`;
  const missing = `${page.origin}${path}?${appMissingMark}`;
  if (way.platform === "ios") return `${missing}${fragment}`;
  const { protocol, host } = new URL(page.origin);
  const extras = [
    `scheme=${protocol.slice(0, -1)}`,
    `package=${way.packageName}`,
    `S.browser_fallback_url=${encodeURIComponent(missing)}`,
  ];
  return `intent://${host}${path}${fragment}#Intent;${extras.join(";")};end`;
}
