import assert from "node:assert/strict";
import test from "node:test";
import { Problem } from "../../settings/kinds.ts";
import { parseAndroidReaderApp, parseIosReaderApp } from "../../settings/reader-apps.ts";
import { appBannerOf, viewReaderApps } from "./reader-apps.ts";

const hex = "14".repeat(31).concat("af");
const digest = `${"14:".repeat(31)}AF`;
const install = "install=https://store.example/app?id=org.example.verify";
const publicUrl = "https://verify.example.org";
const store = "install=https://apps.apple.com/de/app/verify/id1234567890";

test("an Android app has a package, one digest or more in any writing, and an install address", () => {
  const other = `${"AB:".repeat(31)}CD`;
  for (const text of [
    `package=org.example.verify,sha256=${hex},sha256=${other},${install}`,
    ` ${install} , sha256=${digest.toLowerCase()}, package=org.example.verify,sha256=${other},sha256=${hex}`,
  ])
    assert.deepEqual(parseAndroidReaderApp(text), {
      packageName: "org.example.verify",
      certificateDigests: [digest, other],
      installUrl: "https://store.example/app?id=org.example.verify",
    });
  const comma = parseAndroidReaderApp(`package=a.b,install=https://x.example/a,b?c=d,sha256=${hex}`);
  assert.equal(comma.installUrl, "https://x.example/a,b?c=d");
});

test("an iPhone app has a team and a bundle; its App Clip belongs to it and is in the App Store", () => {
  assert.deepEqual(parseIosReaderApp(`app=ABCDE12345.org.example.verify,${install}`), {
    appId: "ABCDE12345.org.example.verify",
    clipId: null,
    installUrl: "https://store.example/app?id=org.example.verify",
  });
  const clip = "ABCDE12345.org.example.verify.Clip";
  assert.equal(parseIosReaderApp(`app=ABCDE12345.org.example.verify,clip=${clip},${store}`).clipId, clip);
});

test("what is missing, twice or malformed is named, and the value is not repeated", () => {
  const android: [string, RegExp][] = [
    ["org.example.verify", /parts like package=…/],
    [`package=org.example.verify,digest=${hex}`, /with these names: package, sha256, install/],
    [`sha256=${hex},${install}`, /lacks package=/],
    [`package=org.example.verify,${install}`, /lacks sha256=/],
    [
      `package=org.example.verify,package=org.example.other,sha256=${hex},${install}`,
      /package more than once/,
    ],
    [`package=verify,sha256=${hex},${install}`, /not an application id/],
    [`package=org.1example,sha256=${hex},${install}`, /not an application id/],
    [`package=org.example.verify,sha256=${hex.slice(2)},${install}`, /not the digest of a certificate/],
    [`package=org.example.verify,sha256=1:${hex.slice(1)},${install}`, /not the digest of a certificate/],
    [`package=org.example.verify,sha256=${hex},install=http://store.example`, /not a plain https URL/],
    [`package=org.example.verify,sha256=${hex},install=https://u:p@store.example`, /not a plain https URL/],
    [`package=org.example.verify,sha256=${hex},install=`, /parts like/],
  ];
  for (const [text, problem] of android)
    assert.throws(
      () => parseAndroidReaderApp(text),
      (error: unknown) => error instanceof Problem && problem.test(error.message),
      text,
    );
  const app = "app=ABCDE12345.org.example.verify";
  const ios: [string, RegExp][] = [
    [`${install}`, /lacks app=/],
    [`app=org.example.verify,${install}`, /not a team and a bundle id/],
    [`${app},clip=ABCDE12345.org.example.other.Clip,${store}`, /does not begin with the id of its app/],
    [`${app},clip=ABCDE12345.org.example.verifyClip,${store}`, /does not begin with the id of its app/],
    [`${app},clip=ABCDE12345.org.example.verify.Clip,${install}`, /must be one of the App Store/],
  ];
  for (const [text, problem] of ios) assert.throws(() => parseIosReaderApp(text), problem, text);
});

test("the banner names an app in the App Store, and its App Clip, to Safari", () => {
  const app = "app=ABCDE12345.org.example.verify";
  assert.equal(appBannerOf(null), null);
  assert.equal(appBannerOf(parseIosReaderApp(`${app},${install}`)), null);
  assert.equal(
    appBannerOf(parseIosReaderApp(`${app},${store}`)),
    '<meta name="apple-itunes-app" content="app-id=1234567890" />',
  );
  assert.equal(
    appBannerOf(parseIosReaderApp(`${app},clip=ABCDE12345.org.example.verify.Clip,${store}`)),
    '<meta name="apple-itunes-app" content="app-id=1234567890, app-clip-bundle-id=org.example.verify.Clip, app-clip-display=card" />',
  );
});

test("the page gets the address to install an app and, on Android, the app to open", () => {
  assert.deepEqual(viewReaderApps({ android: null, ios: null }, publicUrl), { android: null, ios: null });
  const apps = {
    android: parseAndroidReaderApp(`package=org.example.verify,sha256=${hex},${install}`),
    ios: parseIosReaderApp(`app=ABCDE12345.org.example.verify,${store}`),
  };
  assert.deepEqual(viewReaderApps(apps, publicUrl), {
    android: { package_name: "org.example.verify", install_url: apps.android.installUrl },
    ios: { app_clip: false, install_url: apps.ios.installUrl },
  });
});
