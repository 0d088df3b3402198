import { t } from "../i18n/words.ts";

/** The order matters: Edge also names Chrome, and Chrome also names Safari. */
const browsers: readonly (readonly [string, RegExp])[] = [
  ["Edge", /\bEdg(?:e|A|iOS)?\/\d/],
  ["Opera", /\bOPR\/\d/],
  ["Samsung Internet", /\bSamsungBrowser\/\d/],
  ["Firefox", /\b(?:Firefox|FxiOS)\/\d/],
  ["Chrome", /\b(?:Chrome|CriOS|HeadlessChrome)\/\d/],
  ["Safari", /\bVersion\/\d.*\bSafari\/\d/],
  ["curl", /^curl\/\d/],
  ["Node.js", /^(?:node|undici)\b/i],
];

const systems: readonly (readonly [string, RegExp])[] = [
  ["iPhone", /\biPhone\b/],
  ["iPad", /\biPad\b/],
  ["Android", /\bAndroid\b/],
  ["Windows", /\bWindows NT\b/],
  ["ChromeOS", /\bCrOS\b/],
  ["macOS", /\bMac OS X\b/],
  ["Linux", /\bLinux\b/],
];

type Device = { name: string; isPhone: boolean };

/** “Firefox on Windows”, from the User-Agent, which a browser can set to anything. */
export function deviceName(userAgent: string): Device {
  const find = (list: typeof browsers) => list.find(([, pattern]) => pattern.test(userAgent))?.[0];
  const [browser, system] = [find(browsers), find(systems)];
  const isPhone = system === "iPhone" || system === "iPad" || system === "Android";
  if (browser === undefined && system === undefined) {
    const first = /^[A-Za-z][\w.-]*/.exec(userAgent)?.[0];
    return { name: first === undefined || first === "Mozilla" ? t.account.unknownProgram : first, isPhone };
  }
  if (system === undefined) return { name: browser ?? "", isPhone };
  const named = { browser: browser ?? t.account.aBrowser, system };
  return { name: t.account.browserOn(named), isPhone };
}
