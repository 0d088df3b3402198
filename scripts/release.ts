// `npm run release -- [--dry-run] [--without image,apk]`: builds all release artifacts into one folder, with
// an SBOM, checksums and a signature over them. docs/releasing.md describes how to publish and verify them.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  copyFileSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import type { Proof } from "./proof/report.ts";
import { git } from "./release-before.ts";
import { signFile, withKey } from "./sign-file.ts";

const root = path.resolve(import.meta.dirname, "..");
const namespace = "assay-release";
/** Parts that a machine may be unable to build. The rest is always built. */
const leavable = ["image", "apk", "wheel", "proof"] as const;
type Leavable = (typeof leavable)[number];

const usage = `usage: npm run release -- --key FILE [--keystore FILE] [--origin URL] [--without ${leavable.join(",")}] [--out FOLDER]
       npm run release -- --dry-run [--without ${leavable.join(",")}] [--out FOLDER]

  --key FILE       SSH private key that signs the checksums
  --keystore FILE  key store that signs the Android app, its password in ASSAY_KEYSTORE_PASSWORD; a debug key without it
  --origin URL     an Android app for this service only, in place of Assay Reader
  --proof FOLDER   where \`npm run prove\` wrote its report (dist/proof)
  --dry-run        the same with a temporary key`;

class Refusal extends Error {}

type Manifest = { name: string; version?: string; private?: boolean };

const read = (file: string) => readFileSync(path.join(root, file), "utf8");

/** Other places of the version that people see, besides npm packages. */
const otherVersions: Readonly<Record<string, RegExp>> = {
  "packages/webhook/python/pyproject.toml": /^version = "([^"]+)"$/m,
  "deploy/helm/assay/Chart.yaml": /^appVersion: "([^"]+)"$/m,
};

/** The packages of npm that are given away. */
function published(): (Manifest & { file: string })[] {
  return globSync("{apps,packages}/*/package.json", { cwd: root })
    .sort()
    .map((file) => ({ file, ...(JSON.parse(read(file)) as Manifest) }))
    .filter((manifest) => manifest.private !== true);
}

/** All reasons why this cannot be released. */
function problemsOf(version: string | undefined): string[] {
  if (version === undefined) return ["package.json has no version."];
  const versions = [
    ...published().map((manifest): [string, string | undefined] => [manifest.file, manifest.version]),
    ...Object.entries(otherVersions).map(([file, pattern]) => [file, pattern.exec(read(file))?.[1]] as const),
  ];
  const wrong = versions
    .filter(([, own]) => own !== version)
    .map(([file, own]) =>
      own === undefined
        ? `${file} has no version.`
        : `${file} has version ${own}, package.json has ${version}.`,
    );
  const silent = globSync(["CHANGELOG.md", "docs/changelog-partners.md"], { cwd: root })
    .filter((file) => !hasEntry(read(file), version))
    .map((file) => `${file} has no entry "## ${version}".`);
  return [...wrong, ...silent];
}

/** A heading of the version, perhaps with a date after it, and something below it. */
function hasEntry(changelog: string, version: string): boolean {
  const sections = changelog.split(/^## /m).slice(1);
  return sections.some((section) => {
    const [heading = "", ...below] = section.split("\n");
    return heading.split(/[\s,:]/)[0] === version && below.join("").trim() !== "";
  });
}

const isHere = (program: string) =>
  spawnSync(program, ["--version"], { stdio: "ignore" }).error === undefined;
/** One that can also build: docker without its daemon cannot. */
const containerTool = () =>
  ["podman", "docker"].find((tool) => spawnSync(tool, ["info"], { stdio: "ignore" }).status === 0) ?? null;

/** Why the report of `npm run prove` is not one of this release. Empty when it is. */
function problemOfProof(folder: string): string {
  const again = "run `npm run prove`; or --without proof";
  const file = path.join(folder, "proof.json");
  if (!existsSync(file)) return `${file}, the proof of this release; ${again}`;
  const { holds, commit, isClean } = JSON.parse(readFileSync(file, "utf8")) as Proof;
  if (!holds) return `a proof that holds: in ${file} a part does not; ${again}`;
  if (commit === git("rev-parse", "HEAD") && isClean) return "";
  return `a proof of this commit: ${file} is of ${commit}${isClean ? "" : " with changes"}; ${again}`;
}

const androidTools = ["javac", "aapt2", "zipalign", "apksigner"];
const lackingForAndroid = () => androidTools.filter((tool) => !isHere(tool));

/** What the machine lacks, each with advice. */
function missingTools(isBuilt: (part: Leavable) => boolean, proof: string): string[] {
  const missing = isHere("ssh-keygen") ? [] : ["ssh-keygen, for the signature"];
  const unproven = isBuilt("proof") ? problemOfProof(proof) : "";
  if (unproven !== "") missing.push(unproven);
  if (isBuilt("wheel") && spawnSync("python3", ["-m", "pip", "--version"]).status !== 0)
    missing.push("python3 with pip, for the wheel; or --without wheel");
  if (isBuilt("image") && containerTool() === null)
    missing.push("podman, or docker with its daemon, for the image; or --without image");
  if (isBuilt("apk") && lackingForAndroid().length > 0 && containerTool() === null)
    missing.push(
      `${lackingForAndroid().join(", ")}, or podman, or docker with its daemon, for the APK; or --without apk`,
    );
  return missing;
}

function run(program: string, args: readonly string[], input?: string): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 256 * 1024 * 1024,
    ...(input === undefined ? {} : { input }),
  });
  if (status === 0) return stdout;
  throw new Refusal(
    `${program} ${args[0]} failed${error === undefined ? "" : ` (${error.message})`}:\n${stdout}${stderr}`,
  );
}

