import assert from "node:assert/strict";
import test from "node:test";
import { type DeviceKind, type DeviceSigns, deviceKindOf } from "./device-kind.ts";

const mouse = { touchPoints: 0, fingersOnly: false, shortSidePx: 900 };
const phone = { touchPoints: 5, fingersOnly: true, shortSidePx: 390 };
const tablet = { touchPoints: 5, fingersOnly: true, shortSidePx: 820 };

const mac =
  "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 Version/17.4 Safari/605.1.15";
const linux =
  "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36";
const pixel =
  "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Mobile Safari/537.36";
const iphone =
  "Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 Version/17.4 Mobile/15E148 Safari/604.1";

const table: [string, DeviceKind, string, Partial<DeviceSigns>][] = [
  ["Chrome on Android", "android", pixel, { ...phone, hints: { platform: "Android", mobile: true } }],
  [
    "Firefox on Android, without hints",
    "android",
    "Mozilla/5.0 (Android 14; Mobile; rv:131.0) Gecko/131.0 Firefox/131.0",
    phone,
  ],
  [
    "Samsung Internet",
    "android",
    "Mozilla/5.0 (Linux; Android 13; SM-S901B) AppleWebKit/537.36 SamsungBrowser/24.0 Chrome/117.0.0.0 Mobile Safari/537.36",
    phone,
  ],
  [
    "an Android tablet",
    "android",
    "Mozilla/5.0 (Linux; Android 14; SM-X710) AppleWebKit/537.36 Chrome/130.0.0.0 Safari/537.36",
    tablet,
  ],
  [
    "Chrome on Android as a desktop website",
    "android",
    linux,
    { ...phone, hints: { platform: "Linux", mobile: false } },
  ],
  [
    "Firefox on Android as a desktop website",
    "android",
    "Mozilla/5.0 (X11; Linux x86_64; rv:131.0) Gecko/20100101 Firefox/131.0",
    phone,
  ],
  ["Safari on an iPhone", "iphone", iphone, phone],
  [
    "Chrome on an iPhone",
    "iphone",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 CriOS/130.0 Mobile/15E148 Safari/604.1",
    phone,
  ],
  [
    "an app's own view on an iPhone",
    "iphone",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148",
    phone,
  ],
  ["an iPhone as a desktop website", "iphone", mac, phone],
  ["an iPad, which says that it is a Mac", "ipad", mac, tablet],
  [
    "an old iPad",
    "ipad",
    "Mozilla/5.0 (iPad; CPU OS 12_5 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148 Safari/604.1",
    tablet,
  ],
  ["a Mac", "desktop", mac, mouse],
  [
    "Windows",
    "desktop",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/130.0.0.0 Safari/537.36",
    { ...mouse, hints: { platform: "Windows", mobile: false } },
  ],
  [
    "a Windows tablet",
    "desktop",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/130.0.0.0 Safari/537.36",
    { ...tablet, hints: { platform: "Windows", mobile: false } },
  ],
  ["Linux", "desktop", linux, { ...mouse, hints: { platform: "Linux", mobile: false } }],
  [
    "a Linux laptop with a touch screen",
    "desktop",
    linux,
    { touchPoints: 10, fingersOnly: false, shortSidePx: 1080 },
  ],
  [
    "a Chromebook",
    "desktop",
    "Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 Chrome/130.0.0.0 Safari/537.36",
    { ...tablet, hints: { platform: "Chrome OS", mobile: false } },
  ],
  ["a browser that says nothing", "desktop", "", mouse],
  ["the Android shell", "shell", `${pixel} wv`, { ...phone, hasBridge: true }],
  ["an iPhone shell", "shell", iphone, { ...phone, hasBridge: true }],
  ["a kiosk with a shell of its own", "shell", linux, { ...mouse, hasBridge: true }],
  ["the browser at a desk reader", "desk", linux, { ...mouse, fromDesk: true }],
  ["a phone that goes on for a desk reader", "desk", pixel, { ...phone, fromDesk: true }],
];

for (const [name, kind, userAgent, signs] of table)
  test(`${name} is ${kind}`, () => {
    const base = { hints: null, hasBridge: false, fromDesk: false, ...mouse };
    assert.equal(deviceKindOf({ ...base, userAgent, ...signs }), kind);
  });
