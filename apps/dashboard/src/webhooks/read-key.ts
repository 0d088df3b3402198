import { PageProblem } from "../api/page-problem.ts";
import { t } from "../i18n/words.ts";

/**
 * Reads an RSA key in any common form, within this page only. A private key that was pasted as a public one
 * is first reduced to its public half.
 */

type RsaPublic = { n: string; e: string };
type ReadPublicKey = RsaPublic & { kid: string | null; wasPrivate: boolean };

/** Why a text is not a usable key, in words for the person who pasted it. */
class KeyTextError extends PageProblem {}

export function readPublicKey(text: string): ReadPublicKey {
  const jwk = readJwk(text);
  if (jwk !== null) {
    const kid = typeof jwk.kid === "string" && jwk.kid.trim() !== "" ? jwk.kid.trim().slice(0, 100) : null;
    return { n: base64Url(jwk.n), e: base64Url(jwk.e), kid, wasPrivate: isPrivate(jwk) };
  }
  const { label, der } = readPem(text);
  return { ...publicOf(label, der), kid: null, wasPrivate: label.endsWith("PRIVATE KEY") };
}

/** A private key in a form that WebCrypto imports. */
type PrivateKeyText = { format: "pkcs8"; der: Uint8Array<ArrayBuffer> } | { format: "jwk"; jwk: JsonWebKey };

export function readPrivateKey(text: string): PrivateKeyText {
  const jwk = readJwk(text);
  if (jwk !== null) {
    if (!isPrivate(jwk)) throw new KeyTextError(t.webhooks.problem.publicHalf);
    // The use that the file states could forbid decryption, the only use here.
    const { alg: _alg, use: _use, key_ops: _ops, ext: _ext, ...numbers } = jwk as JsonWebKey;
    return { format: "jwk", jwk: numbers };
  }
  const { label, der } = readPem(text);
  if (label === "PRIVATE KEY") return { format: "pkcs8", der };
  if (label === "RSA PRIVATE KEY") return { format: "pkcs8", der: asPkcs8(der) };
  throw new KeyTextError(t.webhooks.problem.publicHalf);
}

// --- JWK ---------------------------------------------------------------------------------------------------

type Jwk = Record<string, unknown>;

/** Literal braces: in a text, braces mark a placeholder. */
const braces = { open: "{", close: "}" } as const;

