import type { Core } from "../../platform/core.ts";
import { type ResponseKey, readResponseKey } from "./response-key.ts";
import type { WalletRequest } from "./wallet-request.ts";

/** Null for a request whose answer is not encrypted, and once it is answered. */
export function openResponseKey(
  { ring }: Pick<Core, "ring">,
  { idHash, responseKeySealed }: Pick<WalletRequest, "idHash" | "responseKeySealed">,
): ResponseKey | null {
  if (responseKeySealed === null) return null;
  return readResponseKey(ring.openText("wallet-response", responseKeySealed, idHash.toString("hex")));
}
