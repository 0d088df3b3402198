import { constants, createPublicKey, publicEncrypt } from "node:crypto";

type RsaNumbers = { n: string; e: string };

const minBits = 2048;
// A longer RSA key makes sealing slower for all and adds nothing beyond the symmetric content key.
const maxBits = 8192;
const minExponent = 65_537n;
const maxExponent = 2n ** 32n - 1n;

/** Why a public key cannot be used, with the field that is to blame, or null. The input is untrusted. */
export function keyProblem(
  jwk: RsaNumbers & { kid: string },
  keyId: string,
): { field: string; problem: string } | null {
  if (jwk.kid !== keyId) return { field: "jwk.kid", problem: "must equal `key_id`" };
  const modulus = parseNumber(jwk.n);
  if (modulus === null) return { field: "jwk.n", problem: "must be base64url without a leading zero byte" };
  const bits = modulus.toString(2).length;
  if (bits < minBits || bits > maxBits)
    return { field: "jwk.n", problem: `must have ${minBits} to ${maxBits} bits, it has ${bits}` };
  if (modulus % 2n === 0n) return { field: "jwk.n", problem: "is not the modulus of an RSA key" };
  const exponent = parseNumber(jwk.e);
  if (exponent === null) return { field: "jwk.e", problem: "must be base64url without a leading zero byte" };
  if (exponent < minExponent || exponent > maxExponent || exponent % 2n === 0n)
    return { field: "jwk.e", problem: "must be odd and from 65537 to 4294967295" };
  try {
    publicEncrypt(
      { key: toPublicKey(jwk), padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: "sha256" },
      Buffer.alloc(32),
    );
  } catch {
    return { field: "jwk.n", problem: "is not the modulus of an RSA key" };
  }
  return null;
}

export function toPublicKey({ n, e }: RsaNumbers) {
  return createPublicKey({ key: { kty: "RSA", n, e }, format: "jwk" });
}

/** A whole number in canonical base64url, or null. */
function parseNumber(text: string): bigint | null {
  const bytes = Buffer.from(text, "base64url");
  if (bytes.length === 0 || bytes[0] === 0 || bytes.toString("base64url") !== text) return null;
  return BigInt(`0x${bytes.toString("hex")}`);
}