/** Null if the text does not begin as JSON. */
function readJwk(text: string): Jwk | null {
  const trimmed = text.trim();
  if (!/^[{[]/.test(trimmed)) return null;
  let value: unknown;
  try {
    value = JSON.parse(trimmed);
  } catch {
    throw new KeyTextError(t.webhooks.problem.jsonCut(braces));
  }
  const only = onlyKey(value);
  if (only.kty !== "RSA" || typeof only.n !== "string" || typeof only.e !== "string") throw notRsa();
  return only;
}

/** A JWK, or the single key of a set. */
function onlyKey(value: unknown): Jwk {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new KeyTextError(t.webhooks.problem.notKeyJson(braces));
  const { keys } = value as Jwk;
  if (!Array.isArray(keys)) return value as Jwk;
  if (keys.length !== 1) throw new KeyTextError(t.webhooks.problem.severalKeys(keys.length));
  return onlyKey(keys[0]);
}

function isPrivate(jwk: Jwk): boolean {
  return ["d", "p", "q", "dp", "dq", "qi"].some((member) => member in jwk);
}

/** The service's form: without padding and without a leading zero byte, both of which some tools write. */
function base64Url(text: unknown): string {
  return toBase64Url(fromBase64(String(text)));
}

// --- PEM and DER -------------------------------------------------------------------------------------------

function readPem(text: string): { label: string; der: Uint8Array<ArrayBuffer> } {
  const blocks = [...text.matchAll(/-----BEGIN ([A-Z0-9 ]+)-----([\s\S]*?)-----END \1-----/g)];
  const known = blocks.find(([, label = ""]) => /(PUBLIC KEY|PRIVATE KEY|CERTIFICATE)$/.test(label));
  if (known === undefined) throw new KeyTextError(t.webhooks.problem.notKey);
  const [, label = "", body = ""] = known;
  if (label.startsWith("ENCRYPTED") || body.includes("ENCRYPTED"))
    throw new KeyTextError(t.webhooks.problem.locked);
  if (/EC |DSA /.test(label)) throw notRsa();
  return { label, der: fromBase64(body.replace(/\s/g, "")) };
}

function notRsa(): KeyTextError {
  return new KeyTextError(t.webhooks.problem.notRsa);
}

function publicOf(label: string, der: Uint8Array<ArrayBuffer>): RsaPublic {
  try {
    const top = children(der);
    switch (label) {
      case "RSA PUBLIC KEY":
        return numbersOf(top[0], top[1]);
      case "RSA PRIVATE KEY":
        return numbersOf(top[1], top[2]);
      case "PRIVATE KEY": {
        const inner = children(content(rsaOnly(top[1], top[2])));
        return numbersOf(inner[1], inner[2]);
      }
      case "CERTIFICATE": {
        const fields = parts(content(top[0]));
        // The optional version is tagged. Serial, algorithm, issuer, validity, subject and key follow.
        const at = fields[0]?.tag === 0xa0 ? 6 : 5;
        return ofPublicKeyInfo(parts(content(fields[at])));
      }
      case "PUBLIC KEY":
        return ofPublicKeyInfo(top);
      default:
        throw notRsa();
    }
  } catch (error) {
    if (error instanceof KeyTextError) throw error;
    throw new KeyTextError(t.webhooks.problem.unreadable);
  }
}

function ofPublicKeyInfo([algorithm, key]: readonly Part[]): RsaPublic {
  // A bit string begins with its number of unused bits, which is 0.
  const inner = children(content(rsaOnly(algorithm, key)).subarray(1));
  return numbersOf(inner[0], inner[1]);
}

type Part = { tag: number; bytes: Uint8Array<ArrayBuffer> };

const rsaIdentifier = "2a864886f70d010101";

function rsaOnly(algorithm: Part | undefined, key: Part | undefined): Part | undefined {
  const [identifier] = parts(content(algorithm));
  if (hex(content(identifier)) !== rsaIdentifier) throw notRsa();
  return key;
}

function numbersOf(n: Part | undefined, e: Part | undefined): RsaPublic {
  return { n: toBase64Url(content(n)), e: toBase64Url(content(e)) };
}

function content(part: Part | undefined): Uint8Array<ArrayBuffer> {
  if (part === undefined) throw new Error("a part is missing");
  return part.bytes;
}

/** The elements of the one sequence in these bytes. */
function children(der: Uint8Array<ArrayBuffer>): Part[] {
  const [sequence] = parts(der);
  return parts(content(sequence));
}

/** Consecutive DER values. */
function parts(der: Uint8Array<ArrayBuffer>): Part[] {
  const found: Part[] = [];
  for (let at = 0; at < der.length; ) {
    const tag = der[at] ?? 0;
    let length = der[at + 1] ?? 0;
    at += 2;
    if (length > 0x80) {
      const bytes = length - 0x80;
      if (bytes > 3) throw new Error("too long");
      length = 0;
      for (let i = 0; i < bytes; i += 1) length = length * 256 + (der[at + i] ?? 0);
      at += bytes;
    }
    if (at + length > der.length) throw new Error("cut off");
    found.push({ tag, bytes: der.subarray(at, at + length) });
    at += length;
  }
  return found;
}

/** Wraps a PKCS#1 key as PKCS#8, which names the algorithm: WebCrypto reads no other form. */
function asPkcs8(pkcs1: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const version = [0x02, 0x01, 0x00];
  const algorithm = [0x30, 0x0d, 0x06, 0x09, ...bytesOfHex(rsaIdentifier), 0x05, 0x00];
  return new Uint8Array(wrap(0x30, [...version, ...algorithm, ...wrap(0x04, [...pkcs1])]));
}

function wrap(tag: number, bytes: readonly number[]): number[] {
  const { length } = bytes;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return [tag, ...size, ...bytes];
}

function bytesOfHex(text: string): number[] {
  return (text.match(/../g) ?? []).map((pair) => Number.parseInt(pair, 16));
}

function hex(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

// --- base64 ------------------------------------------------------------------------------------------------

export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  try {
    const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/").replace(/=+$/, ""));
    return Uint8Array.from(binary, (character) => character.charCodeAt(0));
  } catch {
    throw new KeyTextError(t.webhooks.problem.damaged);
  }
}

/** The bytes of a number, without the leading zero byte of DER. */
function toBase64Url(bytes: Uint8Array): string {
  let start = 0;
  while (start < bytes.length - 1 && bytes[start] === 0) start += 1;
  return toBase64(bytes.subarray(start)).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

export function toBase64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes));
}
