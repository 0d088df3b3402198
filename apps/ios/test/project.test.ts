import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import path from "node:path";
import test from "node:test";
import { pageLanguages } from "@assay/contract/facts";
import { toHex } from "@assay/emrtd/bytes";
import { ldsApplicationId } from "@assay/emrtd/lds/chip-files";
import { parseIosReaderApp } from "../../server/src/settings/reader-apps.ts";
import { appSiteAssociationOf } from "../../server/src/verification/verify/reader-apps.ts";
import {
  dictionary,
  type PropertyDictionary,
  type PropertyValue,
  readTextPropertyList,
  readXmlPropertyList,
  words,
} from "./support/property-list.ts";

const folder = path.resolve(import.meta.dirname, "..");
const read = (file: string) => readFileSync(path.join(folder, file), "utf8");
const languages = [...pageLanguages].sort();
const swift = globSync("Shared/*.swift", { cwd: folder }).sort();

test("app and App Clip may read travel documents, and are on the service's domain", () => {
  const app = readXmlPropertyList(read("App/App.entitlements"));
  const clip = readXmlPropertyList(read("Clip/Clip.entitlements"));
  for (const rights of [app, clip])
    assert.deepEqual(rights["com.apple.developer.nfc.readersession.formats"], ["TAG", "PACE"]);
  assert.deepEqual(app["com.apple.developer.associated-domains"], [
    "applinks:$(ASSAY_HOST)",
    "appclips:$(ASSAY_HOST)",
  ]);
  assert.deepEqual(clip["com.apple.developer.associated-domains"], ["appclips:$(ASSAY_HOST)"]);
  assert.equal(clip["com.apple.developer.on-demand-install-capable"], true);
  assert.deepEqual(clip["com.apple.developer.parent-application-identifiers"], [
    "$(AppIdentifierPrefix)$(ASSAY_BUNDLE_ID)",
  ]);
});

test("the phone selects the application that the page's reader wants, and no other", () => {
  for (const file of ["App/Info.plist", "Clip/Info.plist"]) {
    const info = readXmlPropertyList(read(file));
    const selected = words(info["com.apple.developer.nfc.readersession.iso7816.select-identifiers"]);
    assert.deepEqual(selected, [toHex(ldsApplicationId).toUpperCase()], file);
    // A web view bound to domains runs no script of the app on others,
    // and Assay Reader knows no domains beforehand.
    assert.equal(info.WKAppBoundDomains, undefined, file);
    assert.deepEqual(
      [info.AssayHost, info.AssayAsks, info.AssayAllow],
      ["$(ASSAY_HOST)", "$(ASSAY_ASKS)", "$(ASSAY_ALLOW)"],
      file,
    );
    for (const reason of ["NFCReaderUsageDescription", "NSCameraUsageDescription"])
      assert.ok(String(info[reason]).length > 20, `${file} ${reason}`);
    assert.equal(info.NSMicrophoneUsageDescription, undefined, "the microphone is never asked for");
    assert.equal(info.NSAppTransportSecurity, undefined, "nothing is loaded without encryption");
    const scenes = dictionary(dictionary(info.UIApplicationSceneManifest).UISceneConfigurations);
    const [scene] = scenes.UIWindowSceneSessionRoleApplication as readonly PropertyDictionary[];
    assert.equal(scene?.UISceneDelegateClassName, "$(PRODUCT_MODULE_NAME).SceneDelegate", file);
    assert.match(read("Shared/Shell.swift"), /final class SceneDelegate:/);
  }
  const { NSAppClip: clipOnly, ...clip } = readXmlPropertyList(read("Clip/Info.plist"));
  assert.deepEqual(clip, readXmlPropertyList(read("App/Info.plist")), "else they are the same");
  assert.equal(dictionary(clipOnly).NSAppClipRequestLocationConfirmation, false);
});

