import { globSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { brotliCompressSync, constants } from "node:zlib";

/**
 * Part of the web apps' build: writes a maximally compressed brotli copy of each asset that becomes smaller.
 * That takes a second for a script of 300 kB, too long for a request. Large files that load later, for the
 * camera, are compressed on request.
 */
export function precompress(): { name: string; apply: "build"; closeBundle(): void } {
  return {
    name: "precompress",
    apply: "build",
    closeBundle() {
      for (const name of globSync("dist/assets/*.{js,css}")) {
        const file = path.resolve(name);
        const plain = readFileSync(file);
        if (plain.length < 1024 || plain.length > maxBytes) continue;
        const quality = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY };
        writeFileSync(`${file}.br`, brotliCompressSync(plain, { params: quality }));
      }
    },
  };
}

/**
 * Smaller: leaves out the largest script of the pages.
 * Larger: compresses the camera's models for two seconds.
 */
const maxBytes = 500_000;
