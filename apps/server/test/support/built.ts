import { readdirSync } from "node:fs";

const dist = new URL("../../dist/", import.meta.url);

/**
 * A function or class of the bundle, for a process that a test starts often or changes before its start: from
 * source a start takes three times the processor time. `file` is the module that has a file of its own.
 */
export async function importBuilt<T extends (...args: never[]) => unknown>(
  file: string,
  name: string,
): Promise<T> {
  // The bundle shortens the names of what a file exports, not those of functions and classes.
  const pattern = new RegExp(`^${file}-[\\w-]{8}\\.js$`);
  for (const found of readdirSync(dist).filter((each) => pattern.test(each))) {
    const values: unknown[] = Object.values(await import(new URL(found, dist).href));
    const value = values.find((each) => typeof each === "function" && each.name === name);
    if (value !== undefined) return value as T;
  }
  throw new Error(`no file of the bundle named ${file} has ${name}`);
}
