// `npm run prove`: runs the proofs of a release and writes a signed report (scripts/proof). `npm run prove --
// NAME [options]`: runs one proof that takes minutes and needs more than the suite, such as another release
// or several machines. Each is a file in scripts/prove that exports `prove` and `about`, or a separate
// script; `-- --help` lists them.
import { globSync } from "node:fs";
import path from "node:path";
import { runProof, usage } from "./proof/run-proof.ts";

type Prover = {
  about: string;
  /** Says whether it holds. */
  prove: (args: readonly string[]) => Promise<boolean>;
};

/** They parse the arguments after their name themselves. */
const scripts: Readonly<Record<string, string>> = {
  clients: "clients of the API, made by every available generator, compile and run",
  engines: "the pages work in Firefox and WebKit",
  lighthouse: "the pages are quick, small and accessible on a slow phone",
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
} else if (scripts[name] !== undefined) {
  process.argv.splice(2, 1);
  await import(path.join(import.meta.dirname, `${name}.ts`));
} else if (name === "" || (name.startsWith("--") && name !== "--help")) {
  process.exitCode = (await runProof(process.argv.slice(2))) ? 0 : 1;
} else {
  console.log(`usage: ${usage}\n\n       npm run prove -- NAME [options]\n`);
  for (const each of names) console.log(`  ${each.padEnd(12)} ${(await load(each)).about}`);
  for (const [each, about] of Object.entries(scripts)) console.log(`  ${each.padEnd(12)} ${about}`);
  process.exitCode = name === "--help" ? 0 : 1;
}