test("the privacy manifest says that nobody is tracked", () => {
  const privacy = readXmlPropertyList(read("Shared/Resources/PrivacyInfo.xcprivacy"));
  assert.equal(privacy.NSPrivacyTracking, false);
  assert.deepEqual(privacy.NSPrivacyTrackingDomains, []);
  const collected = privacy.NSPrivacyCollectedDataTypes as readonly PropertyDictionary[];
  for (const kind of collected) assert.equal(kind.NSPrivacyCollectedDataTypeTracking, false);
  // An app must name its reasons for these; ours uses none of them.
  const needsReason = /UserDefaults|systemUptime|volumeAvailableCapacity|creationDate|activeInputModes/;
  for (const file of swift) assert.doesNotMatch(read(file), needsReason, file);
});

test("the shell's words are there in every language of the page", () => {
  const keys = [...read("Shared/Texts.swift").matchAll(/case \w+ = "(\w+)"/g)].map(([, key]) => key ?? "");
  assert.ok(keys.length > 10);
  const folders = globSync("Shared/Resources/*.lproj", { cwd: folder }).map((name) => path.basename(name));
  assert.deepEqual(
    folders.sort(),
    languages.map((language) => `${language}.lproj`),
  );
  for (const language of languages) {
    const texts = readTextPropertyList(read(`Shared/Resources/${language}.lproj/Localizable.strings`), {
      bare: true,
    });
    assert.deepEqual(Object.keys(texts).sort(), [...keys].sort(), language);
    for (const key of ["ask_title", "ask_partner", "ask_refused"])
      assert.equal(String(texts[key]).split("%@").length, 2, `${language} ${key}`);
    for (const [key, text] of Object.entries(texts)) assert.ok(String(text).length > 3, `${language} ${key}`);
    const info = readTextPropertyList(read(`Shared/Resources/${language}.lproj/InfoPlist.strings`), {
      bare: true,
    });
    assert.deepEqual(Object.keys(info), ["NFCReaderUsageDescription", "NSCameraUsageDescription"], language);
  }
});

const project = readTextPropertyList(read("Assay.xcodeproj/project.pbxproj"));
const objects = dictionary(project.objects);

function object(id: PropertyValue | undefined): PropertyDictionary {
  assert.ok(typeof id === "string" && objects[id] !== undefined, `${String(id)} is an object`);
  return dictionary(objects[id]);
}

test("everything that the project file refers to is there", () => {
  const isId = /^A55A[0-9A-F]{20}$/;
  const used = new Set<string>();
  const look = (value: PropertyValue): void => {
    if (typeof value === "string") {
      if (isId.test(value)) used.add(value);
    } else if (typeof value === "object") for (const part of Object.values(value)) look(part);
  };
  for (const value of Object.values(objects)) look(value);
  for (const id of used) assert.ok(objects[id] !== undefined, `${id} is an object`);
  const root = String(project.rootObject);
  const left = Object.keys(objects).filter((id) => id !== root && !used.has(id));
  assert.deepEqual(left, [], "and nothing is left over");

  for (const value of Object.values(objects)) {
    const { isa, path: file, sourceTree, exceptions } = dictionary(value);
    if (sourceTree === "<group>" && file !== undefined)
      assert.ok(existsSync(path.join(folder, String(file))), `${String(isa)} ${String(file)}`);
    if (isa !== "PBXFileSystemSynchronizedRootGroup") continue;
    for (const id of exceptions === undefined ? [] : words(exceptions))
      for (const name of words(object(id).membershipExceptions))
        assert.ok(existsSync(path.join(folder, String(file), name)), name);
  }
  assert.deepEqual(
    words(object(project.rootObject).knownRegions).toSorted(),
    ["Base", ...languages],
    "Xcode leaves out the words of a language that it is not told of",
  );
  for (const name of ["Assay", "AssayClip"])
    for (const [, id] of read(`Assay.xcodeproj/xcshareddata/xcschemes/${name}.xcscheme`).matchAll(
      /BlueprintIdentifier="(\w+)"/g,
    ))
      assert.equal(object(id).name, name);
  assert.ok(existsSync(path.join(folder, "Shared/Resources/chip-transport.js")));
});

