// Entry point of every npm script. Plain JavaScript without dependencies, because it runs on the machine's
// Node (20 or newer) before anything is installed. It installs missing packages, finds Node 24, builds pages
// and service if their sources changed, and runs the command under Node 24. `bin/assay` runs the service
// without this process.
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, constants } from "node:os";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const modules = path.join(root, "node_modules");
const stampFile = path.join(modules, ".assay-install");
const unfinished = "unfinished";
const withoutTools = " without tools";

const collectors = Math.min(4, Math.max(1, availableParallelism() - 1));

/**
 * The fuzzer measures resident memory, which with the default heap would be mostly garbage.
 * Most inputs end in an error.
 */
const fuzzerFlags = ["--max-semi-space-size=4", "--max-old-space-size=64", "--stack-trace-limit=0"];

class Refusal extends Error {}

/** Every command as a list of Node 24 invocations, run in order until one fails. */
const commands = {
  dev: (args) => [["--watch", "apps/server/src/main.ts", "start", ...args]],
  test: (args) => [["scripts/test.ts", ...args]],
  "test:system": (args) => [["scripts/test.ts", "--system", ...args]],
  generate: ([what, ...args]) =>
    what === "fonts"
      ? [["scripts/fonts.ts"]]
      : [["scripts/generate.ts", ...(what === undefined ? [] : [what]), ...args]],
  // The tests include formatter, linter and compiler,
  // so checking adds only the generated files and the report on words.
  check: (args) => [["scripts/generate.ts", "--check"], ["scripts/words.ts"], ["scripts/test.ts", ...args]],
  words: (args) => [["scripts/words.ts", ...args]],
  shop: (args) => [["--disable-warning=ExperimentalWarning", "examples/shop/start.ts", ...args]],
  build: () => [],
  bench: (args) => [["bench/run.ts", ...args]],
  screens: (args) => [["scripts/screens.ts", ...args]],
  mutate: (args) => [["scripts/mutate.ts", ...args]],
  android: (args) => [["apps/android/main.ts", ...args]],
  image: (args) => [["scripts/image.ts", ...args]],
  release: (args) => [["scripts/release.ts", ...args]],
  prove: (args) => [["scripts/prove.ts", ...args]],
  "transport-check": (args) => [["scripts/transport-check.ts", ...args]],
  "face-eval": (args) => [["scripts/face-eval.ts", ...args]],
  "face-attacks": (args) => [["scripts/face-attacks.ts", ...args]],
  "mrz-eval": (args) => [["scripts/mrz-eval.ts", ...args]],
  fuzz: ([what, ...args]) => {
    if (what === "http") return [["apps/server/test/fuzz/run.ts", ...args]];
    const readers = (target, options) => [...fuzzerFlags, "scripts/fuzz.ts", target, ...options];
    const targets = ["chip", "mrz", "wallet"];
    if (targets.includes(what)) return [readers(what, args)];
    const options = what === undefined ? [] : [what, ...args];
    // `--only` names a reader of the chip.
    return (options.includes("--only") ? ["chip"] : targets).map((target) => readers(target, options));
  },
};
const pages = ["apps/dashboard", "apps/verify"];
/** The command line of partners. The service hands it out. */
const forPartners = "packages/cli";
const everything = [...pages, forPartners, "apps/server"];
/** What must be built before a command. */
const needsBuilt = {
  dev: [...pages, forPartners],
  shop: everything,
  build: everything,
  test: everything,
  "test:system": everything,
  check: everything,
  screens: everything,
  mutate: everything,
  image: everything,
  release: [forPartners],
  prove: everything,
};
/** Commands whose tools (`devDependencies`) are installed when one of them first runs. */
const needsTools = new Set([
  "test",
  "test:system",
  "generate",
  "check",
  "bench",
  "fuzz",
  "screens",
  "mutate",
  "prove",
]);

async function main() {
  const [name, ...args] = process.argv.slice(2);
  const command = Object.hasOwn(commands, name ?? "") ? commands[name] : undefined;
  if (command === undefined)
    throw new Refusal(`usage: node scripts/run.mjs ${Object.keys(commands).join("|")} [arguments]`);
  await installWhenStale(needsTools.has(name));
  const node = findNode();
  const wanted = needsBuilt[name] ?? [];
  const chosen = name === "build" && args.length > 0 ? wanted.filter((app) => args.includes(app)) : wanted;
  for (const app of chosen) await buildWhenStale(node, app);
  for (const invocation of command(args)) {
    const ended = await runToEnd(node, invocation);
    if (ended.signal !== null) return endBySignal(ended.signal);
    if (ended.code !== 0) {
      process.exitCode = ended.code;
      return;
    }
  }
}

// --- packages ----------------------------------------------------------------------------------------------

function wantedStamp() {
  const hash = createHash("sha256");
  hash.update(readFileSync(path.join(root, "package-lock.json")));
  // Native packages differ by platform,
  // so a folder shared by two machines must not count as installed on both.
  hash.update(`${process.platform} ${process.arch}`);
  return hash.digest("hex");
}

