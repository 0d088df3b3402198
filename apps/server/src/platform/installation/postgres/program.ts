import { type ChildProcess, spawn } from "node:child_process";
import path from "node:path";
import { libraryPath } from "./binaries.ts";
import type { Cluster } from "./cluster.ts";

export function spawnProgram(
  cluster: Cluster,
  program: "initdb" | "postgres",
  flags: readonly string[],
  stdio: ["ignore", "pipe" | "ignore", "pipe"],
): ChildProcess {
  const { runner, native, searchPath } = cluster;
  const libraries = libraryPath(native, cluster.libraries);
  const [file = "", ...args] = [...runner.prefix, path.join(native, "bin", program), ...flags];
  return spawn(file, args, {
    // In its own session: Ctrl-C at the terminal must reach only the service, which stops the server last.
    detached: true,
    cwd: "/",
    stdio,
    env: {
      PATH: searchPath,
      LD_LIBRARY_PATH: libraries,
      DYLD_LIBRARY_PATH: libraries,
      LC_ALL: "C",
      TZ: "UTC",
    },
    ...(runner.account !== null && !runner.prefixChangesUser ? runner.account : {}),
  });
}

/** The last 20 lines of a program, for the message if it fails. */
export class LastLines {
  readonly #lines: string[] = [];
  #rest = "";

  /** Adds output of the program and returns the complete lines. */
  add(chunk: Buffer): string[] {
    const parts = (this.#rest + chunk.toString("utf8")).split("\n");
    this.#rest = (parts.pop() ?? "").slice(-4096);
    const lines = parts.filter((line) => line.trim() !== "");
    this.#lines.push(...lines);
    this.#lines.splice(0, Math.max(0, this.#lines.length - 20));
    return lines;
  }

  text(): string {
    return [...this.#lines, this.#rest].join("\n").trim();
  }

  lastLine(): string {
    return this.#lines.at(-1) ?? "";
  }
}
