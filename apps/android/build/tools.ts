import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";
import type { Archive } from "./archives.ts";

/** A problem that the user of the build can fix; reported without a stack trace. */
export class BuildProblem extends Error {}

/** Which package of Debian brings which program. */
const packageOf = {
  java: "openjdk-17-jdk-headless",
  javac: "openjdk-17-jdk-headless",
  jarsigner: "openjdk-17-jdk-headless",
  jar: "openjdk-17-jdk-headless",
  keytool: "openjdk-17-jdk-headless",
  mvn: "maven",
  aapt2: "aapt",
  zipalign: "zipalign",
  apksigner: "apksigner",
  zip: "zip",
} as const;

export const packagesOf: readonly string[] = [...new Set(Object.values(packageOf))];

export type Tool = keyof typeof packageOf;

export function isInstalled(tool: Tool): boolean {
  const folders = (process.env.PATH ?? "").split(path.delimiter);
  return folders.some((folder) => existsSync(path.join(folder, tool)));
}

export function requireTools(tools: readonly Tool[]): void {
  const missing = tools.filter((tool) => !isInstalled(tool));
  if (missing.length === 0) return;
  const packages = [...new Set(missing.map((tool) => packageOf[tool]))];
  throw new BuildProblem(
    `Not installed: ${missing.join(", ")}. On Debian 12: apt-get install ${packages.join(" ")}`,
  );
}

export function run(
  command: Tool,
  args: readonly string[],
  options: { env?: NodeJS.ProcessEnv; cwd?: string } = {},
): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    ...options,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
    stdio: ["ignore", "pipe", "pipe"],
  });
  if (error !== undefined) throw new BuildProblem(`${command} did not start: ${error.message}`);
  if (status !== 0) throw new BuildProblem(`${command} failed:\n${stdout}${stderr}`);
  return stdout;
}

/** Outside of the checkout, so that every checkout of a machine shares what was fetched. */
export function archiveFolder(): string {
  const own = process.env.ASSAY_ANDROID_DIR;
  if (own !== undefined && own !== "") return path.resolve(own);
  return path.join(process.env.XDG_CACHE_HOME ?? path.join(homedir(), ".cache"), "assay-android");
}

const sha256Of = (file: string) => createHash("sha256").update(readFileSync(file)).digest("hex");

/**
 * The archives in our folder, fetched by Maven as configured on this machine.
 * Their content is pinned, not their source.
 */
export function fetchArchives(archives: readonly Archive[]): string[] {
  const folder = archiveFolder();
  mkdirSync(folder, { recursive: true });
  return archives.map(({ coordinates, sha256 }) => {
    const [, name, version] = coordinates.split(":");
    const archive = path.join(folder, `${name}-${version}.jar`);
    if (!existsSync(archive)) {
      if (!isInstalled("mvn"))
        throw new BuildProblem(
          `${path.basename(archive)} is fetched with Maven. On Debian 12: apt-get install maven. Or put it into ${folder} by hand.`,
        );
      process.stderr.write(`Fetching ${coordinates} (once)\n`);
      run("mvn", [
        ...["--batch-mode", "--quiet", "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy"],
        ...[`-Dartifact=${coordinates}`, `-DoutputDirectory=${folder}`],
      ]);
    }
    const found = sha256Of(archive);
    if (found !== sha256)
      throw new BuildProblem(`${archive} is not the file that was expected: sha256 ${found}`);
    return archive;
  });
}
