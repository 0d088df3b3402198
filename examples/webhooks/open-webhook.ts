import { constants, createDecipheriv, createHmac, privateDecrypt, timingSafeEqual } from "node:crypto";

/**
 * `signature`: the header X-Service-Signature.
 * `body`: the unchanged text. `secret`: the whole whsec_... string.
 */
export function openWebhook(signature: string, body: string, secret: string, privateKey: string): string {
  // During a rotation there are two, separated by a space.
  const isMine = signature.split(" ").some((one) => {
    const [, time = "", given = ""] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(one) ?? [];
    if (!(Math.abs(Date.now() / 1000 - Number(time)) <= 300)) throw new Error("too old, or no signature");
    const expected = createHmac("sha256", secret).update(`${time}.${body}`).digest();
    return timingSafeEqual(Buffer.from(given, "hex"), expected);
  });
  if (!isMine) throw new Error("wrong signature");

  const [header = "", ...rest] = body.split(".");
  const [wrappedKey, nonce, text, tag] = rest.map((part) => Buffer.from(part, "base64url"));
  const { alg, enc } = JSON.parse(Buffer.from(header, "base64url").toString());
  if (alg !== "RSA-OAEP-256" || enc !== "A256GCM" || !wrappedKey || !nonce || !text || !tag)
    throw new Error("not the expected encryption");
  const padding = constants.RSA_PKCS1_OAEP_PADDING;
  const key = privateDecrypt({ key: privateKey, padding, oaepHash: "sha256" }, wrappedKey);
  const decipher = createDecipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from(header)).setAuthTag(tag);
  return Buffer.concat([decipher.update(text), decipher.final()]).toString();
}
