import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { after } from "node:test";
import { inspect } from "node:util";
import { CommandError, runCommand } from "@assay/cli/command";
import { commandsFor } from "../../src/operations/cli/commands.ts";
import { ExplainedError } from "../../src/platform/lib/explained-error.ts";

const built = new URL("../../dist/main.js", import.meta.url).pathname;

/** `npm run prove -- upgrade` gives the tests a database that is half migrated, which has to stay so. */
export const skippingMigrations: Record<string, string> =
  process.env.ASSAY_TEST_SKIP_MIGRATIONS === "true" ? { SKIP_MIGRATIONS: "true" } : {};

/** The base environment of a test process. The cache of compiled source halves its start. */
export function cleanEnvironment(env: Record<string, string>): Record<string, string> {
  const { PATH = "", HOME = "/tmp", NODE_COMPILE_CACHE } = process.env;
  return {
    PATH,
    HOME,
    // A database that a process makes for itself is whole.
    ...("DATABASE_URL" in env ? skippingMigrations : {}),
    ...(NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }),
    ...env,
  };
}

/** Runs `assay ARGS` to its end. */
export async function assay(
  args: readonly string[],
  env: Record<string, string>,
  file = built,
  node = process.execPath,
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn(node, [file, ...args], {
    env: cleanEnvironment(env),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk) => {
    stdout += chunk;
  });
  child.stderr.on("data", (chunk) => {
    stderr += chunk;
  });
  const [code] = await once(child, "close");
  return { code, stdout, stderr };
}

/** Runs `assay ARGS` in this process, because starting another takes most of the time. */
export async function assayHere(
  args: readonly string[],
  env: Record<string, string>,
): Promise<{ code: number; stdout: string; stderr: string }> {
  const { ...before } = process.env;
  const lines: string[] = [];
  const answer = (code: number, stderr = "") => ({
    code,
    stdout: lines.map((line) => `${line}\n`).join(""),
    stderr,
  });
  setEnvironment(cleanEnvironment(env));
  try {
    return answer(await runCommand(await commandsFor(args), args, (line) => lines.push(line)));
  } catch (error) {
    if (error instanceof CommandError) return answer(error.exitCode, error.message);
    return answer(1, error instanceof ExplainedError ? error.message : inspect(error));
  } finally {
    setEnvironment(before);
  }
}

/** Commands read their settings from the environment of the process. */
function setEnvironment(env: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
}

export type AssayProcess = {
  url: string;
  child: ChildProcess;
  output: () => string;
  stop(signal?: NodeJS.Signals): Promise<number | null>;
};

/** Starts `assay start` as a separate process on a free port, and waits until it listens. */
export async function startAssay(
  env: Record<string, string>,
  options: LaunchOptions = {},
): Promise<AssayProcess> {
  const { listening, ...started } = spawnAssay(env, options);
  return { url: await listening, ...started };
}

type LaunchOptions = {
  role?: string;
  /** The limit of open files, if it differs from this process. */
  openFiles?: number;
};

type SpawnedAssay = Omit<AssayProcess, "url"> & { listening: Promise<string> };

/** The same without waiting, for a test that ends it before it listens. Then `listening` is rejected. */
export function spawnAssay(env: Record<string, string>, options: LaunchOptions = {}): SpawnedAssay {
  const spawned = launchAssay(env, options);
  after(() => spawned.child.kill("SIGKILL"));
  return spawned;
}

/** The same for a script, which ends it itself; also for another release, by its main file. */
export function launchAssay(
  env: Record<string, string>,
  { file = built, role = "all", openFiles }: LaunchOptions & { file?: string } = {},
): SpawnedAssay {
  const command = [process.execPath, file, "start", "--role", role] as const;
  const limited = ["sh", "-c", `ulimit -n ${openFiles} && exec "$@"`, "sh", ...command] as const;
  const [program, ...words] = openFiles === undefined ? command : limited;
  const child = spawn(program, words, {
    env: cleanEnvironment({ PORT: "0", LOG_FORMAT: "json", ...env }),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  const ended = once(child, "close");
  const listening = Promise.withResolvers<string>();
  // A test that ends it early does not need the reason.
  listening.promise.catch(() => {});
  const collect = (chunk: Buffer) => {
    output += chunk;
    const started = /"message":"started".*?"address":"([^"]+)"/.exec(output);
    if (started?.[1] !== undefined) listening.resolve(started[1]);
  };
  child.stdout.on("data", collect);
  child.stderr.on("data", collect);
  child.once("close", () => listening.reject(new Error(`assay start ended:\n${output}`)));
  return {
    listening: listening.promise,
    child,
    output: () => output,
    stop: async (signal = "SIGTERM") => {
      child.kill(signal);
      return (await ended)[0];
    },
  };
}
