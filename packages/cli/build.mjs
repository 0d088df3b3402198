// node build.mjs [FILE]: makes dist/assay.mjs, the whole command line in one file that plain Node 20 runs without any package. Run by `npm pack`.
import { chmodSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { rolldown } from "rolldown";

const file = path.resolve(process.argv[2] ?? path.join(import.meta.dirname, "dist", "assay.mjs"));
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
