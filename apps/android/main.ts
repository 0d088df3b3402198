import { statSync } from "node:fs";
import path from "node:path";
import { buildInContainer } from "./build/container.ts";
import { help, readOptions } from "./build/options.ts";
import { buildPackage } from "./build/package.ts";
import { BuildProblem } from "./build/tools.ts";

async function main(args: readonly string[]): Promise<void> {
  if (args.includes("--help") || args.includes("-h")) {
    process.stdout.write(help);
    return;
  }
  if (args[0] === "test") {
    const { runTests } = await import("./test/run-tests.ts");
    process.exitCode = await runTests(args.slice(1));
    return;
  }
  if (args.includes("--container")) {
    process.exitCode = buildInContainer(args.filter((argument) => argument !== "--container"));
    return;
  }
  const options = readOptions(args, process.env);
  const { apk, bundle, certificateSha256 } = buildPackage(options);
  for (const file of [apk, bundle])
    if (file !== null)
      process.stdout.write(`${path.relative(process.cwd(), file)}  ${statSync(file).size} bytes\n`);
  process.stdout.write(
    `\nFor the service (docs/reading-devices.md, Your app on the page):\n` +
      `READER_APP_ANDROID="package=${options.appId},sha256=${certificateSha256}"\nREADER_APP_ANDROID_FILE="${apk}"\n`,
  );
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof BuildProblem)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
