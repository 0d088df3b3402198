import { CompactEncrypt, importJWK, type JWK } from "jose";
import { fromBase64Url } from "../base64url.ts";
import { utf8 } from "../bytes.ts";
import { CredentialError } from "../credential-error.ts";
import type { DcqlQuery } from "../dcql/query.ts";
import { isJsonArray, isJsonObject, type Json, type JsonObject, readJsonObject } from "../json.ts";
import type { contentEncryptions } from "./content-encryption.ts";

/** What a wallet needs of a request, signed or by value. */
export type ReceivedRequest = {
  clientId: string;
  nonce: string;
  state: string | null;
  responseUri: string | null;
  responseMode: string;
  query: DcqlQuery;
  /** The key to encrypt the answer to; null where the request asks for a plain one. */
  encryptionKey: JWK | null;
};

/** For the test wallet, which trusts its service: neither signature nor certificate is checked. */
export function receiveRequest(requestObject: string): ReceivedRequest {
  return requestOf(readJsonObject(fromBase64Url(requestObject.split(".")[1] ?? "")));
}

/** The query string of a link by value, as the age profile has it. */
export function receiveLink(link: string): ReceivedRequest {
  const parameters = new URLSearchParams(link.slice(link.indexOf("?") + 1));
  return requestOf(
    Object.fromEntries(
      [...parameters].map(([name, value]) => [
        name,
        name === "dcql_query" || name === "client_metadata" ? readJsonObject(utf8(value)) : value,
      ]),
    ),
  );
}

function requestOf(parameters: JsonObject): ReceivedRequest {
  const { client_id, nonce, state, response_uri, response_mode, dcql_query, client_metadata } = parameters;
  if (typeof client_id !== "string" || typeof nonce !== "string" || typeof response_mode !== "string")
    throw new CredentialError("malformed", "Request: a parameter is missing");
  return {
    clientId: client_id,
    nonce,
    state: typeof state === "string" ? state : null,
    responseUri: typeof response_uri === "string" ? response_uri : null,
    responseMode: response_mode,
    // The service's own query, which the test wallet need not doubt.
    query: dcql_query as DcqlQuery,
    encryptionKey: response_mode.endsWith(".jwt") ? encryptionKeyOf(client_metadata) : null,
  };
}

function encryptionKeyOf(metadata: Json | undefined): JWK {
  const jwks = isJsonObject(metadata) ? metadata.jwks : undefined;
  const keys = isJsonObject(jwks) && isJsonArray(jwks.keys) ? jwks.keys : [];
  const [key] = keys;
  if (!isJsonObject(key)) throw new CredentialError("malformed", "Request: no encryption key");
  return key as JWK;
}

export type WalletAnswer =
  | { kind: "presented"; id: string; presentation: string }
  | { kind: "declined"; error: string };

/** The fields of the form that a wallet posts, or of `data` over the Digital Credentials API. */
export async function answerAsWallet(
  answer: WalletAnswer,
  request: Pick<ReceivedRequest, "encryptionKey" | "state">,
  enc: (typeof contentEncryptions)[number] = "A256GCM",
): Promise<Record<string, string>> {
  const state = request.state === null ? {} : { state: request.state };
  if (answer.kind === "declined") return { error: answer.error, ...state };
  const token = { [answer.id]: [answer.presentation] };
  if (request.encryptionKey === null) return { vp_token: JSON.stringify(token), ...state };
  const key = request.encryptionKey;
  const response = await new CompactEncrypt(utf8(JSON.stringify({ vp_token: token, ...state })))
    .setProtectedHeader({ alg: "ECDH-ES", enc, ...(key.kid === undefined ? {} : { kid: key.kid }) })
    .encrypt(await importJWK({ ...key, alg: "ECDH-ES" }, "ECDH-ES"));
  return { response };
}
