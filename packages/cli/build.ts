import path from "node:path";
import { rolldown } from "rolldown";

/**
 * Bundles the command line into one file that plain Node 20 runs without packages. It is committed as
 * `assay.mjs`, so that `npm pack` works in a fresh checkout without installed packages or scripts (`.npmrc`).
 */
export async function bundleCommandLine(): Promise<string> {
  const bundle = await rolldown({
    input: path.join(import.meta.dirname, "src", "main.ts"),
    platform: "node",
    // Fail here, not on another machine: only Node's built-in modules stay external.
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
