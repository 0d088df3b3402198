import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { rolldown } from "rolldown";

const source = path.join(import.meta.dirname, "src");

/** The package's code in one file. It is committed, so that `npm pack` works in a fresh checkout. */
export async function bundleWebhook(): Promise<string> {
  const bundle = await rolldown({
    input: path.join(source, "index.ts"),
    platform: "neutral",
    external: ["jose"],
  });
  const { output } = await bundle.generate({ format: "esm", codeSplitting: false });
  await bundle.close();
  return output[0].code;
}

let declared: ReadonlyMap<string, string> | null = null;

/** The types of one file of `src`. */
export function declarationsOf(name: "index" | "webhook-error"): string {
  declared ??= declareAll();
  return declared.get(name) ?? "";
}

function declareAll(): ReadonlyMap<string, string> {
  const folder = mkdtempSync(path.join(tmpdir(), "assay-webhook-"));
  try {
    const compiler = path.join(import.meta.dirname, "../../node_modules/typescript/bin/tsc");
    const options =
      "--declaration --emitDeclarationOnly --module nodenext --target es2022 --lib es2022,dom --types node --skipLibCheck --strict";
    const args = [
      ...options.split(" "),
      "--ignoreConfig",
      "--allowImportingTsExtensions",
      "--rewriteRelativeImportExtensions",
      "--verbatimModuleSyntax",
    ];
    const made = spawnSync(
      process.execPath,
      [compiler, path.join(source, "index.ts"), ...args, "--outDir", folder],
      {
        encoding: "utf8",
      },
    );
    if (made.status !== 0) throw new Error(`${made.stdout}${made.stderr}`);
    const read = (name: string) =>
      readFileSync(path.join(folder, `${name}.d.ts`), "utf8")
        .replaceAll(/from "(\.\/[a-z-]+)\.ts"/g, 'from "$1.js"')
        .replaceAll('from "../lib/event.d.ts"', 'from "./event.js"');
    return new Map(["index", "webhook-error"].map((name) => [name, read(name)]));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
