import { CompactSign, type CryptoKey, type JWK } from "jose";
import { toBase64, toBase64Url } from "../base64url.ts";
import { digest, utf8 } from "../bytes.ts";
import type { Json, JsonObject } from "../json.ts";
import { type DigestName, digestNames } from "./digest-name.ts";

export type SdJwtIssuer = {
  /** Signer first, without the anchor. */
  chain: readonly Uint8Array[];
  privateKey: CryptoKey;
  algorithm?: "ES256" | "ES384" | "ES512";
};

export type SdJwtOrder = {
  /** Each top-level member becomes a separate disclosure; so do elements of `nationalities`. */
  claims: JsonObject;
  /** Members that everyone sees: `vct`, `exp`, `status` and the like. */
  open: JsonObject;
  holderKey: JWK;
  typ?: string;
  digestName?: DigestName;
  /** For a reader's tests: changes the payload before it is signed. */
  alter?(payload: Record<string, Json>): Record<string, Json>;
};

/** An SD-JWT VC without key binding, as an issuer gives it to a wallet. For tests and the test country. */
export async function issueSdJwt(order: SdJwtOrder, issuer: SdJwtIssuer): Promise<string> {
  const digestName = order.digestName ?? "sha-256";
  const disclosures: string[] = [];
  const hidden: string[] = [];
  const hide = async (contents: readonly Json[]): Promise<string> => {
    const text = toBase64Url(utf8(JSON.stringify([salt(), ...contents])));
    disclosures.push(text);
    return toBase64Url(await digest(digestNames[digestName], utf8(text)));
  };
  for (const [name, value] of Object.entries(order.claims)) {
    if (name !== "nationalities" || !Array.isArray(value)) {
      hidden.push(await hide([name, value]));
      continue;
    }
    const elements: Json[] = [];
    for (const element of value) elements.push({ "...": await hide([element]) });
    hidden.push(await hide([name, elements]));
  }
  const { kty = "", crv = "", x = "", y = "" } = order.holderKey;
  const payload: Record<string, Json> = {
    ...order.open,
    cnf: { jwk: { kty, crv, x, y } },
    _sd_alg: digestName,
    // The order of digests would otherwise say which claims were kept back.
    _sd: hidden.sort(),
  };
  const jws = await new CompactSign(utf8(JSON.stringify(order.alter?.(payload) ?? payload)))
    .setProtectedHeader({
      alg: issuer.algorithm ?? "ES256",
      typ: order.typ ?? "dc+sd-jwt",
      x5c: issuer.chain.map(toBase64),
    })
    .sign(issuer.privateKey);
  return [jws, ...disclosures, ""].join("~");
}

function salt(): string {
  return toBase64Url(crypto.getRandomValues(new Uint8Array(16)));
}
