import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { androidApi, dexer } from "./archives.ts";
import { bundleConfig } from "./bundle-config.ts";
import { type BuildOptions, localHosts } from "./options.ts";
import { BuildProblem, fetchArchives, requireTools, run } from "./tools.ts";

const source = path.resolve(import.meta.dirname, "..");

export type BuiltPackage = { apk: string; bundle: string | null; certificateSha256: string };

/** Builds the package with Debian's tools and two archives, without the Android SDK. */
export function buildPackage(options: BuildOptions): BuiltPackage {
  requireTools(["java", "javac", "keytool", "jar", "jarsigner", "aapt2", "zipalign", "apksigner", "zip"]);
  const [api = "", dx = ""] = fetchArchives([androidApi, dexer]);
  const work = path.join(options.outputFolder, "work");
  rmSync(work, { recursive: true, force: true });
  const resources = compileResources(options, work);

  const bare = path.join(work, "bare.apk");
  link(options, { api, work, resources, to: bare });
  compileJava(api, [path.join(source, "java"), path.join(work, "generated")], path.join(work, "classes"));
  const dex = path.join(work, "classes.dex");
  run("java", [
    ...["-cp", dx, "com.android.dx.command.Main", "--dex", "--min-sdk-version=28"],
    ...[`--output=${dex}`, path.join(work, "classes")],
  ]);
  run("zip", ["-q", "-j", "-X", bare, dex]);
  const aligned = path.join(work, "aligned.apk");
  run("zipalign", ["-f", "4", bare, aligned]);

  const key = signingKey(options);
  const apk = path.join(options.outputFolder, `${fileNameOf(options)}.apk`);
  run("apksigner", ["sign", ...key.forApksigner, "--out", apk, aligned]);
  const verified = run("apksigner", ["verify", "--verbose", "--print-certs", apk]);
  const digest = /SHA-256 digest: ([0-9a-f]{64})/.exec(verified)?.[1];
  if (digest === undefined) throw new BuildProblem(`apksigner did not print the certificate:\n${verified}`);
  return {
    apk,
    bundle: options.bundle ? buildBundle(options, { api, work, resources, dex, key }) : null,
    certificateSha256: (digest.toUpperCase().match(/../g) ?? []).join(":"),
  };
}

/** Compiles the app's resources and those of this build; also writes the manifest and BuildConfig. */
export function compileResources(options: BuildOptions, work: string): string[] {
  const own = path.join(work, "res");
  for (const folder of ["generated", "classes", "res/xml", "res/values"])
    mkdirSync(path.join(work, folder), { recursive: true });
  writeFileSync(path.join(work, "AndroidManifest.xml"), manifestOf(options));
  writeFileSync(path.join(own, "xml/network.xml"), networkConfigOf(options));
  writeFileSync(
    path.join(own, "values/name.xml"),
    `<resources><string name="app_name" translatable="false">${options.name}</string></resources>\n`,
  );
  writeFileSync(
    path.join(work, "generated/BuildConfig.java"),
    buildConfigOf({
      origins: `{${options.origins.map(({ origin }) => JSON.stringify(origin)).join(", ")}}`,
      asks: String(options.asks),
      debug: String(options.debug),
    }),
  );
  return [own, path.join(source, "res")].map((folder, index) => {
    const compiled = path.join(work, `res-${index}.zip`);
    run("aapt2", ["compile", "--dir", folder, "-o", compiled]);
    return compiled;
  });
}

const fileNameOf = ({ asks }: BuildOptions) => (asks ? "assay-reader" : "assay-shell");

/** The build options, as Java. */
export function buildConfigOf({
  origins,
  asks,
  debug,
}: Record<"origins" | "asks" | "debug", string>): string {
  return `package assay.shell;

final class BuildConfig {
    static final String[] ORIGINS = ${origins};
    static final boolean ASKS = ${asks};
    static final boolean DEBUG = ${debug};

    private BuildConfig() {}
}
`;
}

export function link(
  options: BuildOptions,
  parts: { api: string; work: string; resources: readonly string[]; to: string; proto?: boolean },
): void {
  run("aapt2", [
    ...["link", "--manifest", path.join(parts.work, "AndroidManifest.xml"), "-I", parts.api],
    ...["--java", path.join(parts.work, "generated"), "-A", path.join(source, "assets")],
    ...["--rename-manifest-package", options.appId, "--auto-add-overlay"],
    ...["--version-name", options.version, "--version-code", options.versionCode],
    ...(parts.proto === true ? ["--proto-format"] : []),
    ...["-o", parts.to, ...parts.resources],
  ]);
}

export function compileJava(classPath: string, folders: readonly string[], to: string): void {
  const files = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".java"))
      .map((name) => path.join(folder, name)),
  );
  run("javac", [
    ...["--release", "8", "-Xlint:all,-options,-deprecation,-classfile,-processing", "-encoding", "UTF-8"],
    ...["-proc:none", "-cp", classPath, "-d", to, ...files],
  ]);
}

