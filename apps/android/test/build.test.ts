import assert from "node:assert/strict";
import test from "node:test";
import { bundleConfig } from "../build/bundle-config.ts";
import { readOptions } from "../build/options.ts";
import { manifestOf, networkConfigOf } from "../build/package.ts";

const origin = "https://verify.example.org";
const pin = `${"A".repeat(43)}=`;

test("an app is built for one origin, and for cleartext only on the developer's own machine", () => {
  assert.equal(readOptions(["--origin", `${origin}/`], {}).origin.origin, origin);
  for (const wrong of [
    "http://verify.example.org",
    `${origin}/verify`,
    "https://user@verify.example.org",
    "x",
  ])
    assert.throws(() => readOptions(["--origin", wrong], {}), /--origin must/, wrong);
  assert.throws(() => readOptions([], {}), /--origin is needed/);
  assert.throws(() => readOptions(["--origin", "http://localhost:3000"], {}), /must begin with https/);
  const local = readOptions(["--origin", "http://localhost:3000", "--debug"], {});
  assert.match(manifestOf(local), /android:scheme="http" android:host="localhost" android:port="3000"/);
  assert.match(networkConfigOf(local), /<domain>localhost<\/domain>/);
  const release = readOptions(["--origin", origin], {});
  assert.match(manifestOf(release), /android:debuggable="false"/);
  assert.doesNotMatch(manifestOf(release), /[{}]/, "everything was filled in");
  assert.doesNotMatch(networkConfigOf(release), /cleartextTrafficPermitted="true"/);
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
