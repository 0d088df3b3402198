import { WebhookError } from "./webhook-error.ts";

type Signed = {
  /** `X-Service-Signature`: `t=…,v1=…`, several of them separated by a space. */
  signature: string | null;
  body: string;
  secrets: readonly string[];
  toleranceSeconds: number;
  now: Date;
};

/** One of the signatures has to be made by one of the secrets. */
export async function verifySignature({
  signature,
  body,
  secrets,
  toleranceSeconds,
  now,
}: Signed): Promise<void> {
  if (signature === null || signature.trim() === "")
    throw new WebhookError(
      "signature_missing",
      "The header `X-Service-Signature` is missing. Did a proxy drop it?",
    );
  const given = signature.trim().split(/[ ]+/).map(parse);
  for (const { time, mac } of given) {
    for (const secret of secrets) {
      if (!(await isMadeBy(secret, `${time}.${body}`, mac))) continue;
      const ageSeconds = now.getTime() / 1000 - Number(time);
      if (ageSeconds > toleranceSeconds)
        throw new WebhookError(
          "timestamp_too_old",
          `The signature is ${Math.round(ageSeconds)} seconds old. Is it a replay, or is the clock of this machine wrong?`,
        );
      if (ageSeconds < -toleranceSeconds)
        throw new WebhookError(
          "timestamp_in_future",
          "The signature is of the future. Is the clock of this machine wrong?",
        );
      return;
    }
  }
  throw new WebhookError(
    "signature_mismatch",
    "No secret of `secrets` made the signature. Is it the secret of this endpoint, and is the body exactly as it was received?",
  );
}

function parse(text: string): { time: string; mac: Uint8Array<ArrayBuffer> } {
  const found = /^t=([0-9]{1,12}),v1=([0-9a-f]{64})$/.exec(text);
  if (found === null)
    throw new WebhookError(
      "signature_malformed",
      "The header `X-Service-Signature` is not of the form `t=…,v1=…`.",
    );
  const [, time = "", hex = ""] = found;
  return { time, mac: Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16)) };
}

/** WebCrypto compares in constant time. */
async function isMadeBy(secret: string, text: string, mac: Uint8Array<ArrayBuffer>): Promise<boolean> {
  const encoder = new TextEncoder();
  const hmac = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", encoder.encode(secret), hmac, false, ["verify"]);
  return crypto.subtle.verify("HMAC", key, mac, encoder.encode(text));
}
