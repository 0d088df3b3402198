import type { CryptoKey } from "jose";
import type { ClaimPath } from "../asked.ts";
import { readSdJwtAttributes } from "../attributes/read-attributes.ts";
import { fromBase64Url, toBase64Url } from "../base64url.ts";
import { digest, utf8 } from "../bytes.ts";
import { CredentialError } from "../credential-error.ts";
import { documentTypes } from "../dcql/ask.ts";
import type { HolderBinding } from "../holder-binding.ts";
import { isJsonObject, type JsonObject } from "../json.ts";
import type { JudgeContext } from "../judge-context.ts";
import { dateOf, isInFuture } from "../jws/numeric-date.ts";
import {
  certificatesOf,
  claimsOf,
  hasSignature,
  readJws,
  typeOf,
  type UncheckedJws,
} from "../jws/read-jws.ts";
import { type Refused, refuse, type StatusReference, type Verdict } from "../verdict.ts";
import { type ChainVerdict, checkChain } from "../x509/chain.ts";
import { applyDisclosures } from "./apply-disclosures.ts";
import { type DigestName, digestNames, isDigestName } from "./digest-name.ts";

const maxCharacters = 256 * 1024;
const credentialTypes = new Set(["dc+sd-jwt", "vc+sd-jwt"]);
const algorithms = new Set(["ES256", "ES384", "ES512"]);
/** A key binding is made for one request, and a request lives for five minutes. */
const maxProofAgeMilliseconds = 5 * 60_000;

/** An SD-JWT VC with its key binding (RFC 9901), as one presentation in an answer. */
export async function judgeSdJwt(compact: string, context: JudgeContext): Promise<Verdict> {
  try {
    return await judge(compact, context);
  } catch (error) {
    if (error instanceof CredentialError) return refuse("malformed");
    throw error;
  }
}

async function judge(compact: string, context: JudgeContext): Promise<Verdict> {
  const presentation = partsOf(compact);
  const issued = await checkIssuer(presentation.credential, context);
  if (issued.kind === "refused") return issued;
  const { payload, digestName } = issued;
  const times = timesOf(payload, issued.chain.leaf.notAfter);
  if (times.validFrom !== null && isInFuture(times.validFrom, context.now)) return refuse("not_yet_valid");
  if (context.now >= times.validUntil) return refuse("credential_expired");
  const applied = await applyDisclosures(payload, presentation.disclosures, digestName);
  if (applied.kind === "refused") return applied;
  if (applied.disclosed.some(isRegistered)) return refuse("malformed");
  const holder = await checkHolder(presentation, payload, digestName, context);
  if (holder !== null) return holder;
  const read = readSdJwtAttributes(context.asked, applied.claims, applied.disclosed, context.now);
  if (read.kind === "refused") return read;
  return {
    kind: "accepted",
    id: context.asked.id,
    purpose: context.asked.purpose,
    format: "dc+sd-jwt",
    anchor: issued.chain.anchor,
    holder: "key_proven",
    attributes: read.attributes,
    status: statusOf(payload),
    ...times,
    disclosedMore: read.disclosedMore,
  };
}

type Presentation = {
  credential: string;
  disclosures: readonly string[];
  /** Everything that the key binding is made over. */
  bound: string;
  /** Empty where there is none. */
  keyBinding: string;
};

function partsOf(compact: string): Presentation {
  if (compact.length > maxCharacters) throw new CredentialError("too_large", "SD-JWT: too many characters");
  const [credential = "", ...others] = compact.split("~");
  const keyBinding = others.pop();
  if (keyBinding === undefined) throw new CredentialError("malformed", "SD-JWT: without a tilde");
  return {
    credential,
    disclosures: others,
    bound: compact.slice(0, compact.length - keyBinding.length),
    keyBinding,
  };
}

type Issued = {
  kind: "issued";
  payload: JsonObject;
  digestName: DigestName;
  chain: Extract<ChainVerdict, { kind: "trusted" }>;
};

async function checkIssuer(credential: string, context: JudgeContext): Promise<Issued | Refused> {
  const jws = readJws(credential, maxCharacters);
  const { alg } = jws.header;
  if (!credentialTypes.has(typeOf(jws) ?? "")) return refuse("wrong_type");
  if (typeof alg !== "string" || !algorithms.has(alg)) return refuse("algorithm_not_allowed");
  const { purpose } = context.asked;
  const chain = await checkChain(certificatesOf(jws) ?? [], context.anchors, {
    purpose,
    now: context.now,
    leaf: "credential_signer",
  });
  if (chain.kind === "untrusted")
    return refuse(jws.header.x5c === undefined ? "issuer_unknown" : chain.reason);
  if (!(await hasSignature(jws, chain.publicKey, chain.algorithm))) return refuse("issuer_signature");
  const payload = claimsOf(jws);
  if (!isAskedType(payload.vct, context)) return refuse("wrong_type");
  const digestName = payload._sd_alg ?? "sha-256";
  if (!isDigestName(digestName)) return refuse("algorithm_not_allowed");
  return { kind: "issued", payload, digestName, chain };
}