function buildWheel(out: string): void {
  // A build leaves folders beside the source, which the next one would take for part of it.
  const copy = mkdtempSync(path.join(tmpdir(), "assay-wheel-"));
  try {
    cpSync(path.join(root, "packages/webhook/python"), copy, { recursive: true });
    run("python3", ["-m", "pip", "--quiet", "wheel", "--no-deps", "--wheel-dir", out, copy]);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

function buildImage(out: string, version: string): void {
  const tag = `assay:${version}`;
  run(process.execPath, ["scripts/image.ts", "--tag", tag]);
  run(containerTool() ?? "", ["save", "--output", path.join(out, `assay-${version}-image.tar`), tag]);
}

type ForAndroid = { origin?: string | undefined; keystore?: string | undefined };

/** The package for phones and the bundle for stores; in a container where the tools are missing here. */
function buildAndroid(out: string, version: string, { origin, keystore }: ForAndroid): void {
  // In the checkout, which is all that a container sees of this machine.
  const folder = "apps/android/dist/release";
  const [major = 0, minor = 0, patch = 0] = version.split(/\D/).map(Number);
  const args = [
    ...["--version", version, "--version-code", String(major * 10_000 + minor * 100 + patch)],
    ...["--aab", "--out", folder],
    ...(origin === undefined ? [] : ["--origin", origin]),
    ...(keystore === undefined ? [] : ["--keystore", keystore]),
    ...(lackingForAndroid().length === 0 ? [] : ["--container"]),
  ];
  run(process.execPath, ["apps/android/main.ts", ...args]);
  for (const file of globSync("*.{apk,aab}", { cwd: path.join(root, folder) })) {
    const { name, ext } = path.parse(file);
    copyFileSync(path.join(root, folder, file), path.join(out, `${name}-${version}${ext}`));
  }
  rmSync(path.join(root, folder), { recursive: true, force: true });
}

/** Only of what runs, not of tests; from the lock file, so that every machine gives the same. */
function writeSbom(out: string, version: string): void {
  const args = ["sbom", "--sbom-format", "cyclonedx", "--sbom-type", "application", "--package-lock-only"];
  writeFileSync(path.join(out, `assay-${version}.cdx.json`), run("npm", [...args, "--omit", "dev"]));
}

function writeChecksums(out: string): string {
  const lines = readdirSync(out)
    .sort()
    .map((file) => {
      const hash = createHash("sha256").update(readFileSync(path.join(out, file)));
      return `${hash.digest("hex")}  ${file}\n`;
    });
  const sums = path.join(out, "SHA256SUMS");
  writeFileSync(sums, lines.join(""));
  return sums;
}

function main(): void {
  const text = { type: "string" } as const;
  const flag = { type: "boolean", default: false } as const;
  const { values } = parseArgs({
    options: {
      "dry-run": flag,
      help: flag,
      key: text,
      keystore: text,
      origin: text,
      out: text,
      proof: text,
      without: { ...text, default: "" },
    },
  });
  if (values.help) {
    console.log(usage);
    return;
  }
  const without = values.without.split(",").filter((part) => part !== "");
  const unknown = without.filter((part) => !leavable.some((known) => known === part));
  if (unknown.length > 0)
    throw new Refusal(`--without takes ${leavable.join(", ")}, not ${unknown.join(", ")}.`);
  if (values["dry-run"] === (values.key !== undefined))
    throw new Refusal(`Give --key to sign a release, or --dry-run to try one.\n\n${usage}`);
  const isBuilt = (part: Leavable) => !without.includes(part);

  const proof = path.resolve(root, values.proof ?? "dist/proof");
  const { version = "" } = JSON.parse(read("package.json")) as Manifest;
  const problems = problemsOf(version === "" ? undefined : version);
  if (problems.length > 0)
    throw new Refusal(`This is no release yet:\n${problems.map((each) => `- ${each}`).join("\n")}`);
  const missing = missingTools(isBuilt, proof);
  if (missing.length > 0)
    throw new Refusal(
      `Not everything can be built here. Missing:\n${missing.map((each) => `- ${each}`).join("\n")}`,
    );

  const out = path.resolve(values.out ?? path.join(root, "dist", `release-${version}`));
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  for (const { file } of published())
    run("npm", ["pack", "--silent", "--pack-destination", out, "--workspace", path.dirname(file)]);
  if (isBuilt("wheel")) buildWheel(out);
  if (isBuilt("image")) buildImage(out, version);
  if (isBuilt("proof"))
    for (const file of ["proof.json", "proof.html"])
      copyFileSync(path.join(proof, file), path.join(out, file));
  if (isBuilt("apk")) buildAndroid(out, version, values);
  writeSbom(out, version);
  const sums = writeChecksums(out);
  const signer = withKey(values.key, (key) => signFile(sums, key, namespace));
  console.log(`${readFileSync(sums, "utf8")}\nSigned by: ${signer}`);
  console.log(
    values["dry-run"] ? `A dry run, signed with a key that is gone: ${out}` : `The release is in ${out}`,
  );
}

try {
  main();
} catch (error) {
  if (!(error instanceof Refusal)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
