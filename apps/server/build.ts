import path from "node:path";
import { type Plugin, rolldown } from "rolldown";

const root = path.resolve(import.meta.dirname, "../..");
const folder = path.join(import.meta.dirname, "dist");

/** Packages with native code or files of their own. They are loaded from `node_modules`; everything else is in the bundle. */
export const packagesBeside: readonly string[] = [
  "@cornerstonejs/codec-libjpeg-turbo-8bit",
  "@cornerstonejs/codec-openjpeg",
  "@node-rs/argon2",
  "onnxruntime-node",
];

/** What a person starts, and what the service loads by its address: threads, sandboxed processes, the models in them. */
const entries: Readonly<Record<string, string>> = {
  main: "src/main.ts",
  "chip-worker": "src/verification/attempts/chip-worker.ts",
  "trust-worker": "src/verification/trust/trust-worker.ts",
  "face-worker": "src/verification/face/face-worker.ts",
  "face-models": "src/verification/face/face-models.ts",
};

/**
 * One rule for what is found by `import.meta.url`: in the bundle it is still the address of the source. So a module finds the files beside it, which stay where they
 * are. Only a module that is loaded by its address is found in the bundle; it must be an entry. The replacements keep every line where it is, and with it the source map.
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

/** Writes the service and its command line into `dist`. A command loads the chunks that it needs; all of it would take a quarter of a second longer. */
async function buildServer(): Promise<void> {
  const bundle = await rolldown({
    cwd: import.meta.dirname,
    input: entries,
    platform: "node",
    // The driver asks for `pg-native` only where somebody wants it.
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
