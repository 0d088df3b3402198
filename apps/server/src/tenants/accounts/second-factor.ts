import { createHash, randomBytes } from "node:crypto";
import type { UserId } from "@assay/contract/ids";
import { Secret, TOTP } from "otpauth";

const periodSeconds = 30;
const digits = 6;
const algorithm = "SHA1";
const secretBytes = 20;
export const backupCodeCount = 10;

// The alphabet omits I, L, O and U, which are often misread (Crockford base 32).
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";

export function newTotpSecret(): Buffer {
  return randomBytes(secretBytes);
}

export function describeTotp(secret: Buffer, email: string): { secret: string; otpauthUri: string } {
  const totp = new TOTP({
    issuer: "Assay",
    label: email,
    secret: Secret.fromHex(secret.toString("hex")),
    algorithm,
    digits,
    period: periodSeconds,
  });
  return { secret: totp.secret.base32, otpauthUri: totp.toString() };
}

/** The time step of `code`, among the current one and its two neighbours, because clocks differ a little. */
export function matchingStep(secret: Buffer, code: string, now: Date): number | null {
  const timestamp = now.getTime();
  const delta = TOTP.validate({
    token: code,
    secret: Secret.fromHex(secret.toString("hex")),
    algorithm,
    digits,
    period: periodSeconds,
    timestamp,
    window: 1,
  });
  return delta === null ? null : TOTP.counter({ period: periodSeconds, timestamp }) + delta;
}

type GivenCode = { kind: "totp"; code: string } | { kind: "backup"; code: string };

/** Normalizes a typed code: ignores spaces, hyphens and case, and replaces look-alike characters. */
export function readCode(text: string): GivenCode {
  const plain = text.replace(/[\s-]/g, "").toLowerCase();
  if (/^\d{6}$/.test(plain)) return { kind: "totp", code: plain };
  return { kind: "backup", code: plain.replaceAll("o", "0").replace(/[il]/g, "1") };
}

/** 80 random bits, so that a plain hash is safe. */
export function newBackupCode(): string {
  const letters = Array.from(randomBytes(16), (byte) => alphabet[byte & 31]);
  return [0, 4, 8, 12].map((at) => letters.slice(at, at + 4).join("")).join("-");
}

export function backupCodeHash(userId: UserId, code: string): Buffer {
  return createHash("sha256")
    .update(`${userId} ${readCode(code).code}`)
    .digest();
}
