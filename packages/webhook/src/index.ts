import {
  type CryptoKey,
  compactDecrypt,
  decodeProtectedHeader,
  importJWK,
  importPKCS8,
  type JWK,
} from "jose";
import type { WebhookEvent } from "../lib/event.d.ts";
import { verifySignature } from "./verify-signature.ts";
import { WebhookError } from "./webhook-error.ts";

export type * from "../lib/event.d.ts";
// biome-ignore lint/performance/noBarrelFile: a published package has one entry.
export { WebhookError, type WebhookErrorCode } from "./webhook-error.ts";

/** A private key: PEM (PKCS #8), JWK, or either with the name that you registered it under. */
export type PrivateKey = string | JWK | { kid: string; key: string | JWK };

export type WebhookOptions = {
  /** Signing secrets (`whsec_…`) of the endpoint: the current one, and during a rotation the one before. */
  secrets: readonly string[];
  /**
   * Private keys whose public keys are registered.
   * A delivery names its key by `kid`; keys without one are tried in turn.
   */
  keys: readonly PrivateKey[];
  /** Largest difference of a signature's time from now. Default: 300. */
  toleranceSeconds?: number;
  /** The time to compare with, for tests. */
  now?: () => Date;
};

/** Headers as the framework has them: `Headers`, or an object with names in any case. */
export type HeadersLike =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/** The body as it was received, before anything parsed it. */
export type RawBody = string | Uint8Array | ArrayBuffer;

type Candidate = { kid: string | null; key: Promise<CryptoKey> };

/**
 * Call `const open = webhook({ secrets, keys })` once, then `const event = await open(headers, rawBody)` for
 * each delivery. It verifies the signature, decrypts the body and returns the event, or throws a
 * `WebhookError`.
 */
export function webhook(
  options: WebhookOptions,
): (headers: HeadersLike, rawBody: RawBody) => Promise<WebhookEvent> {
  const { secrets, keys, toleranceSeconds = 300, now = () => new Date() } = options;
  checkSecrets(secrets);
  if (keys.length === 0)
    throw new WebhookError("options_invalid", "`keys` is empty. Give the private key of the endpoint.");
  const candidates = keys.map(candidateOf);
  // A key that cannot be read is reported with the first delivery. Until then its rejection has no listener.
  for (const { key } of candidates) key.catch(() => {});
  return async (headers, rawBody) => {
    const body = textOf(rawBody);
    const signature = headerOf(headers, "x-service-signature");
    await verifySignature({ signature, body, secrets, toleranceSeconds, now: now() });
    return eventOf(await decrypt(body, candidates));
  };
}

function checkSecrets(secrets: readonly string[]): void {
  if (secrets.length === 0)
    throw new WebhookError("options_invalid", "`secrets` is empty. Give the signing secret of the endpoint.");
  const at = secrets.findIndex((secret) => typeof secret !== "string" || !secret.startsWith("whsec_"));
  if (at >= 0)
    throw new WebhookError(
      "options_invalid",
      `\`secrets[${at}]\` is no signing secret. It begins with \`whsec_\`; the prefix belongs to it.`,
    );
}

function candidateOf(given: PrivateKey): Candidate {
  if (typeof given === "string") return { kid: null, key: imported(given) };
  if ("key" in given) return { kid: given.kid as string, key: imported(given.key as string | JWK) };
  return { kid: given.kid ?? null, key: imported(given) };
}

const algorithm = "RSA-OAEP-256";

async function imported(key: string | JWK): Promise<CryptoKey> {
  try {
    // A PEM from an environment variable often has its line breaks written as \n.
    const found =
      typeof key === "string"
        ? await importPKCS8(key.replaceAll("\\n", "\n"), algorithm)
        : await importJWK(key, algorithm);
    if (!(found instanceof Uint8Array) && found.type === "private") return found;
  } catch {
    // The library's message could repeat part of the key.
  }
  throw new WebhookError(
    "options_invalid",
    "A private key cannot be read. Give PEM that begins with `-----BEGIN PRIVATE KEY-----` (PKCS #8), or a private JWK. `openssl pkcs8 -topk8 -nocrypt -in old.pem` converts an RSA key of the older form.",
  );
}

function textOf(body: RawBody): string {
  if (typeof body === "string") return body;
  if (body instanceof Uint8Array || body instanceof ArrayBuffer) return new TextDecoder().decode(body);
  throw new WebhookError(
    "body_already_parsed",
    "The body was already parsed. Pass the text or bytes as they were received: in Express use `express.text({ type: '*/*' })` on this route, in a fetch handler `await request.text()`.",
  );
}

function headerOf(headers: HeadersLike, name: string): string | null {
  if (typeof headers.get === "function") return headers.get(name);
  const entry = Object.entries(headers).find(([key]) => key.toLowerCase() === name);
  const value = entry?.[1];
  if (value === undefined) return null;
  return typeof value === "string" ? value : value.join(" ");
}

async function decrypt(body: string, candidates: readonly Candidate[]): Promise<Uint8Array> {
  const kid = kidOf(body);
  const named = candidates.filter((candidate) => candidate.kid === kid);
  const usable = named.length > 0 ? named : candidates.filter((candidate) => candidate.kid === null);
  if (usable.length === 0)
    throw new WebhookError(
      "key_unknown",
      `The delivery is encrypted to the key \`${kid}\`, which is not among \`keys\`.`,
    );
  for (const { key } of usable) {
    const privateKey = await key;
    try {
      const { plaintext } = await compactDecrypt(body, privateKey, {
        keyManagementAlgorithms: [algorithm],
        contentEncryptionAlgorithms: ["A256GCM"],
      });
      return plaintext;
    } catch {
      // The next key may fit.
    }
  }
  throw new WebhookError(
    "decryption_failed",
    `The delivery is encrypted to the key \`${kid}\`, and no private key in \`keys\` opens it. Is it the private half of the key that is registered under that name?`,
  );
}

function kidOf(body: string): string {
  let header: ReturnType<typeof decodeProtectedHeader>;
  try {
    header = decodeProtectedHeader(body);
  } catch {
    throw new WebhookError(
      "body_not_encrypted",
      "The body is no encrypted delivery. Was it changed on its way?",
    );
  }
  if (header.alg !== algorithm || header.enc !== "A256GCM" || typeof header.kid !== "string")
    throw new WebhookError("body_not_encrypted", "The body is not encrypted as deliveries are.");
  return header.kid;
}

/** Events of unknown types are returned too: new types may be added at any time. */
function eventOf(plaintext: Uint8Array): WebhookEvent {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(plaintext);
    const event = JSON.parse(text) as { type?: unknown } | null;
    if (typeof event?.type === "string") return event as WebhookEvent;
  } catch {
    // The same as any other text that is no event.
  }
  throw new WebhookError("event_malformed", "The decrypted body is no event.");
}