/**
 * The PID rulebook reserves this namespace for types that extend the PID's. The caller has already checked
 * that the issuer is a listed PID provider.
 */
const extendedType = /^urn:eudi:pid:[\w.:-]{1,200}$/;

function isAskedType(vct: unknown, { asked }: JudgeContext): boolean {
  if (asked.purpose !== "pid" || asked.format !== "dc+sd-jwt" || typeof vct !== "string") return false;
  return vct === documentTypes.pid["dc+sd-jwt"] || extendedType.test(vct);
}

/** SD-JWT VC: these are in the signed part or nowhere. */
const registered = new Set(["iss", "nbf", "exp", "cnf", "vct", "vct#integrity", "status"]);

function isRegistered([name, ...deeper]: ClaimPath): boolean {
  return deeper.length === 0 && typeof name === "string" && registered.has(name);
}

/** A credential without an end counts for as long as the certificate that signed it. */
function timesOf(payload: JsonObject, signerUntil: Date): { validFrom: Date | null; validUntil: Date } {
  const issuedAt = dateOf(payload, "iat");
  const notBefore = dateOf(payload, "nbf");
  const validFrom = [issuedAt, notBefore].filter((date) => date !== null).sort((a, b) => +b - +a)[0];
  return { validFrom: validFrom ?? null, validUntil: dateOf(payload, "exp") ?? signerUntil };
}

const maxUriCharacters = 2048;

/** Token Status List. Another mechanism is none that we know. */
function statusOf({ status }: JsonObject): StatusReference | null {
  if (status === undefined) return null;
  if (!isJsonObject(status)) throw new CredentialError("malformed", "SD-JWT: status is no object");
  const { status_list: list } = status;
  if (list === undefined) return null;
  if (!isJsonObject(list)) throw new CredentialError("malformed", "SD-JWT: status_list is no object");
  const { idx: index, uri } = list;
  if (typeof index !== "number" || !Number.isSafeInteger(index) || index < 0)
    throw new CredentialError("malformed", "SD-JWT: status has no index");
  if (typeof uri !== "string" || uri.length > maxUriCharacters || !URL.canParse(uri))
    throw new CredentialError("malformed", "SD-JWT: status has no address");
  return { uri, index };
}

/** Null where the presentation was made by the holder, for this request. */
async function checkHolder(
  presentation: Presentation,
  { cnf }: JsonObject,
  digestName: DigestName,
  { binding, now }: JudgeContext,
): Promise<Refused | null> {
  const jws = keyBindingOf(presentation);
  if (jws === null || !isJsonObject(cnf)) return refuse("holder_proof_missing");
  const key = await holderKey(cnf);
  if (key === null || !(await hasSignature(jws, key, "ES256"))) return refuse("holder_signature");
  const claims = claimsOf(jws);
  const expected = expectedOf(binding);
  if (expected === null || claims.aud !== expected.audience) return refuse("wrong_audience");
  if (claims.nonce !== expected.nonce) return refuse("wrong_nonce");
  const hash = await digest(digestNames[digestName], utf8(presentation.bound));
  if (claims.sd_hash !== toBase64Url(hash)) return refuse("wrong_sd_hash");
  const issuedAt = dateOf(claims, "iat");
  const expiresAt = dateOf(claims, "exp");
  const notBefore = dateOf(claims, "nbf");
  if (issuedAt === null) return refuse("holder_proof_too_old");
  if (isInFuture(issuedAt, now) || (notBefore !== null && isInFuture(notBefore, now)))
    return refuse("holder_proof_in_future");
  const isOld = now.getTime() - issuedAt.getTime() > maxProofAgeMilliseconds;
  return isOld || (expiresAt !== null && now >= expiresAt) ? refuse("holder_proof_too_old") : null;
}

/** Null if it is missing or something else. */
function keyBindingOf({ keyBinding }: Presentation): UncheckedJws | null {
  try {
    const jws = readJws(keyBinding, maxCharacters);
    return typeOf(jws) === "kb+jwt" ? jws : null;
  } catch (error) {
    if (error instanceof CredentialError) return null;
    throw error;
  }
}

/**
 * Over the Digital Credentials API the audience is the page,
 * also for a signed request. Annex C has no SD-JWT.
 */
function expectedOf(binding: HolderBinding): { audience: string; nonce: string } | null {
  if (binding.kind === "annex_c") return null;
  const audience = binding.kind === "redirect" ? binding.clientId : `origin:${binding.origin}`;
  return { audience, nonce: binding.nonce };
}

/** Null for a key that cannot make an ES256 signature. */
async function holderKey({ jwk }: JsonObject): Promise<CryptoKey | null> {
  if (!isJsonObject(jwk)) return null;
  const { kty, crv, x, y } = jwk;
  if (kty !== "EC" || crv !== "P-256" || typeof x !== "string" || typeof y !== "string") return null;
  try {
    fromBase64Url(x);
    fromBase64Url(y);
    return await crypto.subtle.importKey(
      "jwk",
      { kty, crv, x, y },
      { name: "ECDSA", namedCurve: "P-256" },
      false,
      ["verify"],
    );
  } catch {
    return null;
  }
}
