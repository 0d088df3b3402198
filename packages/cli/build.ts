import path from "node:path";
import { rolldown } from "rolldown";

/** Bundles the command line into one file that plain Node 20 runs without packages. */
async function buildCommandLine(): Promise<void> {
  const bundle = await rolldown({
    input: path.join(import.meta.dirname, "src", "main.ts"),
    platform: "node",
    // Fail here, not on another machine: only Node's built-in modules stay external.
    external: (id) => id.startsWith("node:"),
    onLog: (level, log) => {
      if (level === "warn") throw new Error(log.message);
    },
  });
  await bundle.write({
    file: path.join(import.meta.dirname, "dist", "assay.mjs"),
    format: "esm",
    banner: "#!/usr/bin/env node",
    codeSplitting: false,
  });
  await bundle.close();
}

if (import.meta.main) await buildCommandLine();