test("both targets are made of the same source, and the App Clip is inside of the app", () => {
  const [app, clip] = words(object(project.rootObject).targets).map(object);
  assert.ok(app !== undefined && clip !== undefined);
  assert.equal(app.productType, "com.apple.product-type.application");
  assert.equal(clip.productType, "com.apple.product-type.application.on-demand-install-capable");
  const foldersOf = (target: PropertyDictionary) =>
    words(target.fileSystemSynchronizedGroups).map((id) => object(id).path);
  assert.deepEqual(foldersOf(app), ["Shared", "App"]);
  assert.deepEqual(foldersOf(clip), ["Shared", "Clip"]);
  const embed = words(app.buildPhases)
    .map(object)
    .find(({ isa }) => isa === "PBXCopyFilesBuildPhase");
  const [embedded] = words(embed?.files);
  assert.equal(object(embedded).fileRef, clip.productReference);

  for (const [target, name] of [
    [app, "App"],
    [clip, "Clip"],
  ] as const)
    for (const id of words(object(target.buildConfigurationList).buildConfigurations)) {
      const settings = dictionary(object(id).buildSettings);
      assert.ok(existsSync(path.join(folder, String(settings.INFOPLIST_FILE))), name);
      assert.ok(existsSync(path.join(folder, String(settings.CODE_SIGN_ENTITLEMENTS))), name);
    }
});

test("one file configures everything, and its identifiers are those that the service takes", () => {
  const settings = new Map(
    [...read("Config.xcconfig").matchAll(/^(ASSAY_\w+) =(.*)$/gm)].map(([, name = "", value = ""]) => [
      name,
      value.trim(),
    ]),
  );
  const known = [...settings.keys()].sort();
  const asked = new Set<string>();
  for (const file of globSync("{App,Clip}/*", { cwd: folder }).concat("Assay.xcodeproj/project.pbxproj"))
    for (const [, name = ""] of read(file).matchAll(/\$\((ASSAY_\w+)\)/g)) asked.add(name);
  assert.deepEqual([...asked].sort(), known);
  assert.match(read("Config.xcconfig"), /^#include\? "Local\.xcconfig"$/m);

  const appId = `${settings.get("ASSAY_TEAM")}.${settings.get("ASSAY_BUNDLE_ID")}`;
  const reader = parseIosReaderApp(
    `app=${appId},clip=${appId}.Clip,install=https://apps.apple.com/app/id1234567890`,
  );
  assert.deepEqual(appSiteAssociationOf(reader), {
    applinks: { details: [{ appIDs: [appId], components: [{ "/": "/verify/*" }] }] },
    appclips: { apps: [`${appId}.Clip`] },
  });
  const bundles = Object.values(objects).flatMap((value) => {
    const { buildSettings } = dictionary(value);
    return buildSettings === undefined ? [] : [dictionary(buildSettings).PRODUCT_BUNDLE_IDENTIFIER];
  });
  assert.deepEqual(
    [...new Set(bundles.filter((bundle) => bundle !== undefined))],
    ["$(ASSAY_BUNDLE_ID)", "$(ASSAY_BUNDLE_ID).Clip"],
  );
});

test("the icon has the size that Apple asks for, and no transparency", () => {
  const icon = readFileSync(
    path.join(folder, "Shared/Resources/Assets.xcassets/AppIcon.appiconset/icon.png"),
  );
  assert.deepEqual([icon.readUInt32BE(16), icon.readUInt32BE(20), icon[25]], [1024, 1024, 2]);
});

test("nothing of the shell writes to a log, to disk or to the pasteboard", () => {
  for (const file of swift)
    assert.doesNotMatch(
      read(file),
      /\b(?:print|NSLog|os_log|Logger|debugPrint|FileManager|UIPasteboard|WKWebsiteDataStore\.default)\b/,
      file,
    );
});

test("the build script is one for every shell, and says what is missing", () => {
  execFileSync("sh", ["-n", path.join(folder, "build.sh")]);
});