function readStamp() {
  try {
    return readFileSync(stampFile, "utf8");
  } catch {
    return null;
  }
}

async function installWhenStale(tools) {
  const all = wantedStamp();
  const fewer = `${all}${withoutTools}`;
  const suffices = (stamp) => stamp === all || (!tools && stamp === fewer);
  if (suffices(readStamp())) return;
  await withLock(path.join(root, ".assay-install.lock"), () => {
    const found = readStamp();
    if (suffices(found)) return;
    const startedAt = Date.now();
    process.stderr.write(
      found === null
        ? "Installing packages (first start only)…\n"
        : found === fewer
          ? "Installing what tests and benchmarks need…\n"
          : "Installing changed packages…\n",
    );
    // A machine that ran tests before keeps the tools for them.
    const withTools = tools || (found !== null && found !== unfinished && !found.endsWith(withoutTools));
    // A killed installation leaves packages that look complete to npm; only starting over is safe.
    if (found === unfinished) rmSync(modules, { recursive: true, force: true });
    mkdirSync(modules, { recursive: true });
    writeFileSync(stampFile, unfinished);
    npmInstall(withTools);
    writeFileSync(stampFile, withTools ? all : fewer);
    process.stderr.write(`Packages installed in ${((Date.now() - startedAt) / 1000).toFixed(0)} s.\n`);
  });
}

/**
 * `npm install --no-save` installs what the lock file names and never rewrites it. `npm ci` would empty
 * node_modules under a running service, and refuses a lock file without the packages of every other platform.
 */
function npmInstall(withTools) {
  const flags = [
    "install",
    "--no-save",
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
    withTools ? "--include=dev" : "--omit=dev",
    "--include=optional",
    // Warnings about engines are about the Node that runs npm, not the one that runs the packages.
    "--loglevel=error",
  ];
  // Under `npm run` this is the npm that was called, even if no `npm` is in the PATH.
  const cli = process.env.npm_execpath;
  const [file, args] =
    cli !== undefined && /npm-cli\.c?js$/.test(cli) ? [process.execPath, [cli, ...flags]] : ["npm", flags];
  const result = spawnSync(file, args, { cwd: root, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 });
  if (result.status === 0) return;
  const output = `${result.stdout ?? ""}${result.stderr ?? ""}`.trim();
  throw new Refusal(
    `${output}\n\nThe packages could not be installed${result.error ? ` (${result.error.message})` : ""}. ` +
      "Check the connection to the npm registry, then run the command again.",
  );
}

/**
 * A folder is the lock. It is created by a rename, which succeeds for one process only, and already holds the
 * process id. So a lock left by a killed process can be recognized.
 */
async function withLock(folder, work) {
  const mine = `${folder}.${process.pid}`;
  rmSync(mine, { recursive: true, force: true });
  try {
    mkdirSync(mine);
  } catch (error) {
    if (!["EACCES", "EPERM", "EROFS"].includes(error.code)) throw error;
    throw new Refusal(
      `${path.dirname(folder)} cannot be written by this user, and something has to be installed or built there. ` +
        "Run `npm run build` as the user that it belongs to, then start again.",
    );
  }
  writeFileSync(path.join(mine, "pid"), String(process.pid));
  for (let announced = false; !moved(mine, folder); announced = true) {
    if (lockHolder(folder) === "dead") {
      const aside = `${mine}.old`;
      // Another process may have cleared it and taken the lock meanwhile; then it is put back.
      if (moved(folder, aside) && (lockHolder(aside) === "dead" || !moved(aside, folder))) {
        rmSync(aside, { recursive: true, force: true });
      }
      continue;
    }
    if (!announced) process.stderr.write("Another start is installing or building; waiting for it…\n");
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  try {
    return await work();
  } finally {
    // Renamed first: otherwise the next holder could create its lock in the folder while it is being deleted.
    if (moved(folder, mine)) rmSync(mine, { recursive: true, force: true });
  }
}

function moved(from, to) {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if (["ENOTEMPTY", "EEXIST", "ENOENT"].includes(error.code)) return false;
    throw error;
  }
}

