import { globSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { brotliCompressSync, constants } from "node:zlib";

/**
 * A part of the build of the web apps: each asset that becomes smaller is written a second time, compressed as far as brotli goes. That takes a
 * second for a script of 300 kB, which nobody has while a person waits. What is only loaded later, for the camera, is large and compressed when it is
 * asked for.
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

/** Half: the largest script of the pages themselves is left out. Twice: the build compresses the models' program of the camera for two seconds. */
const maxBytes = 500_000;
