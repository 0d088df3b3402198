import type { SessionId } from "@assay/contract/ids";
import { testStatusPath } from "@assay/credential/test-country/test-status";

/** Outside of /v1: wallets speak OAuth there. */
export const walletPaths = {
  request: "/oid4vp/request",
  response: "/oid4vp/response",
  testStatus: testStatusPath,
} as const;

export function requestUri(publicUrl: string, requestId: string): string {
  return `${publicUrl}${walletPaths.request}/${requestId}`;
}

export function responseUri(publicUrl: string, requestId: string): string {
  return `${publicUrl}${walletPaths.response}/${requestId}`;
}

/** Where the wallet sends the person. The code is in the fragment, which no server sees. */
export function returnUri(publicUrl: string, sessionId: SessionId, code: string | null): string {
  return `${publicUrl}/verify/${sessionId}${code === null ? "" : `#response_code=${code}`}`;
}
