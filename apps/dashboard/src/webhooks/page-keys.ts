import { useSyncExternalStore } from "react";
import { openSealed } from "./open-sealed.ts";

/**
 * Private keys that were made or chosen in this page. They are in its memory and nowhere else: not in any storage, and
 * never part of a request. Loading the page again forgets them.
 */
let keys: readonly CryptoKey[] = [];
const listeners = new Set<() => void>();

export function keepInPage(key: CryptoKey): void {
  keys = [key, ...keys];
  for (const listener of listeners) listener();
}

export function usePageKeys(): readonly CryptoKey[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => keys,
  );
}

/** Opens a body with whichever of the keys fits; null where none does. */
export async function openWithAny(jwe: string, known: readonly CryptoKey[]): Promise<string | null> {
  for (const key of known) {
    try {
      return await openSealed(jwe, key);
    } catch {
      // It was another one, or the text is no body at all: the form that asks for a key says so.
    }
  }
  return null;
}
