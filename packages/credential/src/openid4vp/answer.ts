import { compactDecrypt, importJWK, type JWK } from "jose";
import type { AskedCredential } from "../asked.ts";
import { fromBase64Url } from "../base64url.ts";
import { CredentialError } from "../credential-error.ts";
import { isJsonArray, isJsonObject, type Json, type JsonObject, readJson, readJsonObject } from "../json.ts";
import type { JudgeContext } from "../judge-context.ts";
import { judgeMdoc } from "../mdoc/judge-mdoc.ts";
import { judgeSdJwt } from "../sd-jwt/judge-sd-jwt.ts";
import { refuse, type Verdict } from "../verdict.ts";
import { contentEncryptions } from "./content-encryption.ts";

/**
 * The fields of a form, or the members of `data` from the Digital Credentials API.
 * Others are ignored, as specified.
 */
export type AnswerForm = {
  readonly response?: unknown;
  readonly vp_token?: unknown;
  readonly error?: unknown;
  readonly state?: unknown;
};

export type ExpectedAnswer = {
  /** The key of this request. Null if the request asked for a plain answer. */
  encryption: { privateKey: JWK } | null;
  /** From the request. An answer with another state is unreadable; null or absent disables the check. */
  state?: string | null;
};

/** By the id of the credential in the query. */
export type Presentations = Readonly<Record<string, readonly string[]>>;

export type Answer =
  | { kind: "presented"; presentations: Presentations }
  | { kind: "declined"; error: DeclinedError }
  | { kind: "unreadable" };

/** OpenID4VP 1.0, 8.5. */
const declinedErrors = [
  "access_denied",
  "invalid_request",
  "invalid_client",
  "invalid_scope",
  "unauthorized_client",
  "unsupported_response_type",
  "server_error",
  "temporarily_unavailable",
  "vp_formats_not_supported",
  "wallet_unavailable",
  "invalid_request_uri_method",
  "invalid_request_uri",
  "invalid_request_object",
  "invalid_transaction_data",
] as const;
/** `other` is an error that no specification has. The wallet's own words stay out of our records. */
export type DeclinedError = (typeof declinedErrors)[number] | "other";

const unreadable: Answer = { kind: "unreadable" };
/** A form has 256 KiB at most. */
const maxAnswerCharacters = 256 * 1024;

/**
 * Reads an answer of any response mode. An error may be unencrypted;
 * a presentation may not if the request asked for encryption.
 */
export async function readAnswer(form: AnswerForm, expected: ExpectedAnswer): Promise<Answer> {
  try {
    return await read(form, expected);
  } catch (error) {
    if (error instanceof CredentialError) return unreadable;
    throw error;
  }
}

async function read(form: AnswerForm, expected: ExpectedAnswer): Promise<Answer> {
  const { response, ...plain } = form;
  if (response === undefined) {
    if (plain.vp_token !== undefined && expected.encryption !== null) return unreadable;
    return answerOf(plain, expected);
  }
  if (typeof response !== "string" || plain.vp_token !== undefined || plain.error !== undefined)
    return unreadable;
  if (expected.encryption === null) return unreadable;
  const { vp_token, error, state } = await decrypted(response, expected.encryption.privateKey);
  return answerOf({ vp_token, error, state: state ?? plain.state }, expected);
}

function answerOf({ vp_token: token, error, state }: AnswerForm, expected: ExpectedAnswer): Answer {
  const expectedState = expected.state ?? null;
  if (expectedState !== null && state !== undefined && state !== expectedState) return unreadable;
  if (token !== undefined) {
    if (error !== undefined) return unreadable;
    const presentations = presentationsOf(token);
    return presentations === null ? unreadable : { kind: "presented", presentations };
  }
  if (typeof error !== "string" || error === "") return unreadable;
  return { kind: "declined", error: declinedErrors.find((known) => known === error) ?? "other" };
}

async function decrypted(jwe: string, privateKey: JWK): Promise<JsonObject> {
  if (jwe.length > maxAnswerCharacters) throw new CredentialError("too_large", "Answer: too many characters");
  const parts = jwe.split(".");
  if (parts.length !== 5) throw new CredentialError("malformed", "Answer: not an encrypted JWT");
  for (const part of parts) fromBase64Url(part);
  const header = readJsonObject(fromBase64Url(parts[0] ?? ""));
  // A small compressed answer can expand, and its length reveals something about its contents.
  if (header.zip !== undefined) throw new CredentialError("not_supported", "Answer: compressed");
  if (header.kid !== undefined && privateKey.kid !== undefined && header.kid !== privateKey.kid)
    throw new CredentialError("malformed", "Answer: encrypted for another key");
  let plaintext: Uint8Array;
  try {
    const key = await importJWK({ ...privateKey, key_ops: ["deriveBits"] }, "ECDH-ES");
    ({ plaintext } = await compactDecrypt(jwe, key, {
      keyManagementAlgorithms: ["ECDH-ES"],
      contentEncryptionAlgorithms: [...contentEncryptions],
    }));
  } catch {
    throw new CredentialError("malformed", "Answer: does not decrypt");
  }
  return readJsonObject(plaintext);
}

/** A form has the token as JSON text, the Digital Credentials API as an object. */
function presentationsOf(token: unknown): Presentations | null {
  const text = typeof token === "string" ? token : textOf(token);
  if (text === null || text.length > maxAnswerCharacters) return null;
  const read = readJson(text);
  if (!isJsonObject(read)) return null;
  const entries = Object.entries(read).map(([id, presentations]) => [id, textsOf(presentations)] as const);
  const texts = entries.filter((entry): entry is readonly [string, readonly string[]] => entry[1] !== null);
  return texts.length === entries.length ? Object.fromEntries(texts) : null;
}

/** Null for what JSON cannot express, or only by exhausting the stack. */
function textOf(value: unknown): string | null {
  try {
    return JSON.stringify(value) ?? null;
  } catch {
    return null;
  }
}

function textsOf(value: Json): readonly string[] | null {
  return isJsonArray(value) && value.every((item) => typeof item === "string") ? value : null;
}

/** Expects exactly one of the requested credentials, in exactly one presentation. */
export async function judgeAnswer(
  presentations: Presentations,
  asked: readonly AskedCredential[],
  context: Omit<JudgeContext, "asked">,
): Promise<Verdict> {
  const entries = Object.entries(presentations);
  const [entry] = entries;
  if (entry === undefined) return refuse("no_documents");
  const [id, [presentation, ...others]] = entry;
  const credential = asked.find((candidate) => candidate.id === id);
  if (entries.length > 1 || others.length > 0) return refuse("malformed");
  if (credential === undefined) return refuse("wrong_type");
  if (presentation === undefined) return refuse("no_documents");
  if (credential.format === "dc+sd-jwt") return judgeSdJwt(presentation, { ...context, asked: credential });
  let deviceResponse: Uint8Array;
  try {
    deviceResponse = fromBase64Url(presentation);
  } catch {
    return refuse("malformed");
  }
  return judgeMdoc(deviceResponse, { ...context, asked: credential });
}
