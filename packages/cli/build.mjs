// node build.mjs [FILE]: makes dist/assay.mjs, the whole command line in one file that plain Node 20 runs without any package.
// node build.mjs --pack (`npm run cli-package`): then makes the npm package of it. `npm pack` alone would pack nothing: scripts such as `prepack` are off (`.npmrc`).
import { spawnSync } from "node:child_process";
import { chmodSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { rolldown } from "rolldown";

const isPacked = process.argv[2] === "--pack";
const built = path.join(import.meta.dirname, "dist", "assay.mjs");
const file = isPacked ? built : path.resolve(process.argv[2] ?? built);
const bundle = await rolldown({
  input: path.join(import.meta.dirname, "src", "main.ts"),
  platform: "node",
  // What is missing must fail here and not on somebody else's machine: only what comes with Node may stay outside.
  external: (id) => id.startsWith("node:"),
  onLog: (level, log) => {
    if (level === "warn") throw new Error(log.message);
  },
});
await bundle.write({ file, format: "esm", banner: "#!/usr/bin/env node", codeSplitting: false });
await bundle.close();
chmodSync(file, 0o755);

if (isPacked) {
  const packed = spawnSync("npm", ["pack", "--silent", "--workspace", "packages/cli"], { encoding: "utf8" });
  const name = packed.stdout?.trim();
  if (packed.status !== 0)
    throw new Error(`npm could not make the package: ${packed.error ?? packed.stderr}`);
  console.log(`${name} is made. Anywhere with Node 20: npx ./${name} --help`);
}
