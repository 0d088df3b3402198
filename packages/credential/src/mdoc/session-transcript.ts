import { digest } from "../bytes.ts";
import { encode } from "../cbor/encode.ts";
import type { CborValue } from "../cbor/value.ts";
import type { HolderBinding } from "../holder-binding.ts";

/** OpenID4VP 1.0, B.2.6, and ISO/IEC 18013-7, Annex C. */
export async function sessionTranscript(binding: HolderBinding): Promise<Uint8Array<ArrayBuffer>> {
  const { name, info } = handover(binding);
  return encode([null, null, [name, await digest("SHA-256", encode(info))]]);
}

function handover(binding: HolderBinding): { name: string; info: CborValue } {
  switch (binding.kind) {
    case "redirect":
      return {
        name: "OpenID4VPHandover",
        info: [binding.clientId, binding.nonce, binding.keyThumbprint, binding.responseUri],
      };
    case "dc_api":
      return {
        name: "OpenID4VPDCAPIHandover",
        info: [binding.origin, binding.nonce, binding.keyThumbprint],
      };
    case "annex_c":
      return { name: "dcapi", info: [binding.encryptionInfo, binding.origin] };
  }
}
