import type { WalletAnswer, WalletRequest } from "./wallet-api.ts";

/** Whether this browser hands requests to wallets itself (Digital Credentials API). */
export function hasDigitalCredentials(): boolean {
  return "DigitalCredential" in window && navigator.credentials !== undefined;
}

/**
 * All protocols in one call: which of them a wallet speaks, only the browser knows. Null where the person closed the browser's dialogue, or
 * no wallet has what is asked for; browsers do not say which.
 */
export async function askBrowser(request: WalletRequest, signal: AbortSignal): Promise<WalletAnswer | null> {
  const options = { mediation: "required", digital: request.dc_request, signal };
  try {
    const credential = await navigator.credentials.get(options as CredentialRequestOptions);
    const { protocol, data } = (credential ?? {}) as { protocol?: unknown; data?: unknown };
    return typeof protocol === "string" && typeof data === "object" && data !== null
      ? { protocol, data: data as Record<string, unknown> }
      : null;
  } catch {
    return null;
  }
}

/** Whether a press is recent enough for the browser to open a dialogue or an app because of it. Browsers that do not say are believed. */
export function isPressFresh(): boolean {
  return (navigator as { userActivation?: { isActive: boolean } }).userActivation?.isActive !== false;
}
