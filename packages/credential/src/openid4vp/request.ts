import { CompactSign, type CryptoKey, calculateJwkThumbprint, type JWK } from "jose";
import { toBase64, toBase64Url } from "../base64url.ts";
import { digest, utf8 } from "../bytes.ts";
import { CredentialError } from "../credential-error.ts";
import type { DcqlQuery } from "../dcql/query.ts";
import { contentEncryptions } from "./content-encryption.ts";

export const responseModes = ["direct_post", "direct_post.jwt", "dc_api", "dc_api.jwt"] as const;
export type ResponseMode = (typeof responseModes)[number];

/**
 * An attestation about the verifier that the wallet may check and show, such as its registration certificate.
 */
export type VerifierInfo = { format: string; data: string };

export type WalletRequest = {
  /** With its prefix. */
  clientId: string;
  nonce: string;
  state: string | null;
  /** Null over the Digital Credentials API, which carries the answer itself. */
  responseUri: string | null;
  responseMode: ResponseMode;
  query: DcqlQuery;
  /** Made for this request. Private members are left out of the request, should they be there. */
  encryptionKey: JWK | null;
  verifierInfo: readonly VerifierInfo[] | null;
  /** From the wallet's fetch of the request, to be repeated. */
  walletNonce: string | null;
  /** For the Digital Credentials API: pages that may make this request. */
  expectedOrigins: readonly string[] | null;
  issuedAt: Date;
};

/** The verifier as wallets know it. The chain begins with the signer and ends before the anchor. */
export type VerifierIdentity = { chain: readonly Uint8Array[]; privateKey: CryptoKey };

/** `x509_hash`: the SHA-256 of the signer's certificate in DER. */
export async function clientIdOf(leaf: Uint8Array): Promise<string> {
  return `x509_hash:${toBase64Url(await digest("SHA-256", leaf))}`;
}

/** Registration certificates of the relying party (ETSI TS 119 475), as a request carries them. */
export function registrationInfo(certificates: readonly string[]): readonly VerifierInfo[] | null {
  return certificates.length === 0
    ? null
    : certificates.map((data) => ({ format: "registration_cert", data }));
}

/** A request object by JAR (RFC 9101), in compact form. */
export async function signRequest(request: WalletRequest, identity: VerifierIdentity): Promise<string> {
  const payload = { aud: "https://self-issued.me/v2", ...(await requestParameters(request)) };
  return new CompactSign(utf8(JSON.stringify(payload)))
    .setProtectedHeader({
      alg: algorithmOf(identity.privateKey),
      typ: "oauth-authz-req+jwt",
      x5c: identity.chain.map(toBase64),
    })
    .sign(identity.privateKey);
}

const algorithms: Readonly<Record<string, string>> = { "P-256": "ES256", "P-384": "ES384", "P-521": "ES512" };

function algorithmOf(key: CryptoKey): string {
  const { namedCurve }: { name: string; namedCurve?: string } = key.algorithm;
  const algorithm = algorithms[namedCurve ?? ""];
  if (algorithm === undefined) throw new CredentialError("not_supported", "Request: key of another kind");
  return algorithm;
}

/**
 * The link that makes a wallet fetch the request.
 * A wallet without POST ignores the last parameter and uses GET.
 */
export function walletLink(scheme: string, clientId: string, requestUri: string): string {
  return `${scheme}://?${queryString({ client_id: clientId, request_uri: requestUri, request_uri_method: "post" })}`;
}

export type AgeRequest = {
  scheme: string;
  responseUri: string;
  nonce: string;
  state: string | null;
  query: DcqlQuery;
};

/** EU age verification profile, annex A: by value, unsigned, and the answer unencrypted. */
export function ageLink({ scheme, responseUri, nonce, state, query }: AgeRequest): string {
  const parameters = {
    response_type: "vp_token",
    response_mode: "direct_post",
    client_id: ageClientIdOf(responseUri),
    response_uri: responseUri,
    nonce,
    ...(state === null ? {} : { state }),
    dcql_query: JSON.stringify(query),
    client_metadata: JSON.stringify({ vp_formats_supported: formatsOf(query) }),
  };
  return `${scheme}://?${queryString(parameters)}`;
}

/** The client of an unsigned request is the address that receives the answer. */
export function ageClientIdOf(responseUri: string): string {
  return `redirect_uri:${responseUri}`;
}

/** Spaces as `%20`: wallets read these links as URIs, where a plus is a plus. */
function queryString(parameters: Readonly<Record<string, string>>): string {
  return Object.entries(parameters)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join("&");
}

async function requestParameters(request: WalletRequest): Promise<Record<string, unknown>> {
  const isOverApi = request.responseMode.startsWith("dc_api");
  if (isOverApi !== (request.responseUri === null))
    throw new CredentialError(
      "not_supported",
      "Request: the response address does not fit the response mode",
    );
  // A wallet refuses a signed request over the browser's interface that does not name its pages.
  if (isOverApi !== (request.expectedOrigins !== null && request.expectedOrigins.length > 0))
    throw new CredentialError("not_supported", "Request: the expected origins do not fit the response mode");
  return {
    response_type: "vp_token",
    response_mode: request.responseMode,
    client_id: request.clientId,
    ...(request.responseUri === null ? {} : { response_uri: request.responseUri }),
    ...(request.expectedOrigins === null ? {} : { expected_origins: request.expectedOrigins }),
    nonce: request.nonce,
    ...(request.state === null ? {} : { state: request.state }),
    ...(request.walletNonce === null ? {} : { wallet_nonce: request.walletNonce }),
    dcql_query: request.query,
    client_metadata: await clientMetadata(request),
    ...(request.verifierInfo === null || request.verifierInfo.length === 0
      ? {}
      : { verifier_info: request.verifierInfo }),
    iat: Math.floor(request.issuedAt.getTime() / 1000),
  };
}

async function clientMetadata({ encryptionKey, responseMode, query }: WalletRequest): Promise<object> {
  if (responseMode.endsWith(".jwt") !== (encryptionKey !== null))
    throw new CredentialError("not_supported", "Request: the encryption key does not fit the response mode");
  const formats = { vp_formats_supported: formatsOf(query) };
  if (encryptionKey === null) return formats;
  return {
    jwks: { keys: [await publicEncryptionKey(encryptionKey)] },
    encrypted_response_enc_values_supported: contentEncryptions,
    ...formats,
  };
}

async function publicEncryptionKey(key: JWK): Promise<JWK> {
  const { kty, crv, x, y } = key;
  if (kty !== "EC" || crv !== "P-256" || x === undefined || y === undefined)
    throw new CredentialError("not_supported", "Request: encryption key of another kind");
  const kid = key.kid ?? (await calculateJwkThumbprint({ kty, crv, x, y }));
  return { kty, crv, x, y, kid, use: "enc", alg: "ECDH-ES" };
}

/**
 * What the judges accept. COSE has two numbers per algorithm; the last is a MAC with a key agreed on P-256.
 */
const formats = {
  "dc+sd-jwt": { "sd-jwt_alg_values": ["ES256", "ES384", "ES512"], "kb-jwt_alg_values": ["ES256"] },
  mso_mdoc: {
    issuerauth_alg_values: [-7, -9, -35, -51, -36, -52],
    deviceauth_alg_values: [-7, -9, -35, -51, -36, -52, -65537],
  },
};

function formatsOf({ credentials }: DcqlQuery): object {
  return Object.fromEntries(credentials.map(({ format }) => [format, formats[format]]));
}
