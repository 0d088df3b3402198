import { Problem } from "./kinds.ts";

/** The operator's apps that read chips for the verify page, from READER_APP_ANDROID and READER_APP_IOS. */
export type AndroidReaderApp = {
  packageName: string;
  /** SHA-256 of the certificates that sign it, as the platform writes them: upper case, with colons. */
  certificateDigests: readonly string[];
  /** Null if people get the app from the service, at `/app`. */
  installUrl: string | null;
};

export type IosReaderApp = {
  /** Team and bundle: `ABCDE12345.org.example.verify`. */
  appId: string;
  clipId: string | null;
  installUrl: string;
};

/** `name=value,name=value`. A comma inside of an address stays in it, unless a name and `=` follow. */
function readParts(text: string, names: readonly string[]): Map<string, string[]> {
  const parts = new Map<string, string[]>();
  for (const part of text.split(/,(?=\s*[a-z0-9]+\s*=)/)) {
    const at = part.indexOf("=");
    const name = part.slice(0, at).trim();
    const value = part.slice(at + 1).trim();
    if (at < 0 || !names.includes(name) || value === "")
      throw new Problem(
        `must be a comma-separated list of parts like ${names[0]}=…, with these names: ${names.join(", ")}`,
      );
    parts.set(name, [...(parts.get(name) ?? []), value]);
  }
  return parts;
}

function takeOne(parts: Map<string, string[]>, name: string): string | null {
  const values = parts.get(name) ?? [];
  if (values.length > 1) throw new Problem(`has ${name} more than once`);
  return values[0] ?? null;
}

function demand<T>(value: T | null, name: string): T {
  if (value === null) throw new Problem(`lacks ${name}=`);
  return value;
}

/** The verify page links to it, so it must be a plain https address. */
function readInstallUrl(given: string): string {
  const url = URL.parse(given);
  if (url === null || url.protocol !== "https:" || url.username !== "" || url.password !== "")
    throw new Problem("has an install address that is not a plain https URL");
  return url.href;
}

function readDigest(text: string): string {
  const hex = text.replaceAll(":", "").toUpperCase();
  const isDigest = /^[0-9A-F]{64}$/.test(hex) && /^(?:[^:]+|..(?::..){31})$/.test(text);
  if (!isDigest)
    throw new Problem(
      "has a sha256 that is not the digest of a certificate: 32 bytes in hexadecimal, as `apksigner verify --print-certs` prints it",
    );
  return (hex.match(/../g) ?? []).join(":");
}

export function parseAndroidReaderApp(text: string): AndroidReaderApp {
  const parts = readParts(text, ["package", "sha256", "install"]);
  const packageName = demand(takeOne(parts, "package"), "package");
  if (packageName.length > 255 || !/^[A-Za-z]\w*(?:\.[A-Za-z]\w*)+$/.test(packageName))
    throw new Problem("has a package that is not an application id like org.example.verify");
  const digests = demand(parts.get("sha256") ?? null, "sha256");
  const install = takeOne(parts, "install");
  return {
    packageName,
    certificateDigests: [...new Set(digests.map(readDigest))],
    installUrl: install === null ? null : readInstallUrl(install),
  };
}

const appIdPattern = /^[A-Z0-9]{10}\.[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+$/;

export function parseIosReaderApp(text: string): IosReaderApp {
  const parts = readParts(text, ["app", "clip", "install"]);
  const appId = demand(takeOne(parts, "app"), "app");
  if (!appIdPattern.test(appId))
    throw new Problem("has an app that is not a team and a bundle id like ABCDE12345.org.example.verify");
  const clipId = takeOne(parts, "clip");
  if (clipId !== null && !(appIdPattern.test(clipId) && clipId.startsWith(`${appId}.`)))
    throw new Problem("has a clip whose id does not begin with the id of its app and a dot");
  const installUrl = readInstallUrl(demand(takeOne(parts, "install"), "install"));
  const app = { appId, clipId, installUrl };
  if (clipId !== null && storeNumberOf(app) === null)
    throw new Problem(
      "has a clip, so its install address must be one of the App Store, like https://apps.apple.com/app/id1234567890",
    );
  return app;
}

/** The number of the app in the App Store; null if the app is distributed elsewhere. */
export function storeNumberOf({ installUrl }: IosReaderApp): string | null {
  const url = new URL(installUrl);
  if (url.hostname !== "apps.apple.com") return null;
  return /\/id(\d+)$/.exec(url.pathname.replace(/\/+$/, ""))?.[1] ?? null;
}
