import type { CryptoKey } from "jose";
import { concat, digest, utf8 } from "../bytes.ts";
import { encode } from "../cbor/encode.ts";
import { embedded } from "../cbor/value.ts";

const arrayOfFour = Uint8Array.of(0x84);

/** The bytes that the device signs (ISO/IEC 18013-5, 9.1.3.4). Both are CBOR; `nameSpaces` has its tag 24. */
export function deviceAuthenticationBytes(
  transcript: Uint8Array,
  docType: string,
  nameSpaces: Uint8Array,
): Uint8Array<ArrayBuffer> {
  const name = encode("DeviceAuthentication");
  return encode(embedded(concat(arrayOfFour, name, transcript, encode(docType), nameSpaces)));
}

/**
 * The key of the device's MAC (9.1.3.5). Either side can make it: one has the private key of the device, the
 * other that of the reader.
 */
export async function deviceMacKey(
  privateKey: CryptoKey,
  publicKey: CryptoKey,
  transcript: Uint8Array,
): Promise<CryptoKey> {
  const shared = await crypto.subtle.deriveBits({ name: "ECDH", public: publicKey }, privateKey, 256);
  const material = await crypto.subtle.importKey("raw", shared, "HKDF", false, ["deriveKey"]);
  return crypto.subtle.deriveKey(
    {
      name: "HKDF",
      hash: "SHA-256",
      salt: await digest("SHA-256", encode(embedded(transcript))),
      info: utf8("EMacKey"),
    },
    material,
    { name: "HMAC", hash: "SHA-256", length: 256 },
    false,
    ["sign", "verify"],
  );
}
