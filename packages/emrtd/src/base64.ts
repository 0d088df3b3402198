import { fromLatin1, latin1 } from "./bytes.ts";
import { EmrtdError } from "./emrtd-error.ts";

export function toBase64(bytes: Uint8Array): string {
  return btoa(fromLatin1(bytes));
}

/** White space is passed over, as PEM and LDIF have it; anything else that is not base64 is refused. */
export function fromBase64(text: string): Uint8Array {
  try {
    return latin1(atob(text));
  } catch {
    throw new EmrtdError("BYTES_INVALID", "The text is not base64");
  }
}
