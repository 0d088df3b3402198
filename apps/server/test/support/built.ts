import { readdirSync } from "node:fs";

const dist = new URL("../../dist/", import.meta.url);

/**
 * A file of the bundle, for a process that changes something in the service before it starts. A start from
 * source takes three times the processor time. `name` is that of the module which has a file of its own.
 */
export async function importBuilt<T extends object>(name: string): Promise<T> {
  const pattern = new RegExp(`^${name}-[\\w-]{8}\\.js$`);
  const files = readdirSync(dist).filter((file) => pattern.test(file));
  if (files.length !== 1) throw new Error(`${files.length} files of the bundle are named ${name}`);
  return await import(new URL(`${files[0]}`, dist).href);
}
