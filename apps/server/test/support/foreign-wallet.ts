import { createHash, randomBytes, X509Certificate } from "node:crypto";
import { type Jwk, setGlobalConfig } from "@openid4vc/oauth2";
import { Openid4vpClient } from "@openid4vc/openid4vp";
import { SessionTranscript } from "@owf/mdoc";
import { CompactEncrypt, calculateJwkThumbprint, importJWK, jwtVerify } from "jose";
import { mdocContext } from "./foreign-credentials.ts";

/** A foreign wallet, made with `@openid4vc/openid4vp`, which presents what the test gives it. */

// Requests of a test come over http.
setGlobalConfig({ allowInsecureUrls: true });

const client = new Openid4vpClient({
  callbacks: {
    fetch,
    hash: (data, algorithm) => new Uint8Array(createHash(algorithm.replace("-", "")).update(data).digest()),
    // The leaf of its chain signs the request; whether the wallet trusts it is not tested.
    verifyJwt: async (signer, { compact }) => {
      if (signer.method !== "x5c") return { verified: false };
      const [leaf = ""] = signer.x5c;
      const key = new X509Certificate(Buffer.from(leaf, "base64")).publicKey;
      try {
        await jwtVerify(compact, key, { typ: "oauth-authz-req+jwt", clockTolerance: "30 years" });
      } catch {
        return { verified: false };
      }
      return { verified: true, signerJwk: key.export({ format: "jwk" }) as Jwk };
    },
    getX509CertificateMetadata: () => ({ sanDnsNames: [], sanUriNames: [] }),
    encryptJwe: async ({ publicJwk, alg, enc, apu, apv }, data) => {
      const jwe = await new CompactEncrypt(new TextEncoder().encode(data))
        .setProtectedHeader({
          alg,
          enc,
          ...(publicJwk.kid === undefined ? {} : { kid: publicJwk.kid }),
          ...(apu === undefined ? {} : { apu }),
          ...(apv === undefined ? {} : { apv }),
        })
        .encrypt(await importJWK(publicJwk as never, alg));
      return { jwe, encryptionJwk: publicJwk };
    },
    decryptJwe: () => {
      throw new Error("a wallet decrypts nothing");
    },
    signJwt: () => {
      throw new Error("this wallet signs no answer");
    },
  },
});

type Query = {
  credentials: {
    id: string;
    format: string;
    meta?: { doctype_value?: string; vct_values?: string[] };
    claims?: { id?: string; path: (string | number | null)[] }[];
    claim_sets?: string[][];
  }[];
};

export type WalletRequest = {
  payload: Record<string, unknown> & { nonce: string; client_id: string; response_uri: string };
  query: Query;
  /** The key that the answer is encrypted to; null if it is sent in the clear. */
  encryptionKey: Jwk | null;
};

/** What a wallet does with a link, up to the moment at which the person chooses. */
export async function readRequest(link: string, method: "get" | "post" = "get"): Promise<WalletRequest> {
  const parsed = client.parseOpenid4vpAuthorizationRequest({ authorizationRequest: link });
  if (parsed.type === "openid4vp_dc_api") throw new Error("a link holds no request of the browser's API");
  const params = parsed.type === "jar" ? { ...parsed.params, request_uri_method: method } : parsed.params;
  const resolved = await client.resolveOpenId4vpAuthorizationRequest({
    authorizationRequestPayload: params as never,
    ...(method === "post" ? { wallet: { metadata: walletMetadata } } : {}),
  });
  return walletRequestOf(resolved);
}

function walletRequestOf({
  authorizationRequestPayload,
  dcql,
}: Awaited<ReturnType<typeof client.resolveOpenId4vpAuthorizationRequest>>): WalletRequest {
  const payload = authorizationRequestPayload as unknown as WalletRequest["payload"];
  const metadata = payload.client_metadata as { jwks?: { keys: Jwk[] } } | undefined;
  const isEncrypted = String(payload.response_mode).endsWith(".jwt");
  return {
    payload,
    query: dcql?.query as Query,
    encryptionKey: isEncrypted ? (metadata?.jwks?.keys[0] ?? null) : null,
  };
}

/** A request that the browser's API hands to a wallet, with the origin of the page that made it. */
export async function readBrowserRequest(request: object, origin: string): Promise<WalletRequest> {
  const { params } = client.parseOpenid4vpAuthorizationRequest({ authorizationRequest: request as never });
  const resolved = await client.resolveOpenId4vpAuthorizationRequest({
    authorizationRequestPayload: params as never,
    origin,
  });
  return walletRequestOf(resolved);
}

