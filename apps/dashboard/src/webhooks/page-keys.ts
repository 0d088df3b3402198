import { sharedValue, useShared } from "../state/shared-value.ts";
import { openSealed } from "./open-sealed.ts";

/**
 * Private keys that were generated or chosen in this page. They exist only in its memory, never in storage or
 * in a request. A reload discards them.
 */
const keys = sharedValue<readonly CryptoKey[]>([]);

export function keepInPage(key: CryptoKey): void {
  keys.set([key, ...keys.get()]);
}

export function usePageKeys(): readonly CryptoKey[] {
  return useShared(keys);
}

/** Decrypts a body with the key that fits; null if none does. */
export async function openWithAny(jwe: string, known: readonly CryptoKey[]): Promise<string | null> {
  for (const key of known) {
    try {
      return await openSealed(jwe, key);
    } catch {
      // Another key is needed, or the text is not an encrypted body: the form that asks for a key says so.
    }
  }
  return null;
}
