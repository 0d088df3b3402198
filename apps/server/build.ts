import path from "node:path";
import { type Plugin, rolldown } from "rolldown";

const root = path.resolve(import.meta.dirname, "../..");
const folder = path.join(import.meta.dirname, "dist");

/** Packages with native code or files of their own, loaded from `node_modules`. The bundle has the others. */
export const packagesBeside: readonly string[] = [
  "@cornerstonejs/codec-libjpeg-turbo-8bit",
  "@cornerstonejs/codec-openjpeg",
  "@node-rs/argon2",
  "onnxruntime-node",
];

/** The program, and what it loads by address: threads, sandboxed processes and their models. */
const entries: Readonly<Record<string, string>> = {
  main: "src/main.ts",
  "chip-worker": "src/verification/attempts/chip-worker.ts",
  "trust-worker": "src/verification/trust/trust-worker.ts",
  "face-worker": "src/verification/face/face-worker.ts",
  "face-models": "src/verification/face/face-models.ts",
};

/**
 * In the bundle `import.meta.url` is still the address of the source, so a module finds the files beside it.
 * A module that is loaded by its address is in the bundle and must be an entry. The replacements keep the
 * lines, and so the source map stays right.
 */
const sourceAddresses: Plugin = {
  name: "source-addresses",
  transform(code, id) {
    if (!id.startsWith(root) || id.includes("/node_modules/") || !code.includes("import.meta.url"))
      return null;
    const source = JSON.stringify(path.relative(folder, id));
    const placed = code
      .replace(/new URL\("\.\/([a-z-]+)\.ts", import\.meta\.url\)/g, (_, name: string) => {
        if (entries[name] === undefined)
          throw new Error(`${id} loads ${name}.ts, which is no entry of the bundle`);
        return `new URL("./${name}.js", import.meta["url"])`;
      })
      .replace(/\bimport\.meta\.url\b/g, `new URL(${source}, import.meta["url"]).href`);
    return { code: placed, map: null };
  },
};

/**
 * Writes the service and its command line into `dist`. A command loads only the chunks that it needs: all of
 * them would take a quarter of a second longer.
 */
async function buildServer(): Promise<void> {
  const bundle = await rolldown({
    cwd: import.meta.dirname,
    input: entries,
    platform: "node",
    // The driver loads `pg-native` only if a caller asks for it.
    external: [...packagesBeside, "pg-native"],
    plugins: [sourceAddresses],
    onLog: (level, log) => {
      if (level === "warn") throw new Error(log.message);
    },
  });
  await bundle.write({
    dir: folder,
    cleanDir: true,
    format: "esm",
    entryFileNames: "[name].js",
    // With the sources themselves the maps would be twice as large, and every process reads them.
    sourcemap: true,
    sourcemapExcludeSources: true,
  });
  await bundle.close();
}

if (import.meta.main) await buildServer();
