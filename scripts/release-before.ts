import { spawnSync } from "node:child_process";
import { globSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import path from "node:path";

const root = path.resolve(import.meta.dirname, "..");

export function git(...args: string[]): string {
  return spawnSync("git", args, { cwd: root, encoding: "utf8" }).stdout.trim();
}

/**
 * The release to upgrade from: the last tag or, without one, the commit before the one that last added a
 * migration, so that at least one is proven. Empty if the history does not go back far enough.
 */
export function releaseBefore(): string {
  const tag = git("describe", "--tags", "--abbrev=0");
  if (tag !== "") return tag;
  const migrations = ":(glob)apps/server/migrations/[0-9]*.sql";
  const added = git("log", "-1", "--no-renames", "--diff-filter=A", "--format=%H", "--", migrations);
  return added === "" ? "" : git("rev-parse", "--verify", "--quiet", `${added}^`);
}

function run(command: string, args: readonly string[], cwd: string): void {
  const { status } = spawnSync(command, args, { cwd, stdio: ["ignore", "ignore", "inherit"] });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} ended with ${status}`);
}

/** The files of a release alone: enough to read its migrations. */
export function extract(commit: string, folder: string): string {
  mkdirSync(folder, { recursive: true });
  run("bash", ["-c", `git archive "$0" | tar -x -C "$1"`, commit, folder], root);
  return folder;
}

/**
 * The release as it was, with this one's packages if the versions are equal,
 * and always with its own workspaces.
 */
export function unpack(commit: string, folder: string): string {
  extract(commit, folder);
  const lock = (of: string) => readFileSync(path.join(of, "package-lock.json"), "utf8");
  const modules = path.join(folder, "node_modules");
  if (lock(folder) === lock(root)) {
    mkdirSync(path.join(modules, "@assay"), { recursive: true });
    for (const name of readdirSync(path.join(root, "node_modules")))
      if (name !== "@assay" && name !== ".cache")
        symlinkSync(path.join(root, "node_modules", name), path.join(modules, name));
    for (const file of globSync("{apps,packages}/*/package.json", { cwd: folder })) {
      const { name } = JSON.parse(readFileSync(path.join(folder, file), "utf8")) as { name: string };
      symlinkSync(path.join(folder, path.dirname(file)), path.join(modules, name));
    }
  }
  // A short test, because only such a command installs what tests need and marks it as installed. A start that
  // finds no mark installs less.
  run(process.execPath, ["scripts/run.mjs", "test", "find-browser"], folder);
  run(process.execPath, ["scripts/run.mjs", "build"], folder);
  return folder;
}
