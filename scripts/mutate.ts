// `npm run mutate`: changes the code in one place at a time (a mutant), runs the tests that reach it, and
// lists changes that no test notices. `-- sessions webhooks` selects modules, `-- path/to/rule.ts` a file and
// the tests in its folder. `--sample 250` draws this many mutants of each, `--seed 2` draws others, `--lanes
// 1` uses one process. Results per mutant are in `test-artifacts/mutate`.
import { createHash } from "node:crypto";
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { runNpm } from "./find-browser.ts";
import { type Module, modules } from "./mutate/modules.ts";
import type { Result } from "./mutate/plan.ts";
import { type Outcome, runMutants } from "./mutate/run-mutants.ts";
import { words } from "./mutate/words.ts";
import { openScratchFolder } from "./scratch-folder.ts";
import { startScratchPostgres } from "./scratch-postgres.ts";

type Mutant = {
  id: string;
  fileName: string;
  mutatorName: string;
  replacement: string;
  location: { start: Position; end: Position };
  /** Set for a mutant that is not tried. */
  status?: string;
};
type Position = { line: number; column: number };
type SourceFile = { name: string; mutate: boolean; content: string };
type Instrumenter = {
  instrument(files: SourceFile[], options: object): Promise<{ files: SourceFile[]; mutants: Mutant[] }>;
};

const root = path.resolve(import.meta.dirname, "..");
const tool = path.join(root, "node_modules", ".cache", "mutate");
const reports = path.join(root, "test-artifacts", "mutate");

/** The part of StrykerJS that makes mutants, in a separate folder: no other command needs its 78 packages. */
async function loadInstrumenter(): Promise<Instrumenter> {
  const wanted = path.join(import.meta.dirname, "mutate");
  const entry = path.join(tool, "node_modules/@stryker-mutator/instrumenter/dist/src/index.js");
  const lock = "package-lock.json";
  const isCurrent =
    existsSync(entry) &&
    readFileSync(path.join(tool, lock), "utf8") === readFileSync(path.join(wanted, lock), "utf8");
  if (!isCurrent) {
    console.log("Fetching StrykerJS from npm (once)…");
    rmSync(tool, { recursive: true, force: true });
    mkdirSync(tool, { recursive: true });
    for (const file of ["package.json", lock]) cpSync(path.join(wanted, file), path.join(tool, file));
    if (!runNpm(["ci", "--ignore-scripts", "--no-audit", "--no-fund"], tool))
      throw new Error(
        "StrykerJS could not be installed. Check the connection to the npm registry, then run the command again.",
      );
  }
  const { Instrumenter } = (await import(pathToFileURL(entry).href)) as {
    Instrumenter: new (log: object) => Instrumenter;
  };
  const nothing = () => false;
  return new Instrumenter({ debug: nothing, info: nothing, warn: nothing, isDebugEnabled: nothing });
}

function filesOf(patterns: readonly string[]): string[] {
  const isLeftOut = (file: string) => /\.(?:browser|system|whole-browser)\.test\.ts$|\.d\.ts$/.test(file);
  return [...new Set(patterns.flatMap((pattern) => globSync(pattern, { cwd: root })))].filter(
    (file) => !isLeftOut(file),
  );
}

/** The order of a draw depends on the seed and on the mutant alone. */
function draw(mutants: readonly Mutant[], count: number, seed: string): Mutant[] {
  const drawn = mutants.map((mutant) => {
    const { fileName, mutatorName, replacement, location } = mutant;
    const text = JSON.stringify([seed, fileName, mutatorName, replacement, location]);
    return { mutant, rank: createHash("sha256").update(text).digest("hex") };
  });
  drawn.sort((a, b) => (a.rank < b.rank ? -1 : 1));
  return drawn.slice(0, count).map(({ mutant }) => mutant);
}

type Found = Outcome & { name: string; mutants: Mutant[]; all: number };

async function runModule(
  name: string,
  { mutate, tests }: Module,
  options: {
    count: number;
    seed: string;
    lanes: number;
    scratch: string;
    instrumenter: Instrumenter;
    env: NodeJS.ProcessEnv;
  },
): Promise<Found> {
  const sources = filesOf(mutate).filter((file) => !file.endsWith(".test.ts"));
  const { files, mutants } = await options.instrumenter.instrument(
    sources.map((file) => ({
      name: file,
      mutate: true,
      content: readFileSync(path.join(root, file), "utf8"),
    })),
    // A text for people is not what decides.
    { ignorers: [words], excludedMutations: ["StringLiteral"], plugins: null, noHeader: false },
  );
  const urlOf = (file: string) => pathToFileURL(path.join(root, file)).href;
  const changed = path.join(options.scratch, `${name}.json`);
  writeFileSync(
    changed,
    JSON.stringify(Object.fromEntries(files.map(({ name, content }) => [urlOf(name), content]))),
  );
  const possible = mutants.filter(({ status }) => status === undefined);
  const chosen = draw(possible, options.count, options.seed);
  const outcome = await runMutants(
    chosen.map(({ id, fileName }) => ({ id, module: urlOf(fileName) })),
    filesOf(tests).map((file) => path.join(root, file)),
    {
      lanes: options.lanes,
      env: { ...options.env, ASSAY_MUTATE_SOURCES: changed },
      print: (line) => console.log(`${name}: ${line}`),
      save: (results) => {
        const listed = chosen.map((mutant) => ({ mutant: lineOf(mutant), ...results.get(mutant.id) }));
        writeFileSync(path.join(reports, `${name}.json`), `${JSON.stringify(listed, null, 1)}\n`);
      },
    },
  );
  return { ...outcome, name, mutants: chosen, all: possible.length };
}

