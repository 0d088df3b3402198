import { sharedValue, useShared } from "../state/shared-value.ts";
import { readStored, store } from "../state/stored.ts";

/**
 * Whether a user of this browser has decrypted an event of the organization. The service never sees decrypted
 * events, so the browser remembers it.
 */
const keyOf = (organizationId: string) => `assay.opened-event.${organizationId}`;
const openedInPage = sharedValue<string | null>(null);

export function rememberOpened(organizationId: string): void {
  store(keyOf(organizationId), "yes");
  openedInPage.set(organizationId);
}

export function useOpenedHere(organizationId: string): boolean {
  return useShared(openedInPage) === organizationId || readStored(keyOf(organizationId)) !== null;
}
