import { existsSync, globSync } from "node:fs";

/**
 * `npm run bench -- NAME [options]` runs bench/NAME.ts; every benchmark prints ratios against a bare ceiling.
 */
const [name, ...options] = process.argv.slice(2);
const folder = new URL("./", import.meta.url);
const names = globSync("*.ts", { cwd: folder.pathname })
  .map((file) => file.slice(0, -3))
  .filter((file) => file !== "run")
  .sort();

if (name === undefined || !existsSync(new URL(`${name}.ts`, folder))) {
  console.error(`Usage: npm run bench -- NAME\n\nBenchmarks: ${names.join(", ")}`);
  process.exitCode = 2;
} else {
  const benchmark = (await import(new URL(`${name}.ts`, folder).href)) as {
    run: (options: readonly string[]) => Promise<void>;
  };
  await benchmark.run(options);
}
