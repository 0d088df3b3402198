import path from "node:path";
import { build } from "vite";

const folder = path.resolve(import.meta.dirname, "../packages/device/transport-check");
const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
};

export type PageFile = { type: string; content: string };

/** The page of the conformance suite, as files by name: one page and one script. */
export async function buildCheckPage(): Promise<ReadonlyMap<string, PageFile>> {
  const built = await build({
    root: folder,
    base: "./",
    configFile: false,
    logLevel: "warn",
    build: {
      write: false,
      assetsDir: "",
      modulePreload: false,
      chunkSizeWarningLimit: 4_000,
      rollupOptions: { output: { entryFileNames: "page.js" } },
    },
  });
  const files = new Map<string, PageFile>();
  for (const { output } of "output" in built ? [built] : Array.isArray(built) ? built : [])
    for (const file of output)
      files.set(file.fileName, {
        type: types[path.extname(file.fileName)] ?? "application/octet-stream",
        content: file.type === "chunk" ? file.code : String(file.source),
      });
  return files;
}
