import assert from "node:assert/strict";
import path from "node:path";
import test from "node:test";
import { bundleConfig } from "../build/bundle-config.ts";
import { containerArguments } from "../build/container.ts";
import { readOptions } from "../build/options.ts";
import { buildConfigOf, manifestOf, networkConfigOf } from "../build/package.ts";

const origin = "https://verify.example.org";
const pin = `${"A".repeat(43)}=`;

test("an app of one origin opens that one, and cleartext only on the developer's own machine", () => {
  const release = readOptions(["--origin", `${origin}/`], {});
  assert.deepEqual([release.origins.map(String), release.asks], [[`${origin}/`], false]);
  for (const option of ["--origin", "--allow"])
    for (const wrong of [
      "http://verify.example.org",
      `${origin}/verify`,
      "https://user@verify.example.org",
      "x",
      "",
    ])
      assert.throws(() => readOptions([option, wrong], {}), new RegExp(`${option} must`), wrong);
  assert.throws(() => readOptions(["--origin", "http://localhost:3000"], {}), /must begin with https/);
  const local = readOptions(["--origin", "http://localhost:3000", "--debug"], {});
  assert.match(manifestOf(local), /android:scheme="http" android:host="localhost" android:port="3000"/);
  assert.match(networkConfigOf(local), /<domain>localhost<\/domain>/);
  assert.match(manifestOf(release), /android:debuggable="false"/);
  assert.doesNotMatch(manifestOf(release), /[{}]/, "everything was filled in");
  assert.doesNotMatch(networkConfigOf(release), /cleartextTrafficPermitted="true"/);
});

test("without an origin it is Assay Reader, which asks first and takes links of every https host, or of those on a list", () => {
  const every = readOptions([], {});
  assert.deepEqual(
    [every.origins, every.asks, every.name, every.appId],
    [[], true, "Assay Reader", "assay.reader"],
  );
  const manifest = manifestOf(every);
  assert.match(
    manifest,
    /<data android:scheme="https" android:host="\*" android:pathPrefix="\/verify\/" \/>/,
  );
  // No phone can check links of a host that it does not know, and one such filter would fail them all.
  assert.doesNotMatch(manifest, /autoVerify/);
  assert.doesNotMatch(networkConfigOf(every), /cleartextTrafficPermitted="true"/);
  const some = readOptions(["--allow", origin, "--allow", "https://other.example:8443"], {});
  assert.equal(some.asks, true);
  assert.equal(manifestOf(some).match(/<intent-filter android:autoVerify="true">/g)?.length, 2);
  assert.match(manifestOf(some), /android:host="other\.example" android:port="8443"/);
  assert.throws(() => readOptions(["--allow", origin, "--origin", origin], {}), /give one of them/);
  assert.throws(
    () => readOptions(["--pin", pin, "--pin", pin, "--pin-until", "2027-12-31"], {}),
    /give --origin/,
  );
  const java = { origins: "{}", asks: "true", debug: "false" };
  assert.match(buildConfigOf(java), /String\[\] ORIGINS = \{\};\n {4}static final boolean ASKS = true;/);
});

test("a build in a container sees the checkout alone, and the password is in no list of processes", () => {
  const args = containerArguments(["--aab", "--name", "$(id)"]);
  assert.deepEqual(args.slice(-4), ["android", "--aab", "--name", "$(id)"]);
  const mounted = args
    .filter((_, index) => args[index - 1] === "--volume")
    .map((volume) => volume.split(":")[0]);
  assert.deepEqual(mounted, [path.resolve(import.meta.dirname, "../../.."), "assay-android"]);
  assert.ok(args.includes("ASSAY_KEYSTORE_PASSWORD"));
  assert.match(args.join(" "), /openjdk-17-jdk-headless maven aapt zipalign apksigner zip/);
});

test("pins come at least in pairs and with an end, and are written for the origin's host", () => {
  const pinned = ["--origin", origin, "--pin", pin];
  assert.throws(() => readOptions(pinned, {}), /at least twice/);
  assert.throws(() => readOptions([...pinned, "--pin", pin], {}), /--pin-until is needed/);
  assert.throws(() => readOptions([...pinned, "--pin", "short"], {}), /base64 of 32 bytes/);
  const options = readOptions([...pinned, "--pin", pin, "--pin-until", "2027-12-31"], {});
  assert.match(
    networkConfigOf(options),
    /<domain>verify\.example\.org<\/domain><pin-set expiration="2027-12-31"><pin digest="SHA-256">A{43}=<\/pin>/,
  );
});

test("a name that would break out of its file, and a key store without a password, are refused", () => {
  for (const name of ["a<b", 'a"b', "@string/x", "?attr", "a\\nb", "", "x".repeat(31)])
    assert.throws(() => readOptions(["--origin", origin, "--name", name], {}), /--name must/, name);
  assert.equal(
    readOptions(["--origin", origin, "--name", "Bürgeramt Prüfung"], {}).name,
    "Bürgeramt Prüfung",
  );
  const signed = ["--origin", origin, "--keystore", "a.keystore"];
  assert.throws(() => readOptions(signed, {}), /ASSAY_KEYSTORE_PASSWORD/);
  assert.equal(readOptions(signed, { ASSAY_KEYSTORE_PASSWORD: "x" }).keystore, "a.keystore");
  assert.throws(() => readOptions(["--origin", origin, "--colour", "red"], {}), /See --help/);
});

test("a bundle says which version of its format it is", () => {
  assert.equal(
    Buffer.from(bundleConfig("1.17.2")).toString("hex"),
    `0a081206${Buffer.from("1.17.2").toString("hex")}`,
  );
});