function lockHolder(folder) {
  try {
    return isAlive(Number(readFileSync(path.join(folder, "pid"), "utf8"))) ? "alive" : "dead";
  } catch (error) {
    if (error.code === "ENOENT") return "none";
    throw error;
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}

// --- Node 24 -----------------------------------------------------------------------------------------------

function findNode() {
  if (Number(process.versions.node.split(".")[0]) >= 24) return process.execPath;
  const bundled = path.join(modules, `node-${process.platform}-${process.arch}`, "bin", "node");
  if (existsSync(bundled)) return bundled;
  throw new Refusal(
    `Assay runs on Node 24 or newer; this is Node ${process.versions.node}, and no Node 24 comes with the packages for ` +
      `${process.platform} ${process.arch}. Install Node 24 (https://nodejs.org) and run the command again.`,
  );
}

// --- builds ------------------------------------------------------------------------------------------------

/** The pages are built by Vite, the service by its own file. */
async function buildWhenStale(node, app) {
  const folder = path.join(root, app);
  const own = path.join(folder, "build.ts");
  const command = existsSync(own)
    ? [own]
    : [path.join(modules, "vite", "bin", "vite.js"), "build", "--logLevel", "warn"];
  if (!existsSync(own) && !existsSync(path.join(folder, "vite.config.ts"))) return;
  if (isFresh(folder)) return;
  await withLock(path.join(folder, ".assay-build.lock"), () => {
    if (isFresh(folder)) return;
    process.stderr.write(`Building ${app}…\n`);
    const wanted = hashInputs(folder);
    const result = spawnSync(node, command, {
      cwd: folder,
      env: childEnvironment(node),
      encoding: "utf8",
      maxBuffer: 64 * 1024 * 1024,
    });
    if (result.status !== 0) {
      throw new Refusal(`${result.stdout ?? ""}${result.stderr ?? ""}\n${app} could not be built.`);
    }
    writeFileSync(path.join(folder, "dist", ".assay-build"), wanted);
  });
}

function isFresh(folder) {
  try {
    return readFileSync(path.join(folder, "dist", ".assay-build"), "utf8") === hashInputs(folder);
  } catch {
    return false;
  }
}

/** Everything that affects the build: the app, the packages it imports from source, the locked versions. */
function hashInputs(folder) {
  const hash = createHash("sha256").update(readFileSync(path.join(root, "package-lock.json")));
  hash.update(hashFolder(folder));
  const packages = path.join(root, "packages");
  for (const shared of existsSync(packages) ? readdirSync(packages).sort() : []) {
    // The command line is in no page.
    if (shared === "cli" && path.basename(folder) !== "server") continue;
    for (const part of ["src", "networks"]) {
      const source = path.join(packages, shared, part);
      if (existsSync(source)) hash.update(hashFolder(source));
    }
  }
  return hash.digest("hex");
}

const hashedFolders = new Map();

/** Read once for all that is built from it. */
function hashFolder(folder) {
  const known = hashedFolders.get(folder);
  if (known !== undefined) return known;
  const hash = createHash("sha256");
  const visit = (entry) => {
    for (const item of readdirSync(entry, { withFileTypes: true }).sort((a, b) =>
      a.name < b.name ? -1 : 1,
    )) {
      if (["node_modules", "dist", "test"].includes(item.name) || item.name.startsWith(".")) continue;
      const file = path.join(entry, item.name);
      if (item.isDirectory()) visit(file);
      else if (!item.name.includes(".test."))
        hash.update(`\0${path.relative(root, file)}\0`).update(readFileSync(file));
    }
  };
  visit(folder);
  const digest = hash.digest("hex");
  hashedFolders.set(folder, digest);
  return digest;
}

// --- handing over ------------------------------------------------------------------------------------------

function childEnvironment(node) {
  const binaries = [path.join(modules, ".bin"), path.dirname(node)];
  return {
    ...process.env,
    PATH: [...binaries, process.env.PATH ?? ""].join(path.delimiter),
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? path.join(modules, ".cache", "compile"),
    // As in `bin/assay`, which gives the reason.
    NODE_OPTIONS:
      `--max-semi-space-size=4 --v8-pool-size=${collectors} ${process.env.NODE_OPTIONS ?? ""}`.trim(),
  };
}

/** As in `bin/assay`, which gives the reason. */
const noDeadlock = "--no-concurrent-sparkplug";

function runToEnd(node, args) {
  const script = args.find((argument) => !argument.startsWith("-"));
  if (!existsSync(path.join(root, script))) throw new Refusal(`${script} does not exist.`);
  const child = spawn(node, [noDeadlock, ...args], {
    cwd: root,
    stdio: "inherit",
    env: childEnvironment(node),
  });
  // At a terminal the child receives Ctrl-C and the hang-up directly, and a second one would mean "do not
  // wait". Without a terminal, signals to this process (from a supervisor or container) are meant for the
  // child.
  let signalled = false;
  const pass = (signal) => {
    signalled = true;
    if (signal === "SIGTERM" || !process.stdin.isTTY) child.kill(signal);
  };
  const passed = ["SIGINT", "SIGTERM", "SIGHUP"];
  for (const signal of passed) process.on(signal, pass);
  // A signal to the whole process group ends npm as well, and the child has had it already.
  const watch = whenNpmEnds(() => signalled || child.kill("SIGTERM"));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", (code, signal) => {
      clearInterval(watch);
      for (const name of passed) process.off(name, pass);
      resolve({ code, signal });
    });
  });
}

/**
 * npm runs a script through a shell and passes a signal only to that shell, which ends without passing it on.
 * The service would continue without a supervisor. Under npm the parent is that shell, so its end means that
 * npm was stopped.
 */
function whenNpmEnds(then) {
  if (process.env.npm_lifecycle_event === undefined) return undefined;
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    then();
  }, 250);
  return watch.unref();
}

function endBySignal(signal) {
  process.kill(process.pid, signal);
  // Reached only for a signal that does not end this process.
  process.exitCode = 128 + (constants.signals[signal] ?? 0);
}

try {
  await main();
} catch (error) {
  if (!(error instanceof Refusal)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
