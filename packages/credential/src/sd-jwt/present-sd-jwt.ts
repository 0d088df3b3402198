import { CompactSign, type CryptoKey } from "jose";
import type { ClaimPath } from "../asked.ts";
import { fromBase64Url, toBase64Url } from "../base64url.ts";
import { digest, utf8 } from "../bytes.ts";
import { isJsonArray, isJsonObject, type Json, readJsonBytes, readJsonObject } from "../json.ts";
import { type DigestName, digestNames, isDigestName } from "./digest-name.ts";

export type KeyBinding = {
  privateKey: CryptoKey;
  audience: string;
  nonce: string;
  issuedAt: Date;
};

/** The wallet's side: the disclosures that `paths` need, and a key binding over them. `issued` is trusted. */
export async function presentSdJwt(
  issued: string,
  paths: readonly ClaimPath[],
  binding: KeyBinding,
): Promise<string> {
  const [jws = "", ...rest] = issued.split("~");
  const payload = readJsonObject(fromBase64Url(jws.split(".")[1] ?? ""));
  const digestName = isDigestName(payload._sd_alg) ? payload._sd_alg : "sha-256";
  const byDigest = new Map<string, string>();
  for (const text of rest.slice(0, -1)) {
    byDigest.set(toBase64Url(await digest(digestNames[digestName], utf8(text))), text);
  }
  const chosen = new Set(paths.flatMap((path) => onPath(payload, path, byDigest)));
  const bound = [jws, ...chosen, ""].join("~");
  return bound + (await keyBinding(bound, digestName, binding));
}

/** A key binding over a presentation that ends in a tilde. */
export async function keyBinding(
  bound: string,
  digestName: DigestName,
  { privateKey, audience, nonce, issuedAt }: KeyBinding,
): Promise<string> {
  const hash = await digest(digestNames[digestName], utf8(bound));
  const claims = {
    iat: Math.floor(issuedAt.getTime() / 1000),
    aud: audience,
    nonce,
    sd_hash: toBase64Url(hash),
  };
  return new CompactSign(utf8(JSON.stringify(claims)))
    .setProtectedHeader({ alg: "ES256", typ: "kb+jwt" })
    .sign(privateKey);
}

/** The disclosures on the way to a claim, and none where the credential has no such claim. */
function onPath(value: Json, path: ClaimPath, byDigest: ReadonlyMap<string, string>): readonly string[] {
  const [part, ...deeper] = path;
  if (part === undefined) return [];
  if (typeof part === "string" && isJsonObject(value)) {
    const open = value[part];
    if (open !== undefined) return onPath(open, deeper, byDigest);
    for (const hash of isJsonArray(value._sd) ? value._sd : []) {
      const text = byDigest.get(String(hash));
      const contents = text === undefined ? [] : contentsOf(text);
      if (text !== undefined && contents[1] === part)
        return [text, ...onPath(contents[2] ?? null, deeper, byDigest)];
    }
  }
  if (typeof part !== "string" && isJsonArray(value)) {
    const elements = part === null ? value : value.slice(part, part + 1);
    return elements.flatMap((element) => {
      const text = isJsonObject(element) ? byDigest.get(String(element["..."])) : undefined;
      if (text === undefined) return onPath(element, deeper, byDigest);
      return [text, ...onPath(contentsOf(text)[1] ?? null, deeper, byDigest)];
    });
  }
  return [];
}

function contentsOf(text: string): readonly Json[] {
  const contents = readJsonBytes(fromBase64Url(text));
  return isJsonArray(contents) ? contents : [];
}
