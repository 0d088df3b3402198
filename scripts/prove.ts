// `npm run prove -- NAME [options]`: proofs that take minutes and need more than the suite has, such as another release or several machines. Each is a file in
// scripts/prove that exports `prove` and `about`; `npm run prove` lists them.
import { globSync } from "node:fs";
import path from "node:path";

type Prover = {
  about: string;
  /** Says whether it holds. */
  prove: (args: readonly string[]) => Promise<boolean>;
};

const folder = path.join(import.meta.dirname, "prove");
const names = globSync("*.ts", { cwd: folder })
  .map((file) => file.replace(/\.ts$/, ""))
  .filter((name) => !name.endsWith(".test"))
  .sort();
const load = (name: string): Promise<Prover> => import(path.join(folder, `${name}.ts`));

const [name = "", ...args] = process.argv.slice(2);
if (names.includes(name)) {
  const { prove } = await load(name);
  process.exitCode = (await prove(args)) ? 0 : 1;
} else {
  console.log("usage: npm run prove -- NAME [options]\n");
  for (const each of names) console.log(`  ${each.padEnd(12)} ${(await load(each)).about}`);
  process.exitCode = name === "" ? 0 : 1;
}