export function manifestOf({ origins, debug, targetSdk }: BuildOptions): string {
  // A phone can verify links of an app only if it knows their host. Others open by the page's button.
  const filters =
    origins.length === 0
      ? [linkFilter(`android:scheme="https" android:host="*"`, false)]
      : origins.map(({ protocol, hostname, port }) =>
          linkFilter(
            `android:scheme="${protocol.slice(0, -1)}" android:host="${hostname}"${port === "" ? "" : ` android:port="${port}"`}`,
            true,
          ),
        );
  return readFileSync(path.join(source, "AndroidManifest.xml"), "utf8")
    .replace("{target}", targetSdk)
    .replace("{debuggable}", String(debug))
    .replace("{links}", filters.join("\n"));
}

const linkFilter = (
  data: string,
  verified: boolean,
) => `<intent-filter${verified ? ' android:autoVerify="true"' : ""}>
                <action android:name="android.intent.action.VIEW" />
                <category android:name="android.intent.category.DEFAULT" />
                <category android:name="android.intent.category.BROWSABLE" />
                <data ${data} android:pathPrefix="/verify/" />
            </intent-filter>`;

/**
 * No cleartext except for a debug build on this machine, only system authorities, and the operator's pins.
 */
export function networkConfigOf({ origins, debug, pins, pinUntil }: BuildOptions): string {
  const local = debug
    ? `<domain-config cleartextTrafficPermitted="true">${localHosts.map((host) => `<domain>${host}</domain>`).join("")}</domain-config>`
    : "";
  const pinned = pins.map((pin) => `<pin digest="SHA-256">${pin}</pin>`).join("");
  const own =
    pins.length === 0
      ? ""
      : `<domain-config cleartextTrafficPermitted="false"><domain>${origins[0]?.hostname}</domain><pin-set expiration="${pinUntil}">${pinned}</pin-set></domain-config>`;
  const base = `<base-config cleartextTrafficPermitted="false"><trust-anchors><certificates src="system" /></trust-anchors></base-config>`;
  return `<?xml version="1.0" encoding="utf-8"?>\n<network-security-config>${base}${own}${local}</network-security-config>\n`;
}

type SigningKey = { forApksigner: string[]; forJarsigner: string[]; alias: string[] };

function signingKey({ keystore, keyAlias, outputFolder }: BuildOptions): SigningKey {
  const alias = keyAlias === null ? [] : [keyAlias];
  if (keystore !== null) {
    const named = keyAlias === null ? [] : ["--ks-key-alias", keyAlias];
    return {
      forApksigner: ["--ks", keystore, "--ks-pass", "env:ASSAY_KEYSTORE_PASSWORD", ...named],
      forJarsigner: ["-keystore", keystore, "-storepass:env", "ASSAY_KEYSTORE_PASSWORD"],
      alias,
    };
  }
  const store = path.join(outputFolder, "debug.keystore");
  if (!existsSync(store))
    run("keytool", [
      ...["-genkeypair", "-keystore", store, "-storepass", "android", "-alias", "debug"],
      ...["-dname", "CN=Debug key of the shell", "-keyalg", "EC", "-groupname", "secp256r1"],
      ...["-validity", "10000"],
    ]);
  process.stderr.write("Signed with a debug key: good for trying it, not for giving it away.\n");
  return {
    forApksigner: ["--ks", store, "--ks-pass", "pass:android"],
    forJarsigner: ["-keystore", store, "-storepass", "android"],
    alias: ["debug"],
  };
}

/**
 * A bundle has the same content in the forms from which stores make packages. Resources and manifest are
 * protocol buffers, in folders of one module called "base", with a file that names the format's version.
 */
function buildBundle(
  options: BuildOptions,
  parts: { api: string; work: string; resources: readonly string[]; dex: string; key: SigningKey },
): string {
  const linked = path.join(parts.work, "proto.apk");
  link(options, { ...parts, to: linked, proto: true });
  const tree = path.join(parts.work, "bundle");
  const base = path.join(tree, "base");
  mkdirSync(path.join(base, "manifest"), { recursive: true });
  mkdirSync(path.join(base, "dex"));
  extract(linked, base);
  moveInto(path.join(base, "AndroidManifest.xml"), path.join(base, "manifest/AndroidManifest.xml"));
  writeFileSync(path.join(base, "dex/classes.dex"), readFileSync(parts.dex));
  writeFileSync(path.join(tree, "BundleConfig.pb"), bundleConfig());
  const unsigned = path.join(parts.work, "unsigned.aab");
  run("zip", ["-q", "-r", "-X", "-D", unsigned, "BundleConfig.pb", "base"], { cwd: tree });
  const bundle = path.join(options.outputFolder, `${fileNameOf(options)}.aab`);
  const alias = parts.key.alias[0] ?? onlyAlias(parts.key.forJarsigner);
  run("jarsigner", [
    ...parts.key.forJarsigner,
    ...["-digestalg", "SHA-256", "-signedjar", bundle, unsigned, alias],
  ]);
  return bundle;
}

function extract(archive: string, to: string): void {
  run("jar", ["--extract", "--file", archive], { cwd: to });
}

function moveInto(from: string, to: string): void {
  writeFileSync(to, readFileSync(from));
  rmSync(from);
}

function onlyAlias(store: readonly string[]): string {
  const listed = run("keytool", ["-list", ...store]);
  const names = [...listed.matchAll(/^([^,\n]+), .*PrivateKeyEntry/gm)].map(([, name]) => name ?? "");
  const [only] = names;
  if (names.length !== 1 || only === undefined)
    throw new BuildProblem(`--key-alias is needed: the key store has ${names.length} keys`);
  return only;
}
