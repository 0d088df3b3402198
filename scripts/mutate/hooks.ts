// Loaded first in a process that tries mutants, and in its threads. Files under test are loaded with all
// mutants. The stand-in replaces node:test, which cannot run a test twice.
import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { isMainThread } from "node:worker_threads";

const standIn = new URL("./stand-in.ts", import.meta.url).href;
const { ASSAY_MUTATE_SOURCES: file = "" } = process.env;
const instrumented = JSON.parse(readFileSync(file, "utf8")) as Record<string, string>;
/** The imports of each module. */
export const importsOf = new Map<string, Set<string>>();

registerHooks({
  resolve(specifier, context, next) {
    const isForTests = specifier === "node:test" && isMainThread && context.parentURL !== standIn;
    const found = isForTests ? { url: standIn, shortCircuit: true } : next(specifier, context);
    const { parentURL } = context;
    if (parentURL !== undefined)
      importsOf.set(parentURL, (importsOf.get(parentURL) ?? new Set()).add(found.url));
    return found;
  },
  load(url, context, next) {
    const source = instrumented[url];
    return source === undefined
      ? next(url, context)
      : { format: "module-typescript", source, shortCircuit: true };
  },
});
