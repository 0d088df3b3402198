import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runToEnd } from "./recipes.ts";

const root = join(import.meta.dirname, "../../../..");
const wanted = join(root, "scripts/recipes");
const cache = join(root, "node_modules/.cache/recipes");

/** Installs once into a folder with a marker. Null if the registry cannot be reached. */
async function installOnce(
  name: string,
  files: readonly string[],
  install: (folder: string) => Promise<{ code: number | null }>,
): Promise<string | null> {
  const folder = join(cache, name);
  const marker = join(folder, "installed");
  const asked = files.map((file) => readFileSync(join(wanted, file), "utf8")).join("");
  if (existsSync(marker) && readFileSync(marker, "utf8") === asked) return folder;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const file of files) cpSync(join(wanted, file), join(folder, file));
  if ((await install(folder)).code !== 0) return null;
  writeFileSync(marker, asked);
  return folder;
}

/** The JavaScript frameworks. Files in the folder resolve them. */
export function installNpmFrameworks(): Promise<string | null> {
  const flags = ["--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=1"];
  // Not `npm ci`, which refuses a lock file without the packages of every other platform.
  return installOnce("npm", ["package.json", "package-lock.json"], (folder) =>
    runToEnd(["npm", "install", ...flags], folder),
  );
}

/** The Python frameworks with the project's package `assay-webhook`. Returns the program to start. */
export async function installPythonFrameworks(): Promise<string | null> {
  const folder = await installOnce("python", ["requirements.txt"], async (folder) => {
    await runToEnd(["python3", "-m", "venv", folder], folder);
    const install = ["-m", "pip", "install", "--quiet", "--retries", "1", "-r", "requirements.txt"];
    return runToEnd([join(folder, "bin/python"), ...install], folder);
  });
  if (folder === null) return null;
  const python = join(folder, "bin/python");
  // Copied each time, because the build leaves files beside the source and the source may have changed.
  const source = join(folder, "assay-webhook");
  rmSync(source, { recursive: true, force: true });
  cpSync(join(root, "packages/webhook/python"), source, { recursive: true });
  const install = [
    "-m",
    "pip",
    "install",
    "--quiet",
    "--force-reinstall",
    "--no-deps",
    "--retries",
    "1",
    source,
  ];
  return (await runToEnd([python, ...install], folder)).code === 0 ? python : null;
}
