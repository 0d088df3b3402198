// Runs tests of a file while one mutant is switched on.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import pg from "pg";
import type { Hits, Notice, PlannedFile, PlannedTest } from "./plan.ts";
import { report } from "./report.ts";
import {
  type CollectedFile,
  collectInto,
  type Ending,
  inTime,
  newFile,
  runHooks,
  runTest,
} from "./stand-in.ts";

type Instrumented = {
  activeMutant?: string | undefined;
  currentTestId?: string | undefined;
  hitCount?: number;
  hitLimit?: number;
  mutantCoverage: { static: Record<string, number>; perTest: Record<string, Record<string, number>> };
};
/** Which mutant is on, and what was reached. The names are those that the sources of StrykerJS ask for. */
export const stryker: Instrumented = { mutantCoverage: { static: {}, perTest: {} } };
Object.assign(globalThis, { __stryker__: stryker });

export const maxLoadMs = 60_000;
/** A test is slow on a busy machine. One that took too long is run a second time, with more patience. */
export const patience = { factor: 1 };
export const limitOf = ({ ms }: { ms: number }) => patience.factor * (5000 + 5 * ms);

/** Files whose tests can run again without reloading. */
export const kept = new Map<string, CollectedFile>();
let loads = 0;
export const countLoads = () => loads;

/** Also a file that fails to load may have opened something, which the hooks in `into` close. */
export async function load(file: string, into: CollectedFile): Promise<string> {
  loads += 1;
  process.env.ASSAY_TEST_FILE_NUMBER = String(loads);
  collectInto(into);
  const url = `${pathToFileURL(file).href}?${loads}`;
  await import(url);
  for (const hook of into.before) await hook();
  return url;
}

/** Loads a file's imports first, so that mutants reached afterwards are reached by the file itself. */
export async function loadImports(file: string): Promise<void> {
  const url = pathToFileURL(file).href;
  const imports = readFileSync(file, "utf8").matchAll(
    /^(?:(?:import (?!type ).*|\} )from|import) "(.+)";$/gm,
  );
  for (const [, specifier = ""] of imports)
    await import(specifier.startsWith(".") ? new URL(specifier, url).href : import.meta.resolve(specifier));
}

export async function close(file: CollectedFile): Promise<Ending> {
  const ending = await runHooks(file.after, maxLoadMs);
  const client = new pg.Client({ connectionString: process.env.ASSAY_TEST_POSTGRES });
  await client.connect();
  const left = await client.query<{ name: string }>(
    "select datname as name from pg_database where starts_with(datname, $1)",
    [`assay_test_${process.pid}_`],
  );
  for (const { name } of left.rows) await client.query(`drop database ${name} with (force)`);
  await client.end();
  return ending;
}

/**
 * Runs some tests of a file, until one fails. The mutant is active from the load of the file to its end, or
 * from the load of the sources if it is `static`. Otherwise the sources stay loaded for the next mutant.
 */
export async function runFile(
  planned: PlannedFile,
  wanted: readonly PlannedTest[],
  mutant: { id: string; isStatic: boolean } | null,
): Promise<{ ending: Ending; by: Notice }> {
  const { file, mode } = planned;
  const id = mutant?.id ?? "";
  const switchOn = () => {
    stryker.activeMutant = mutant?.id;
  };
  const begin = async (maxMs: number, hits: Hits) => {
    await report({ kind: "beat", id: mutant?.id ?? null, maxMs });
    stryker.hitCount = 0;
    stryker.hitLimit = 100 * (hits[id] ?? 0) + 1_000_000;
  };
  if (mutant?.isStatic === true) switchOn();
  const isKept = mode === "keep" && !Object.hasOwn(planned.loadHits, id);
  const loaded = (isKept ? kept.get(file) : undefined) ?? newFile();
  let ending: Ending = { kind: "passed" };
  let test = "(load)";
  if (loaded !== kept.get(file)) {
    await begin(maxLoadMs, planned.loadHits);
    ending = await inTime(maxLoadMs, async () => {
      await loadImports(file);
      if (!isKept) switchOn();
      await load(file, loaded);
    });
    if (isKept && ending.kind === "passed") kept.set(file, loaded);
  }
  switchOn();
  for (const planned of wanted) {
    if (ending.kind !== "passed") break;
    const found = loaded.tests.find(({ name }) => name === planned.name);
    if (found === undefined) continue;
    test = planned.name;
    await begin(limitOf(planned), planned.hits);
    ending = await runTest(loaded, found, limitOf(planned));
  }
  if (loaded.after.length > 0 && ending.kind !== "late") {
    await begin(maxLoadMs, planned.loadHits);
    const closing = await close(loaded);
    if (closing.kind === "late" || (closing.kind === "failed" && ending.kind === "passed"))
      [ending, test] = [closing, "(end)"];
  }
  stryker.activeMutant = undefined;
  return { ending, by: { file, test, reason: ending.kind === "failed" ? ending.reason : "" } };
}
