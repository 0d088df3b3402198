import type { KeyRing } from "./key-ring.ts";

/** Each call begins with a number of this protocol, so that processes of versions that do not understand each other notice. */
export const callProtocol = "1";

/**
 * TLS 1.3 with a key that both ends have (PSK, RFC 8446), in place of certificates that somebody would have to issue. Both ends prove that they have the key; each connection agrees on
 * secrets of its own, so nothing that was recorded can be sent again, nor read by whoever gets the key ring later. A PSK goes with SHA-256, so these are its ciphers.
 */
export const callTls = {
  minVersion: "TLSv1.3",
  ciphers: "TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256",
} as const;

/** The key that processes of one installation know each other by, under the key of the ring with this id. */
export function callKey(ring: KeyRing, id: string): Buffer | null {
  return ring.derivedKey("process-call", id);
}
