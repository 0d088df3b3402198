import assert from "node:assert/strict";
import { createHash, X509Certificate } from "node:crypto";
import { test } from "node:test";
import { type Jwk, setGlobalConfig } from "@openid4vc/oauth2";
import { Openid4vpClient } from "@openid4vc/openid4vp";
import { compactVerify, decodeProtectedHeader, exportJWK, generateKeyPair } from "jose";
import { anchorOf, newAuthority, newSigner, now, seconds } from "../../test/support/pid.ts";
import { fromBase64, toBase64Url } from "../base64url.ts";
import { CredentialError } from "../credential-error.ts";
import { askedFor } from "../dcql/ask.ts";
import { dcqlQuery } from "../dcql/query.ts";
import { readAnswer } from "./answer.ts";
import { answerAsWallet, receiveLink, receiveRequest } from "./answer-as-wallet.ts";
import {
  ageClientIdOf,
  ageLink,
  clientIdOf,
  registrationInfo,
  signRequest,
  type WalletRequest,
  walletLink,
} from "./request.ts";

const authority = await newAuthority("CN=Access certificates");
const signer = await newSigner(authority, { subject: "CN=Verifier" });
const identity = { chain: [signer.certificate], privateKey: signer.privateKey };
const clientId = await clientIdOf(signer.certificate);
const { privateKey } = await generateKeyPair("ECDH-ES", { crv: "P-256", extractable: true });
const encryptionKey = { ...(await exportJWK(privateKey)), kid: "request-1" };
const responseUri = "https://verifier.example/oid4vp/response/1";
const fields = [
  { key: "family_name", required: true },
  { key: "document_number", required: false },
];
const request: WalletRequest = {
  clientId,
  nonce: "n-0S6_WzA2Mj",
  state: "state-1",
  responseUri,
  responseMode: "direct_post.jwt",
  query: dcqlQuery(askedFor(["pid", "mdl"], fields), [anchorOf(authority)]),
  encryptionKey,
  verifierInfo: registrationInfo(["registration"]),
  walletNonce: null,
  expectedOrigins: null,
  issuedAt: now,
};

async function payloadOf(jws: string): Promise<Record<string, any>> {
  const { payload } = await compactVerify(jws, signer.publicKey);
  return JSON.parse(new TextDecoder().decode(payload));
}

test("a signed request is what OpenID4VP 1.0 and HAIP 1.0 ask for", async () => {
  const jws = await signRequest(request, identity);
  const header = decodeProtectedHeader(jws);
  assert.deepEqual(Object.keys(header).sort(), ["alg", "typ", "x5c"]);
  assert.equal(header.typ, "oauth-authz-req+jwt");
  const leaf = fromBase64(header.x5c?.[0] ?? "");
  assert.equal(clientId, `x509_hash:${createHash("sha256").update(leaf).digest("base64url")}`);
  const { client_metadata, dcql_query, ...payload } = await payloadOf(jws);
  assert.deepEqual(payload, {
    aud: "https://self-issued.me/v2",
    response_type: "vp_token",
    response_mode: "direct_post.jwt",
    client_id: clientId,
    response_uri: responseUri,
    nonce: "n-0S6_WzA2Mj",
    state: "state-1",
    verifier_info: [{ format: "registration_cert", data: "registration" }],
    iat: seconds(now),
  });
  assert.deepEqual(dcql_query, request.query);
  const { x, y } = encryptionKey;
  assert.deepEqual(client_metadata.jwks.keys, [
    { kty: "EC", crv: "P-256", x, y, kid: "request-1", use: "enc", alg: "ECDH-ES" },
  ]);
  assert.deepEqual(client_metadata.encrypted_response_enc_values_supported, ["A128GCM", "A256GCM"]);
  assert.deepEqual(Object.keys(client_metadata.vp_formats_supported).sort(), ["dc+sd-jwt", "mso_mdoc"]);
});

test("the private half of the encryption key never leaves, and a key without a name gets one", async () => {
  const { kid: _, ...nameless } = encryptionKey;
  const payload = await payloadOf(await signRequest({ ...request, encryptionKey: nameless }, identity));
  const [key] = payload.client_metadata.jwks.keys;
  assert.equal(key.d, undefined);
  assert.match(key.kid, /^[\w-]{43}$/);
});

test("the wallet's nonce is repeated", async () => {
  const payload = await payloadOf(await signRequest({ ...request, walletNonce: "of the wallet" }, identity));
  assert.equal(payload.wallet_nonce, "of the wallet");
});

test("over the browser's interface the request names its pages, and neither state nor address", async () => {
  const overApi = {
    ...request,
    responseMode: "dc_api.jwt",
    responseUri: null,
    state: null,
    expectedOrigins: ["https://verifier.example"],
  } as const;
  const payload = await payloadOf(await signRequest(overApi, identity));
  assert.deepEqual(payload.expected_origins, ["https://verifier.example"]);
  assert.equal("state" in payload || "response_uri" in payload, false);
});

test("a request that contradicts itself is not signed", async () => {
  const contradictions: readonly Partial<WalletRequest>[] = [
    { responseUri: null },
    { responseMode: "dc_api.jwt" },
    { encryptionKey: null },
    { responseMode: "direct_post" },
    { expectedOrigins: ["https://verifier.example"] },
    { responseMode: "dc_api.jwt", responseUri: null },
    { responseMode: "dc_api.jwt", responseUri: null, expectedOrigins: [] },
    { encryptionKey: { kty: "RSA" } },
  ];
  for (const more of contradictions) {
    await assert.rejects(signRequest({ ...request, ...more }, identity), CredentialError);
  }
});

