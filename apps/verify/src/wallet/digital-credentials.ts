import type { WalletAnswer, WalletRequest } from "./wallet-api.ts";

/** Whether this browser hands requests to wallets itself (Digital Credentials API). */
export function hasDigitalCredentials(): boolean {
  return "DigitalCredential" in window && navigator.credentials !== undefined;
}

/**
 * All protocols in one call, because only the browser knows which of them a wallet supports. Null if the
 * person closed the dialogue or no wallet has the credential; browsers do not say which.
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

/**
 * Whether a press is recent enough for the browser to open a dialogue or an app.
 * Browsers that do not report it count as recent.
 */
export function isPressFresh(): boolean {
  return (navigator as { userActivation?: { isActive: boolean } }).userActivation?.isActive !== false;
}
