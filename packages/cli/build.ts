import path from "node:path";
import { rolldown } from "rolldown";

/**
 * The whole command line in one file that plain Node 20 runs without any package. It is committed as `assay.mjs`, so
 * that `npm pack` works in a fresh checkout, where nothing is installed and scripts such as `prepack` are off
 * (`.npmrc`).
 */
export async function bundleCommandLine(): Promise<string> {
  const bundle = await rolldown({
    input: path.join(import.meta.dirname, "src", "main.ts"),
    platform: "node",
    // What is missing must fail here and not on somebody else's machine: only what comes with Node may stay outside.
    external: (id) => id.startsWith("node:"),
    onLog: (level, log) => {
      if (level === "warn") throw new Error(log.message);
    },
  });
  const { output } = await bundle.generate({
    format: "esm",
    banner: "#!/usr/bin/env node",
    codeSplitting: false,
  });
  await bundle.close();
  return output[0].code;
}