test("the links are those that wallets register", () => {
  assert.equal(
    walletLink("haip-vp", "x509_hash:abc", "https://verifier.example/oid4vp/request/1?a=b c"),
    "haip-vp://?client_id=x509_hash%3Aabc&request_uri=https%3A%2F%2Fverifier.example%2Foid4vp%2Frequest%2F1%3Fa%3Db%20c&request_uri_method=post",
  );
});

test("a proof of age is asked for by value, unsigned, as its profile says", () => {
  const query = dcqlQuery(askedFor(["age"], [{ key: "age_over_18", required: true }]), []);
  const link = ageLink({ scheme: "av", responseUri, nonce: "nonce", state: "state", query });
  assert.ok(link.startsWith("av://?"));
  const parameters = new URLSearchParams(link.slice("av://?".length));
  assert.deepEqual(JSON.parse(parameters.get("dcql_query") ?? ""), {
    credentials: [
      {
        id: "age",
        format: "mso_mdoc",
        meta: { doctype_value: "eu.europa.ec.av.1" },
        claims: [{ id: "age_over_18", path: ["eu.europa.ec.av.1", "age_over_18"] }],
      },
    ],
  });
  assert.deepEqual(
    ["response_type", "response_mode", "client_id", "response_uri", "nonce", "state"].map((name) =>
      parameters.get(name),
    ),
    ["vp_token", "direct_post", ageClientIdOf(responseUri), responseUri, "nonce", "state"],
  );
  const received = receiveLink(link);
  assert.deepEqual([received.encryptionKey, received.query], [null, query]);
});

// The library of others reads our requests and answers them; ours opens what it made.
setGlobalConfig({ allowInsecureUrls: false });
const foreign = (requestObject: string) =>
  new Openid4vpClient({
    callbacks: {
      fetch: async () =>
        new Response(requestObject, { headers: { "content-type": "application/oauth-authz-req+jwt" } }),
      hash: (data, algorithm) => new Uint8Array(createHash(algorithm.replace("-", "")).update(data).digest()),
      verifyJwt: async (by, { compact }) => {
        if (by.method !== "x5c") return { verified: false };
        const key = new X509Certificate(Buffer.from(by.x5c[0] ?? "", "base64")).publicKey;
        await compactVerify(compact, key);
        return { verified: true, signerJwk: key.export({ format: "jwk" }) as Jwk };
      },
      getX509CertificateMetadata: () => ({ sanDnsNames: [], sanUriNames: [] }),
      encryptJwe: async ({ publicJwk, enc }, data) => {
        const { vp_token } = JSON.parse(data);
        const [[id, [presentation]]] = Object.entries(vp_token) as [[string, [string]]];
        const { response = "" } = await answerAsWallet(
          { kind: "presented", id, presentation },
          { encryptionKey: publicJwk as never, state: null },
          enc as "A128GCM",
        );
        return { jwe: response, encryptionJwk: publicJwk };
      },
      decryptJwe: () => {
        throw new Error("a wallet decrypts nothing");
      },
      signJwt: () => {
        throw new Error("a wallet signs no answer");
      },
    },
  });

test("another implementation takes our request by reference and answers it", async () => {
  const requestObject = await signRequest(request, identity);
  const client = foreign(requestObject);
  const link = walletLink("openid4vp", clientId, "https://verifier.example/oid4vp/request/1");
  const parsed = client.parseOpenid4vpAuthorizationRequest({ authorizationRequest: link });
  const resolved = await client.resolveOpenId4vpAuthorizationRequest({
    authorizationRequestPayload: parsed.params as never,
  });
  assert.equal(resolved.client.prefix, "x509_hash");
  const query = resolved.dcql?.query as { credentials: readonly { id: string }[] };
  assert.deepEqual(
    query.credentials.map(({ id }) => id),
    ["pid_sd", "pid_mdoc", "mdl"],
  );
  const { jarm } = await client.createOpenid4vpAuthorizationResponse({
    authorizationRequestPayload: resolved.authorizationRequestPayload as never,
    authorizationResponsePayload: { vp_token: { pid_sd: ["presentation"] } } as never,
    jarm: {
      encryption: { nonce: toBase64Url(new Uint8Array(16)) },
      serverMetadata: {
        authorization_signing_alg_values_supported: [],
        authorization_encryption_alg_values_supported: ["ECDH-ES"],
        authorization_encryption_enc_values_supported: ["A256GCM"],
      },
    },
  });
  const answer = await readAnswer(
    { response: jarm?.responseJwt },
    { encryption: { privateKey: encryptionKey }, state: "state-1" },
  );
  assert.deepEqual(answer, { kind: "presented", presentations: { pid_sd: ["presentation"] } });
});

test("the test wallet reads our own request", async () => {
  const received = receiveRequest(await signRequest(request, identity));
  const { encryptionKey: key, ...rest } = received;
  assert.equal(key?.kid, "request-1");
  assert.deepEqual(rest, {
    clientId,
    nonce: request.nonce,
    state: "state-1",
    responseUri,
    responseMode: "direct_post.jwt",
    query: request.query,
  });
});
