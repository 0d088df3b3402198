import { readFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { BuildProblem } from "./tools.ts";

export const help = `Builds the Android app: Assay Reader, which reads for every installation, or your app for one.

  npm run android                            Assay Reader
  npm run android -- --origin https://verify.example.org --name "Example Verify"
  npm run android -- test                    runs the app's tests (see docs/android-app.md)

What it is built for
  --origin URL            the one service that it opens without asking the person, as in PUBLIC_URL
  --allow URL             an origin that Assay Reader opens after asking; repeat it for several. Default: every https origin
  --name TEXT             what people see under the icon, default Assay Reader, with --origin Assay
  --id ID                 application id, default assay.reader, with --origin assay.shell; choose your own before you publish the app
  --version TEXT          version that people see, default that of package.json
  --version-code N        whole number that grows with every release, default 1
  --target-sdk N          the target Android version, default 34; a store may require a higher one

Keys
  --keystore FILE         key store to sign with, its password in ASSAY_KEYSTORE_PASSWORD;
                          without it a debug key is made in apps/android/dist
  --key-alias NAME        which key of it, when there are several
  --pin SHA256            base64 SHA-256 of a public key (SPKI) that certificates of the origin must chain to; give at least two, one
                          of them for a reserve key
  --pin-until YYYY-MM-DD  last day of the pins, so that an app without updates keeps working (needed with --pin)

What comes out
  --aab                   also a bundle for shops (AAB)
  --debug                 the page can be inspected, and http://localhost, http://127.0.0.1 or http://10.0.2.2 may be the origin
  --out FOLDER            default apps/android/dist
  --container             builds in a container of podman or docker, where the tools are missing here
`;

export type BuildOptions = {
  /** The origins that the app opens; empty for every https origin. */
  origins: readonly URL[];
  /** Whether the app asks the person before it opens an origin. An app built for a single origin does not. */
  asks: boolean;
  name: string;
  appId: string;
  version: string;
  versionCode: string;
  targetSdk: string;
  debug: boolean;
  bundle: boolean;
  keystore: string | null;
  keyAlias: string | null;
  pins: readonly string[];
  pinUntil: string | null;
  outputFolder: string;
};

const androidFolder = path.resolve(import.meta.dirname, "..");

export function readOptions(args: readonly string[], environment: NodeJS.ProcessEnv): BuildOptions {
  const text = { type: "string" } as const;
  const flag = { type: "boolean", default: false } as const;
  let values: ReturnType<typeof parse>;
  const parse = () =>
    parseArgs({
      args: [...args],
      options: {
        ...{
          origin: text,
          allow: { ...text, multiple: true, default: [] as string[] },
          name: text,
          id: text,
          version: text,
          "version-code": text,
          "target-sdk": text,
        },
        ...{ keystore: text, "key-alias": text, "pin-until": text, out: text },
        pin: { type: "string", multiple: true, default: [] },
        ...{ aab: flag, debug: flag },
      },
    }).values;
  try {
    values = parse();
  } catch (error) {
    throw new BuildProblem(`${error instanceof Error ? error.message : error}. See --help.`);
  }
  const manifest = JSON.parse(readFileSync(path.join(androidFolder, "../../package.json"), "utf8"));
  const asks = values.origin === undefined;
  if (!asks && values.allow.length > 0)
    throw new BuildProblem("--origin builds an app for one origin, --allow for several: give one of them.");
  const options: BuildOptions = {
    origins: asks
      ? values.allow.map((given) => readOrigin("--allow", given, values.debug))
      : [readOrigin("--origin", values.origin ?? "", values.debug)],
    asks,
    name: values.name ?? (asks ? "Assay Reader" : "Assay"),
    appId: values.id ?? (asks ? "assay.reader" : "assay.shell"),
    version: values.version ?? manifest.version,
    versionCode: values["version-code"] ?? "1",
    targetSdk: values["target-sdk"] ?? "34",
    debug: values.debug,
    bundle: values.aab,
    keystore: values.keystore ?? null,
    keyAlias: values["key-alias"] ?? null,
    pins: values.pin,
    pinUntil: values["pin-until"] ?? null,
    outputFolder: path.resolve(values.out ?? path.join(androidFolder, "dist")),
  };
  checkOptions(options, environment);
  return options;
}

/** The developer's machine, as an emulator or `adb reverse` reaches it. */
export const localHosts: readonly string[] = ["localhost", "127.0.0.1", "10.0.2.2"];

function readOrigin(option: string, given: string, debug: boolean): URL {
  const url = URL.parse(given);
  const isPlain = url !== null && /^[a-z0-9.-]+$/.test(url.hostname);
  if (url === null || !isPlain || (given !== url.origin && given !== `${url.origin}/`))
    throw new BuildProblem(
      `${option} must be an origin and nothing more, such as https://verify.example.org`,
    );
  const local = localHosts.includes(url.hostname);
  if (url.protocol !== "https:" && !(debug && local && url.protocol === "http:"))
    throw new BuildProblem(
      `${option} must begin with https://; http:// is for ${localHosts.join(", ")} with --debug`,
    );
  return url;
}

function checkOptions(options: BuildOptions, environment: NodeJS.ProcessEnv): void {
  const demand = (holds: boolean, message: string) => {
    if (!holds) throw new BuildProblem(message);
  };
  // A name goes into XML resources, where these characters mean something else.
  demand(
    /^[^<>&"'\\@?\p{Cc}]{1,30}$/u.test(options.name),
    "--name must be 1 to 30 characters, without < > & \" ' \\ @ ?",
  );
  demand(
    /^[a-zA-Z]\w*(\.[a-zA-Z]\w*)+$/.test(options.appId),
    "--id must be words joined by dots, such as org.example.verify",
  );
  demand(/^[\w.+-]{1,40}$/.test(options.version), "--version must have letters, digits, dots, + and - only");
  demand(/^[1-9]\d{0,8}$/.test(options.versionCode), "--version-code must be a whole number from 1 on");
  demand(/^(?:2[89]|[3-9]\d)$/.test(options.targetSdk), "--target-sdk must be a number from 28 on");
  demand(
    options.keystore === null || (environment.ASSAY_KEYSTORE_PASSWORD ?? "") !== "",
    "ASSAY_KEYSTORE_PASSWORD is needed with --keystore",
  );
  demand(
    options.pins.every((pin) => /^[A-Za-z0-9+/]{43}=$/.test(pin)),
    "--pin must be the base64 of 32 bytes: the SHA-256 of a public key (docs/android-app.md has the command)",
  );
  demand(
    options.pins.length === 0 || !options.asks,
    "--pin is for an app of one origin: give --origin with it",
  );
  // With a single pin, a lost or changed key locks everybody out until they install another build.
  demand(options.pins.length !== 1, "--pin is needed at least twice: the key in use and one in reserve");
  demand(
    options.pins.length === 0 || /^\d{4}-\d{2}-\d{2}$/.test(options.pinUntil ?? ""),
    "--pin-until is needed with --pin, as YYYY-MM-DD",
  );
}
