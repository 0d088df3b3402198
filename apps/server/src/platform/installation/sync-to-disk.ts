import { open } from "node:fs/promises";

/** Waits until a file, or the list of names in a folder, is on the disk and survives a power failure. */
export async function syncToDisk(place: string): Promise<void> {
  const handle = await open(place, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
