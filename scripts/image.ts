// Builds the container image and tests it: started like in the chart (no root, read-only, no capabilities) it
// must become ready. Prints its size. `--folder` does the same without a container: the contents of the last
// stage in a folder, started with an empty environment.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { parseArgs } from "node:util";
import { freePort } from "../apps/server/test/support/free-port.ts";
import { collect } from "./image/collect.ts";

const root = path.resolve(import.meta.dirname, "..");
const readyWithinMs = 120_000;
const usage = `usage: npm run image -- [--tag NAME] [--base IMAGE] [--without-postgres] [--network NAME]
       npm run image -- --folder [--without-postgres]`;

const { values } = parseArgs({
  options: {
    tag: { type: "string", default: "assay:latest" },
    base: { type: "string" },
    network: { type: "string" },
    "without-postgres": { type: "boolean", default: false },
    folder: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(0)} MB`;

function run(tool: string, args: readonly string[], quiet = false): string {
  const { status, stdout, error } = spawnSync(tool, args, {
    cwd: root,
    encoding: "utf8",
    stdio: ["ignore", "pipe", quiet ? "ignore" : "inherit"],
    maxBuffer: 64 * 1024 * 1024,
  });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`${tool} ${args[0]} ended with status ${status}`);
  return stdout.trim();
}

/** podman or docker build and run; buildah alone only builds. */
function findTool(): string {
  const found = ["podman", "docker", "buildah"].find(
    (tool) => spawnSync(tool, ["--version"], { stdio: "ignore" }).status === 0,
  );
  if (found === undefined)
    throw new Error("neither podman, docker nor buildah is here; --folder tries the contents without one");
  return found;
}

/** The time until it is ready, or a fault that says that it never was. */
async function untilReady(port: number, hasEnded: () => boolean): Promise<number> {
  const startedAt = performance.now();
  while (performance.now() - startedAt < readyWithinMs && !hasEnded()) {
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => null);
    if (answer?.ok === true) return performance.now() - startedAt;
    await wait(200);
  }
  throw new Error(hasEnded() ? "it ended before it was ready" : "it was not ready in time");
}

/** A guide and the pages are read from files, which may be missing where the service itself starts. */
async function lookAround(port: number): Promise<void> {
  for (const page of ["/", "/docs/operating", "/reference", "/dashboard", "/verify/"]) {
    const { status } = await fetch(`http://127.0.0.1:${port}${page}`);
    if (status !== 200) throw new Error(`${page} is answered with ${status}`);
  }
}

async function tryFolder(): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), "assay-image-"));
  const data = mkdtempSync(path.join(tmpdir(), "assay-data-"));
  let child: ChildProcess | null = null;
  try {
    const { packages, bytes } = collect(folder, { embedded: !values["without-postgres"] });
    console.log(`${packages} packages, ${megabytes(bytes)} in all`);
    if (values["without-postgres"]) return;
    const port = await freePort();
    child = spawn("bin/assay", ["start"], {
      cwd: folder,
      env: {
        PORT: String(port),
        DATA_DIR: data,
        LOG_FORMAT: "json",
        PATH: `${path.dirname(process.execPath)}:/usr/bin:/bin`,
      },
      stdio: ["ignore", "inherit", "inherit"],
    });
    const started = child;
    const ms = await untilReady(port, () => started.exitCode !== null);
    await lookAround(port);
    console.log(`ready after ${(ms / 1000).toFixed(1)} s, with a new database`);
    await end(started);
  } finally {
    child?.kill("SIGKILL");
    for (const place of [folder, data]) rmSync(place, { recursive: true, force: true });
  }
}

function end(child: ChildProcess): Promise<void> {
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  child.kill("SIGTERM");
  return ended;
}

async function build(): Promise<void> {
  const tool = findTool();
  const { tag } = values;
  run(tool, [
    "build",
    ...(tool === "docker" ? [] : ["--format", "docker"]),
    ...(values.base === undefined ? [] : ["--build-arg", `BASE=${values.base}`]),
    ...(values["without-postgres"] ? ["--build-arg", "COLLECT=--without-postgres"] : []),
    ...(values.network === undefined ? [] : ["--network", values.network]),
    ...["-t", tag, "."],
  ]);
  if (tool === "buildah") {
    console.log(`${tag} is built; podman or docker is needed to start it`);
    return;
  }
  console.log(`${tag}: ${megabytes(Number(run(tool, ["image", "inspect", "--format", "{{.Size}}", tag])))}`);
  if (values["without-postgres"]) return;
  const port = await freePort();
  const name = `assay-try-${process.pid}`;
  const network =
    values.network === "host"
      ? ["--network", "host", "-e", `PORT=${port}`]
      : ["-p", `127.0.0.1:${port}:3000`];
  run(tool, [
    ...["run", "--detach", "--rm", "--name", name, "--read-only", "--cap-drop", "ALL"],
    ...["--security-opt", "no-new-privileges", "--tmpfs", "/tmp", ...network, tag],
  ]);
  try {
    const ms = await untilReady(
      port,
      () => run(tool, ["ps", "--quiet", "--filter", `name=${name}`], true) === "",
    );
    await lookAround(port);
    console.log(`ready after ${(ms / 1000).toFixed(1)} s, with a new database, read-only and without root`);
  } finally {
    console.log(run(tool, ["logs", "--tail", "5", name]));
    run(tool, ["stop", "--time", "20", name]);
  }
}

try {
  if (values.help) console.log(usage);
  else if (values.folder) await tryFolder();
  else await build();
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
}
