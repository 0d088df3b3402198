import { open } from "node:fs/promises";

/** Waits until a file, or the entries of a folder, are on disk and survive a power failure. */
export async function syncToDisk(place: string): Promise<void> {
  const handle = await open(place, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
