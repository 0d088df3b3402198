import assert from "node:assert/strict";
import { type ChildProcessByStdio, spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import {
  appendFile,
  chmod,
  copyFile,
  mkdir,
  mkdtemp,
  readFile,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Readable } from "node:stream";
import { after, beforeEach, describe, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { asOrdinaryUser, canBecomeOrdinary } from "../apps/server/test/support/ordinary-user.ts";

const scratch: string[] = [];
let root = "";

// Stands for npm: notes that it ran, and does what the file `npm-behaviour` says.
const fakeNpm = `
  const fs = require("node:fs");
  fs.appendFileSync("npm-runs", process.argv.slice(2).join(" ") + "\\n");
  console.error("npm warn EBADENGINE something about engines");
  const behaviour = fs.existsSync("npm-behaviour") ? fs.readFileSync("npm-behaviour", "utf8") : "";
  if (behaviour === "fail") { console.error("npm error the registry is away"); process.exit(1); }
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
  fs.mkdirSync("node_modules/something", { recursive: true });
`;
// Replaces a command, or the service: prints its input, and exits as the first argument says.
const fakeMain = `
  import { appendFileSync } from "node:fs";
  const [how, ...rest] = process.argv.slice(2);
  console.log("main", how, ...rest);
  if (how === "look") console.log(process.pid, process.execPath, process.env.NODE_COMPILE_CACHE, process.env.NODE_OPTIONS);
  if (how === "exit") process.exit(Number(rest[0]));
  if (how === "kill") process.kill(process.pid, "SIGKILL");
  if (how === "wait") {
    const alive = setInterval(() => {}, 1000);
    process.on("SIGTERM", () => { appendFileSync("signals", "SIGTERM\\n"); clearInterval(alive); process.exitCode = 7; });
    console.log("waiting");
  }
`;

beforeEach(async () => {
  root = await mkdtemp(path.join(tmpdir(), "assay-run-"));
  scratch.push(root);
  await mkdir(path.join(root, "scripts"));
  for (const folder of ["apps/server/dist", "apps/android", "bin"])
    await mkdir(path.join(root, folder), { recursive: true });
  for (const file of ["scripts/run.mjs", "bin/assay"])
    await copyFile(path.join(import.meta.dirname, "..", file), path.join(root, file));
  await writeFile(path.join(root, "package.json"), `{"type": "module"}`);
  await writeFile(path.join(root, "package-lock.json"), "{}");
  await mkdir(path.join(root, "fake"));
  await writeFile(path.join(root, "fake/package.json"), "{}");
  await writeFile(path.join(root, "fake/npm-cli.js"), fakeNpm);
  await writeFile(path.join(root, "apps/android/main.ts"), fakeMain);
  await writeFile(path.join(root, "apps/server/dist/main.js"), fakeMain);
});

after(async () => {
  for (const folder of scratch) await rm(folder, { recursive: true, force: true });
});

type Ended = { code: number | null; signal: string | null; output: string };

function begin(args: string[], through?: string): ReturnType<typeof watch> {
  const { npm_lifecycle_event: _, ...inherited } = process.env;
  const env = {
    ...inherited,
    npm_execpath: path.join(root, "fake/npm-cli.js"),
    ...(through === undefined ? {} : { npm_lifecycle_event: "start" }),
  };
  const command = [process.execPath, "scripts/run.mjs", ...args];
  // The second command keeps the shell from becoming the program itself.
  const [file = "", ...rest] =
    through === undefined ? command : [through, "-c", `"$@"; exit $?`, "sh", ...command];
  const child = spawn(file, rest, { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] });
  return watch(child);
}

function watch(child: ChildProcessByStdio<null, Readable, Readable>) {
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => {
      output += chunk.toString("utf8");
    });
  }
  const ended = new Promise<Ended>((resolve) => {
    child.on("close", (code, signal) => resolve({ code, signal, output }));
  });
  return {
    child,
    ended,
    async said(text: string): Promise<void> {
      for (let i = 0; i < 10_000 && !output.includes(text); i++) await wait(10);
      assert.ok(output.includes(text), output);
    },
  };
}

