import {
  constants,
  createDecipheriv,
  createHmac,
  type KeyObject,
  privateDecrypt,
  timingSafeEqual,
} from "node:crypto";

/** Whether `X-Service-Signature` belongs to this body and secret. Its age is not checked. */
export function isSignedWith(signature: string, body: string, secret: string): boolean {
  // During a rotation there are two, separated by a space.
  return signature.split(" ").some((one) => {
    const [, time, given] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(one) ?? [];
    if (time === undefined || given === undefined) return false;
    const expected = createHmac("sha256", secret).update(`${time}.${body}`).digest();
    return timingSafeEqual(Buffer.from(given, "hex"), expected);
  });
}

/** The key id that a sealed body names in its header, or null where it is no sealed body. */
export function keyIdOf(body: string): string | null {
  try {
    const header: unknown = JSON.parse(Buffer.from(body.split(".")[0] ?? "", "base64url").toString());
    const kid = (header as { kid?: unknown } | null)?.kid;
    return typeof kid === "string" ? kid : null;
  } catch {
    return null;
  }
}

/** Opens a compact JWE of the service. Throws where it was changed or sealed to another key. */
export function decryptBody(body: string, privateKey: KeyObject): string {
  const [header = "", ...rest] = body.trim().split(".");
  const [wrappedKey, nonce, text, tag] = rest.map((part) => Buffer.from(part, "base64url"));
  const { alg, enc } = JSON.parse(Buffer.from(header, "base64url").toString()) as Record<string, unknown>;
  if (alg !== "RSA-OAEP-256" || enc !== "A256GCM" || !wrappedKey || !nonce || !text || !tag)
    throw new Error("it is no body of a webhook");
  const padding = constants.RSA_PKCS1_OAEP_PADDING;
  const key = privateDecrypt({ key: privateKey, padding, oaepHash: "sha256" }, wrappedKey);
  const decipher = createDecipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from(header)).setAuthTag(tag);
  return Buffer.concat([decipher.update(text), decipher.final()]).toString();
}
