import { constants, createDecipheriv, createHmac, privateDecrypt, timingSafeEqual } from "node:crypto";

const toleranceSeconds = 300;

/**
 * `headers`: lower-case names. `body`: text.
 * `secret`: the whole whsec_... string. `privateKey`: a PEM or KeyObject.
 */
export function openWebhook(headers, body, secret, privateKey, nowSeconds = Date.now() / 1000) {
  // During a rotation there are two, separated by a space.
  const isMine = String(headers["x-service-signature"])
    .split(" ")
    .some((signature) => {
      const parts = Object.fromEntries(signature.split(",").map((part) => part.split("=", 2)));
      if (!(Math.abs(nowSeconds - Number(parts.t)) <= toleranceSeconds))
        throw new Error("too old, or no signature");
      const expected = createHmac("sha256", secret).update(`${parts.t}.${body}`).digest();
      const given = Buffer.from(String(parts.v1), "hex");
      return given.length === expected.length && timingSafeEqual(given, expected);
    });
  if (!isMine) throw new Error("wrong signature");

  const [header, wrappedKey, nonce, text, tag] = body.split(".");
  const { alg, enc } = JSON.parse(Buffer.from(header, "base64url").toString());
  if (alg !== "RSA-OAEP-256" || enc !== "A256GCM") throw new Error("not the expected encryption");
  const key = privateDecrypt(
    { key: privateKey, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: "sha256" },
    Buffer.from(wrappedKey, "base64url"),
  );
  const decipher = createDecipheriv("aes-256-gcm", key, Buffer.from(nonce, "base64url"));
  decipher.setAAD(Buffer.from(header));
  decipher.setAuthTag(Buffer.from(tag, "base64url"));
  const opened = Buffer.concat([decipher.update(Buffer.from(text, "base64url")), decipher.final()]);
  return JSON.parse(opened.toString());
}