const run = (...args: string[]) => begin(args).ended;

async function npmRuns(): Promise<string[]> {
  const text = await readFile(path.join(root, "npm-runs"), "utf8").catch(() => "");
  return text.split("\n").filter((line) => line !== "");
}

describe("packages", () => {
  test("are installed on the first start, quietly, and not again", async () => {
    const first = await run("android", "hello");
    assert.equal(first.code, 0, first.output);
    assert.match(first.output, /Installing packages \(first start only\)…\nPackages installed in \d+ s\.\n/);
    assert.doesNotMatch(first.output, /EBADENGINE/);
    const second = await run("android", "hello");
    assert.equal(second.output, "main hello\n");
    const [only, ...more] = await npmRuns();
    assert.deepEqual(more, []);
    assert.match(only ?? "", /^install --no-save --ignore-scripts /);
  });

  test("are installed once when several start at the same time", async () => {
    const all = await Promise.all([run("android", "a"), run("android", "b"), run("android", "c")]);
    for (const { code, output } of all) assert.equal(code, 0, output);
    assert.equal((await npmRuns()).length, 1);
  });

  test("are installed again when the lock file has changed", async () => {
    await run("android", "a");
    await appendFile(path.join(root, "package-lock.json"), "\n");
    assert.match((await run("android", "a")).output, /Installing changed packages…/);
    assert.equal((await npmRuns()).length, 2);
  });

  test("that only tests need are installed with the first test, and kept from then on", async () => {
    const flagsOfLast = async () => (await npmRuns()).at(-1) ?? "";
    await mkdir(path.join(root, "bench"));
    await writeFile(path.join(root, "bench/run.ts"), `console.log("bench");`);
    await run("android", "a");
    assert.match(await flagsOfLast(), / --omit=dev /);
    assert.match((await run("bench")).output, /Installing what tests and benchmarks need…[\s\S]*bench/);
    assert.match(await flagsOfLast(), / --include=dev /);
    assert.equal((await run("android", "a")).output, "main a\n");
    assert.equal((await run("bench")).output, "bench\n");
    await appendFile(path.join(root, "package-lock.json"), "\n");
    await run("android", "a");
    assert.match(await flagsOfLast(), / --include=dev /);
    assert.equal((await npmRuns()).length, 3);
  });

  test("left half installed by a killed start are thrown away", async () => {
    await run("android", "a");
    await writeFile(path.join(root, "node_modules/.assay-install"), "unfinished");
    await writeFile(path.join(root, "node_modules/half"), "");
    // A lock of a process that no longer exists.
    await mkdir(path.join(root, ".assay-install.lock"));
    await writeFile(path.join(root, ".assay-install.lock/pid"), "999999999");
    assert.equal((await run("android", "a")).code, 0);
    assert.equal(existsSync(path.join(root, "node_modules/half")), false);
    assert.equal(existsSync(path.join(root, ".assay-install.lock")), false);
  });

  test("that cannot be installed stop the start with npm's own words, and the next start tries again", async () => {
    await writeFile(path.join(root, "npm-behaviour"), "fail");
    const failed = await run("android", "a");
    assert.equal(failed.code, 1);
    assert.match(failed.output, /npm error the registry is away[\s\S]*could not be installed/);
    assert.doesNotMatch(failed.output, /main a/);
    await rm(path.join(root, "npm-behaviour"));
    assert.match((await run("android", "a")).output, /main a/);
  });
});

