import { CredentialError } from "./credential-error.ts";

export type Json = null | boolean | number | string | JsonArray | JsonObject;
export type JsonArray = readonly Json[];
export type JsonObject = { readonly [name: string]: Json };

export function isJsonObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isJsonArray(value: Json | undefined): value is JsonArray {
  return Array.isArray(value);
}

const maxDepth = 16;

/** Strict RFC 8259: a name occurs once in its object, and values are nested at most sixteen deep. */
export function readJson(text: string): Json {
  const colons = countColons(text);
  let value: Json;
  try {
    value = JSON.parse(text);
  } catch {
    throw new CredentialError("malformed", "JSON: not well formed");
  }
  if (countNames(value) !== colons) throw new CredentialError("malformed", "JSON: duplicate name");
  return value;
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export function readJsonBytes(bytes: Uint8Array): Json {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    throw new CredentialError("malformed", "JSON: not UTF-8");
  }
  return readJson(text);
}

export function readJsonObject(bytes: Uint8Array): JsonObject {
  const value = readJsonBytes(bytes);
  if (!isJsonObject(value)) throw new CredentialError("malformed", "JSON: not an object");
  return value;
}

/**
 * The parser keeps the last of two members with one name, so the text has more colons than the value has
 * names. Depth is checked here, before the parser sees a text of a hundred thousand brackets.
 */
function countColons(text: string): number {
  let colons = 0;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case marks.quote:
        at = endOfString(text, at);
        break;
      case marks.colon:
        colons++;
        break;
      case marks.object:
      case marks.array:
        if (++depth > maxDepth) throw new CredentialError("malformed", "JSON: nested too deeply");
        break;
      case marks.endOfObject:
      case marks.endOfArray:
        depth--;
    }
  }
  return colons;
}

const marks = {
  quote: 0x22,
  colon: 0x3a,
  array: 0x5b,
  backslash: 0x5c,
  endOfArray: 0x5d,
  object: 0x7b,
  endOfObject: 0x7d,
};

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === marks.quote) return at;
    if (code === marks.backslash) at++;
  }
  return text.length;
}

function countNames(value: Json): number {
  if (isJsonArray(value)) return value.reduce<number>((sum, item) => sum + countNames(item), 0);
  if (!isJsonObject(value)) return 0;
  const members = Object.values(value);
  return members.reduce<number>((sum, member) => sum + countNames(member), members.length);
}
