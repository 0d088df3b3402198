import { readFileSync, statSync } from "node:fs";
import { median } from "@assay/face/median";
import { greyOf } from "@assay/mrz-reader/grey";
import { decode } from "jpeg-js";
import { loadReader, networkFiles } from "../packages/mrz-reader/test/support/load-reader.ts";

const rounds = 60;
const frames = new URL("../packages/mrz-reader/test/frames/", import.meta.url);
const networks = new URL("../packages/mrz-reader/networks/", import.meta.url);

/**
 * One frame of 1280 by 960 pixels, from the camera's pixels to the key, in processor time of one thread,
 * against the goal of 60 ms. Also prints the size of what must be loaded.
 */
export async function run(): Promise<void> {
  for (const kind of ["fast", "plain"] as const) {
    const reader = loadReader(kind);
    for (const name of ["passport", "card"]) {
      const { data, width, height } = decode(readFileSync(new URL(`${name}.jpg`, frames)), {
        useTArray: true,
      });
      const took: number[] = [];
      let said = "";
      for (let round = 0; round < (kind === "fast" ? rounds : 8); round++) {
        const began = process.cpuUsage();
        said = reader.look(greyOf(data, width, height), new Date()).reading.kind;
        const { user, system } = process.cpuUsage(began);
        took.push((user + system) / 1000);
      }
      const sorted = took.slice(3).sort((a, b) => a - b);
      const shown = (ms: number | undefined) => (ms ?? Number.NaN).toFixed(1);
      console.log(
        `${kind.padEnd(5)} ${name.padEnd(8)} ${said.padEnd(7)} median ${shown(median(sorted))} ms, fastest ${shown(sorted[0])} ms, slowest ${shown(sorted.at(-1))} ms (goal 60 ms with vectors)`,
      );
    }
    console.log(`${kind.padEnd(5)} memory of the networks ${(reader.memoryBytes / 1e6).toFixed(1)} MB`);
  }
  const bytes = networkFiles.map((name) => statSync(new URL(name, networks)).size);
  console.log(
    `weights and plan: ${bytes.reduce((sum, size) => sum + size, 0)} bytes (goal 500,000 with the worker's script)`,
  );
}
