/** Models that loop, grow, crash or break out, depending on the width of the picture. */
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import type { FaceModels } from "../../src/verification/face/face-models.ts";

export const widths = {
  fine: 16,
  loops: 24,
  hangs: 28,
  swells: 32,
  breaks: 40,
  dies: 48,
  pries: 56,
} as const;

const kept: Uint8Array[] = [];

function attempt(body: () => unknown): boolean {
  try {
    body();
    return true;
  } catch {
    return false;
  }
}

export async function loadFaceModels(): Promise<FaceModels> {
  return {
    async detect({ width }) {
      const box = { x: 0, y: 0, width: 8, height: 8 };
      switch (width) {
        case widths.loops:
          for (;;) Math.sqrt(2);
        case widths.hangs:
          // Answers no message, like an endless loop, and leaves the processor to others.
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
          return [];
        case widths.swells:
          for (;;) {
            kept.push(new Uint8Array(10_000_000).fill(1));
            await new Promise((resolve) => setTimeout(resolve, 5));
          }
        case widths.breaks:
          throw new RangeError("the secret of the picture");
        case widths.dies:
          return process.kill(process.pid, "SIGKILL") ? [] : [];
        case widths.pries: {
          // Each of these must be refused: the answer is how many faces were found, one for every success.
          const done = [
            attempt(() => readFileSync("/etc/passwd")),
            attempt(() => writeFileSync(new URL("./pried", import.meta.url), "")),
            Object.keys(process.env).some((name) => !name.startsWith("NODE_")),
            attempt(() => spawnSync(process.execPath, ["--version"])),
          ];
          return done.flatMap((success) => (success ? [box] : []));
        }
        default:
          return [box];
      }
    },
    measure: () => null,
    embed: async () => [1, 0, 0],
  };
}