/** The share of mutants that a test noticed, and how far it may be off for a sample (95 of 100 times). */
function scoreOf(
  results: readonly Result[],
  all: number,
): { noticed: number; percent: number; plusMinus: number } {
  const noticed = results.filter(({ status }) => status === "killed" || status === "timeout").length;
  const share = noticed / results.length;
  const left = all > 1 ? (all - results.length) / (all - 1) : 0;
  const plusMinus = 196 * Math.sqrt(((share * (1 - share)) / results.length) * left);
  return { noticed, percent: 100 * share, plusMinus };
}

function lineOf({ fileName, location: { start, end }, mutatorName, replacement }: Mutant): string {
  const lines = readFileSync(path.join(root, fileName), "utf8").split("\n");
  const line = lines[start.line] ?? "";
  const text =
    start.line === end.line ? line.slice(start.column, end.column) : `${line.slice(start.column)} …`;
  const [brief = ""] = replacement.split("\n");
  return `${fileName}:${start.line + 1} ${mutatorName}: ${text.slice(0, 100)} → ${brief.slice(0, 60)}`;
}

function show({ name, mutants, results, all, statics, cpuSeconds, plan }: Found): string {
  for (const mutant of mutants) {
    const status = results.find(({ id }) => id === mutant.id)?.status;
    if (status === "survived" || status === "uncovered") console.log(`  ${status} ${lineOf(mutant)}`);
  }
  const { noticed, percent, plusMinus } = scoreOf(results, all);
  const count = (status: Result["status"]) => results.filter((result) => result.status === status).length;
  const cutShort = results.filter(({ isCutShort }) => isCutShort === true).length;
  return [
    name.padEnd(14),
    `${percent.toFixed(1)} % ± ${plusMinus.toFixed(1)}`.padEnd(16),
    `${noticed} of ${results.length} noticed (${all} in all): ${count("killed")} killed, ${count("timeout")} timeouts, `,
    `${count("survived")} survived (${cutShort} cut short), ${count("uncovered")} uncovered; `,
    `${statics} tried from the load on; ${plan.files.flatMap(({ tests }) => tests).length} tests; ${cpuSeconds.toFixed(0)} CPU s`,
  ].join("");
}

async function main(): Promise<number> {
  const { values, positionals: chosen } = parseArgs({
    allowPositionals: true,
    options: {
      sample: { type: "string" },
      seed: { type: "string", default: "1" },
      lanes: { type: "string", default: "2" },
    },
  });
  const isFile = (name: string) => name.endsWith(".ts") && existsSync(path.join(root, name));
  const unknown = chosen.filter((name) => !Object.hasOwn(modules, name) && !isFile(name));
  if (unknown.length > 0) {
    console.error(
      `There is no module ${unknown.join(", ")}. The modules are: ${Object.keys(modules).join(", ")}.`,
    );
    return 2;
  }
  const instrumenter = await loadInstrumenter();
  mkdirSync(reports, { recursive: true });
  const scratch = openScratchFolder();
  process.env.TMPDIR = scratch.folder;
  const postgres = await startScratchPostgres();
  const table: string[] = [];
  try {
    const env = {
      ...process.env,
      NODE_ENV: "test",
      NODE_COMPILE_CACHE: path.join(root, "node_modules", ".cache", "compile"),
      ASSAY_TEST_POSTGRES: postgres.url,
      ASSAY_TEST_SEEN_CODES: path.join(scratch.folder, "seen-codes"),
    };
    const count = Number(values.sample ?? Number.POSITIVE_INFINITY);
    const { seed } = values;
    const wanted = chosen.length > 0 ? chosen : Object.keys(modules);
    for (const name of wanted) {
      const module = modules[name] ?? { mutate: [name], tests: [`${path.dirname(name)}/*.test.ts`] };
      const found = await runModule(path.basename(name, ".ts"), module, {
        count,
        seed,
        lanes: Number(values.lanes),
        scratch: scratch.folder,
        instrumenter,
        env,
      });
      table.push(show(found));
    }
  } finally {
    await postgres.close();
    scratch.close();
  }
  console.log(`\n${table.join("\n")}`);
  return 0;
}

process.exitCode = await main();