test("a folder that this user may not write is refused in a sentence where something has to be installed", async () => {
  await chmod(root, 0o555);
  const command = [process.execPath, "scripts/run.mjs", "android", "a"];
  const [program = "", ...args] = canBecomeOrdinary ? asOrdinaryUser(command) : command;
  const { status, stderr } = spawnSync(program, args, { cwd: root, encoding: "utf8" });
  assert.equal(
    stderr,
    `${root} cannot be written by this user, and something has to be installed or built there. Run \`npm run build\` as the user that it belongs to, then start again.\n`,
  );
  assert.equal(status, 1);
});

describe("web apps", () => {
  test("are built when their sources changed, and only then", async () => {
    await run("android", "a");
    const app = path.join(root, "apps/verify");
    await mkdir(path.join(app, "src"), { recursive: true });
    await writeFile(path.join(app, "vite.config.ts"), "");
    await writeFile(path.join(app, "src/main.ts"), "one");
    await mkdir(path.join(root, "node_modules/vite/bin"), { recursive: true });
    await writeFile(
      path.join(root, "node_modules/vite/bin/vite.js"),
      `const fs = require("node:fs"); fs.mkdirSync("dist", { recursive: true }); fs.appendFileSync("dist/builds", process.argv[2] + "\\n");`,
    );
    const builds = async () => (await readFile(path.join(app, "dist/builds"), "utf8")).split("\n").length - 1;
    assert.match((await run("build")).output, /Building apps\/verify…/);
    assert.equal((await run("build")).output, "");
    assert.equal(await builds(), 1);
    await writeFile(path.join(app, "src/main.ts"), "two");
    await run("build");
    assert.equal(await builds(), 2);
  });
});

describe("the service", () => {
  test("is built when its sources or those of a package changed, and alone for its command line", async () => {
    await run("android", "a");
    for (const folder of ["apps/server/src", "packages/cli/src", "apps/verify"])
      await mkdir(path.join(root, folder), { recursive: true });
    await writeFile(path.join(root, "apps/verify/vite.config.ts"), "");
    await writeFile(
      path.join(root, "apps/server/build.ts"),
      `import { appendFileSync } from "node:fs"; appendFileSync("dist/builds", "built\\n");`,
    );
    assert.equal((await run("build", "apps/server")).output, "Building apps/server…\n");
    assert.equal((await run("build", "apps/server")).output, "");
    await writeFile(path.join(root, "packages/cli/src/main.ts"), "two");
    assert.equal((await run("build", "apps/server")).output, "Building apps/server…\n");
  });

  test("has the command line of partners, which is built before a release packs it", async () => {
    await run("android", "a");
    await mkdir(path.join(root, "packages/cli"), { recursive: true });
    await writeFile(
      path.join(root, "packages/cli/build.ts"),
      `import { mkdirSync } from "node:fs"; mkdirSync("dist", { recursive: true });`,
    );
    assert.match((await run("release")).output, /^Building packages\/cli…$/m);
  });

  /** Like npm: runs a script by a shell, with the arguments after it. */
  async function npmRun(
    script: string,
    args: string,
    PATH = process.env.PATH ?? "",
  ): Promise<ReturnType<typeof watch>> {
    const { scripts } = JSON.parse(await readFile(path.join(import.meta.dirname, "../package.json"), "utf8"));
    const npmExecpath = path.join(root, "fake/npm-cli.js");
    const env = { ...process.env, PATH, npm_execpath: npmExecpath, npm_lifecycle_event: script };
    return watch(
      spawn("sh", ["-c", `${scripts[script]} ${args}`], {
        cwd: root,
        env,
        stdio: ["ignore", "pipe", "pipe"],
      }),
    );
  }

  test("takes the place of the shell that npm has started, so that nothing of ours stays in memory beside it", async () => {
    const { child, ended } = await npmRun("assay", "look");
    const { code, output } = await ended;
    assert.equal(code, 0, output);
    const [pid, , cache, ...options] = output.trim().split("\n").at(-1)?.split(" ") ?? [];
    assert.equal(Number(pid), child.pid);
    assert.equal(cache, process.env.NODE_COMPILE_CACHE ?? path.join(root, "node_modules/.cache/compile"));
    assert.match(options.join(" "), /^--max-semi-space-size=4 --v8-pool-size=[1-4]\b/);
  });

  test("gets its arguments as they were typed, and its exit code is handed on", async () => {
    const { output } = await (await npmRun("start", "--role api")).ended;
    assert.match(output, /^main start --role api$/m);
    const { code, output: said } = await (await npmRun("assay", `exit 3 'two  words' '$HOME'`)).ended;
    assert.deepEqual([code, said.trim().split("\n").at(-1)], [3, "main exit 3 two  words $HOME"]);
  });

  test("gets the signal that npm passes to its shell, once, and may take its time", async () => {
    const { child, ended, said } = await npmRun("assay", "wait");
    await said("waiting");
    child.kill("SIGTERM");
    assert.equal((await ended).code, 7);
    assert.equal(await readFile(path.join(root, "signals"), "utf8"), "SIGTERM\n");
  });

  test("is not started where something could not be installed", async () => {
    await writeFile(path.join(root, "npm-behaviour"), "fail");
    const { code, output } = await (await npmRun("start", "")).ended;
    assert.equal(code, 1);
    assert.doesNotMatch(output, /^main/m);
  });

  test("runs on the Node of the packages where the machine has an older one", async () => {
    const older = path.join(root, "older");
    const packaged = path.join(root, "node_modules/node-some-where/bin");
    for (const folder of [older, packaged]) await mkdir(folder, { recursive: true });
    await writeFile(path.join(older, "node"), `#!/bin/sh\necho v20.19.0\n`, { mode: 0o755 });
    await symlink(process.execPath, path.join(packaged, "node"));
    const env = { ...process.env, PATH: `${older}:/usr/bin:/bin` };
    const { stdout } = spawnSync("sh", ["bin/assay", "look"], { cwd: root, env, encoding: "utf8" });
    assert.match(stdout, /^main look\n\d+ /);
  });
});

