import { fromBase64Url } from "../base64url.ts";
import { CredentialError } from "../credential-error.ts";
import { isJsonObject, type JsonObject } from "../json.ts";
import { dateOf, isInFuture } from "../jws/numeric-date.ts";
import { certificatesOf, claimsOf, hasSignature, readJws, typeOf } from "../jws/read-jws.ts";
import { checkChain } from "../x509/chain.ts";
import { readCwtStatusList } from "./read-cwt-status-list.ts";
import { openStatusList, type StatusList, type StatusListOptions } from "./status-list.ts";

/**
 * Compressed statuses hardly shrink below their entropy;
 * a larger token holds more than the list may inflate to.
 */
const maxTokenBytes = 24 * 1024 * 1024;

/** A token of the Token Status List specification, signed as JWT or CWT. */
export async function readStatusList(
  token: Uint8Array | string,
  options: StatusListOptions,
): Promise<StatusList> {
  if (token.length > maxTokenBytes) throw new CredentialError("too_large", "Status list: too many bytes");
  if (typeof token === "string") return readJwtStatusList(token, options);
  if (isJwt(token)) return readJwtStatusList(latin1(token), options);
  return readCwtStatusList(token, options);
}

/** The header of every JWT begins with `{"` in base64url. No CWT does. */
function isJwt(token: Uint8Array): boolean {
  return token[0] === 0x65 && token[1] === 0x79;
}

function latin1(bytes: Uint8Array): string {
  return new TextDecoder("latin1").decode(bytes).trimEnd();
}

async function readJwtStatusList(token: string, options: StatusListOptions): Promise<StatusList> {
  const jws = readJws(token, maxTokenBytes);
  if (typeOf(jws) !== "statuslist+jwt") throw new CredentialError("malformed", "Status list: another token");
  const chain = await checkChain(certificatesOf(jws) ?? [], options.anchors, {
    purpose: options.purpose,
    now: options.now,
    leaf: "status_signer",
  });
  if (chain.kind === "untrusted") throw new CredentialError("signature", "Status list: signer not trusted");
  if (!(await hasSignature(jws, chain.publicKey, chain.algorithm)))
    throw new CredentialError("signature", "Status list: wrong signature");
  return readJwtStatusContent(claimsOf(jws), options);
}

/** Reads the signed content. */
export function readJwtStatusContent(
  claims: JsonObject,
  { uri, now }: Pick<StatusListOptions, "uri" | "now">,
): Promise<StatusList> {
  if (claims.sub !== uri) throw new CredentialError("malformed", "Status list: of another address");
  const issuedAt = dateOf(claims, "iat");
  if (issuedAt === null || isInFuture(issuedAt, now))
    throw new CredentialError("malformed", "Status list: issued at no time that has passed");
  const { status_list: list, ttl = null } = claims;
  if (!isJsonObject(list) || typeof list.lst !== "string")
    throw new CredentialError("malformed", "Status list: no list");
  if (ttl !== null && typeof ttl !== "number")
    throw new CredentialError("malformed", "Status list: no time to live");
  const compressed = fromBase64Url(list.lst);
  return openStatusList(
    { uri, bits: list.bits, compressed, issuedAt, expiresAt: dateOf(claims, "exp"), ttlSeconds: ttl },
    now,
  );
}