const walletMetadata = {
  vp_formats_supported: {
    "dc+sd-jwt": { "sd-jwt_alg_values": ["ES256"], "kb-jwt_alg_values": ["ES256"] },
    mso_mdoc: { issuerauth_alg_values: [-7], deviceauth_alg_values: [-7] },
  },
  client_id_prefixes_supported: ["x509_hash"],
  request_object_signing_alg_values_supported: ["ES256"],
} as never;

/** Over the session transcript of an mdoc. With an `origin` the request came through the browser's API. */
export async function transcriptOf(
  { payload, encryptionKey }: WalletRequest,
  other: Partial<{ clientId: string; nonce: string; responseUri: string; origin: string }> = {},
): Promise<SessionTranscript> {
  const thumbprint =
    encryptionKey === null
      ? {}
      : { jwkThumbprint: Buffer.from(await calculateJwkThumbprint(encryptionKey as never), "base64url") };
  const { nonce = payload.nonce, clientId = payload.client_id, responseUri = payload.response_uri } = other;
  if (other.origin !== undefined)
    return await SessionTranscript.forOid4VpDcApi(
      { origin: other.origin, nonce, ...thumbprint },
      mdocContext,
    );
  return await SessionTranscript.forOid4Vp({ clientId, nonce, responseUri, ...thumbprint }, mdocContext);
}

export type Sent = { status: number; redirectUri: string | null; error: string | null };

/** As the request asks for it, unless an option says otherwise. */
export async function sendAnswer(
  request: WalletRequest,
  vpToken: Record<string, string[]>,
  instead: { encryptionKey?: Jwk | null; responseUri?: string; enc?: "A128GCM" | "A256GCM" } = {},
): Promise<Sent> {
  const key = instead.encryptionKey === undefined ? request.encryptionKey : instead.encryptionKey;
  const authorizationRequestPayload = {
    ...request.payload,
    ...(key === null ? { response_mode: "direct_post" } : {}),
    ...(instead.responseUri === undefined ? {} : { response_uri: instead.responseUri }),
  } as never;
  const made = await answerOf(authorizationRequestPayload, vpToken, { key, enc: instead.enc ?? "A128GCM" });
  const { response } = await client.submitOpenid4vpAuthorizationResponse({
    authorizationRequestPayload,
    authorizationResponsePayload: made.authorizationResponsePayload,
    ...(made.jarm === undefined ? {} : { jarm: { responseJwt: made.jarm.responseJwt } }),
  });
  return await readReply(response);
}

/** What the browser's API gives back to the page. */
export async function answerBrowser(
  { payload, encryptionKey }: WalletRequest,
  vpToken: Record<string, string[]>,
  origin: string,
): Promise<{ protocol: string; data: object }> {
  const made = await answerOf(payload as never, vpToken, { key: encryptionKey, enc: "A256GCM", origin });
  return { protocol: "openid4vp-v1-signed", data: { response: made.jarm?.responseJwt } };
}

async function answerOf(
  authorizationRequestPayload: never,
  vpToken: Record<string, string[]>,
  { key, enc, origin }: { key: Jwk | null; enc: string; origin?: string },
) {
  return await client.createOpenid4vpAuthorizationResponse({
    authorizationRequestPayload,
    authorizationResponsePayload: { vp_token: vpToken } as never,
    ...(origin === undefined ? {} : { origin }),
    ...(key === null
      ? {}
      : {
          jarm: {
            encryption: { nonce: randomBytes(16).toString("base64url"), jwk: key },
            serverMetadata: {
              authorization_signing_alg_values_supported: [],
              authorization_encryption_alg_values_supported: ["ECDH-ES"],
              authorization_encryption_enc_values_supported: [enc],
            },
          },
        }),
  });
}

/** The wallet gives the reason, and nothing else. Errors may come unencrypted. */
export async function sendError({ payload }: WalletRequest, error: string): Promise<Sent> {
  const body = new URLSearchParams({
    error,
    ...(payload.state === undefined ? {} : { state: String(payload.state) }),
  });
  return await readReply(await fetch(payload.response_uri, { method: "POST", body }));
}

async function readReply(response: Response): Promise<Sent> {
  const body = (await response.json()) as { redirect_uri?: string; error?: string };
  return { status: response.status, redirectUri: body.redirect_uri ?? null, error: body.error ?? null };
}