describe("the command", () => {
  test("gets its arguments, and its exit code is handed on", async () => {
    const { code, output } = await run("android", "exit", "3", "two words");
    assert.equal(code, 3);
    assert.match(output, /^main exit 3 two words$/m);
  });

  test("that dies of a signal makes the script die of it too", async () => {
    assert.equal((await run("android", "kill")).signal, "SIGKILL");
  });

  test("gets the signals the script gets, and may take its time", async () => {
    const { child, ended, said } = begin(["android", "wait"]);
    await said("waiting");
    child.kill("SIGTERM");
    assert.equal((await ended).code, 7);
    assert.equal(await readFile(path.join(root, "signals"), "utf8"), "SIGTERM\n");
  });

  test("is told to end when npm's shell was killed", async () => {
    const { child, ended, said } = begin(["android", "wait"], "/bin/sh");
    await said("waiting");
    child.kill("SIGKILL");
    await ended;
    assert.equal(await readFile(path.join(root, "signals"), "utf8"), "SIGTERM\n");
  });

  test("that does not exist is refused with the list of those that do", async () => {
    const { code, output } = await run("constructor");
    assert.equal(code, 1);
    assert.match(output, /usage: .*dev\|test/);
  });
});

test("every npm script begins with run.mjs, and CONTRIBUTING.md says what it is for", async () => {
  const textOf = (file: string) => readFile(path.join(import.meta.dirname, "..", file), "utf8");
  const guide = await textOf("CONTRIBUTING.md");
  const { scripts } = JSON.parse(await textOf("package.json")) as { scripts: Record<string, string> };
  for (const [name, script] of Object.entries(scripts)) {
    assert.match(script, /^node scripts\/run\.mjs /);
    const command = name === "start" || name === "test" ? `npm ${name}` : `npm run ${name}`;
    assert.match(
      guide,
      new RegExp(`^\\| \`${command}[ \`]`, "m"),
      `${command} is not in the table of commands`,
    );
  }
});
