import { ApiError } from "../kernel/api-error.ts";
import { mayHoldBrokenText, refuseBrokenText } from "../kernel/check-text.ts";
import { findJsonError } from "../kernel/find-json-error.ts";

/** Parses a JSON body. An error names the position, not the text, which may hold a secret. */
export function parseBody(body: Buffer): unknown {
  const text = decode(body);
  const value = parse(text);
  if (mayHoldBrokenText(text)) refuseBrokenText(value, "body");
  return value;
}

/**
 * JSON is UTF-8 (RFC 8259). A body in another charset may be valid UTF-8 by chance, and would be stored
 * wrong.
 */
export function refuseOtherCharset(contentType: string | undefined): void {
  const charset = /;\s*charset\s*=\s*"?([^\s;"]*)/i.exec(contentType ?? "")?.[1];
  if (charset === undefined || /^(utf-?8|us-ascii)$/i.test(charset)) return;
  throw new ApiError("BAD_REQUEST", {
    message: "`Content-Type` names a charset other than UTF-8.",
    hint: "Encode the body in UTF-8, and send `Content-Type: application/json`.",
  });
}

function decode(body: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(body);
  } catch {
    throw new ApiError("BAD_REQUEST", {
      message: "The body is not valid UTF-8.",
      hint: "Encode the body in UTF-8.",
    });
  }
}

function parse(text: string): unknown {
  try {
    // A reviver makes parsing several times slower, and few bodies need it.
    return mayHoldPrototype(text) ? JSON.parse(text, refusePrototype) : JSON.parse(text);
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw new ApiError("BAD_REQUEST", {
      message: `The body is not valid JSON: ${placeOf(text, findJsonError(text))}.`,
      hint: "Correct the body at this position, or write it with a JSON library.",
    });
  }
}

/** Whether a key may be `__proto__`, possibly written with escapes. */
function mayHoldPrototype(text: string): boolean {
  return /__proto__|\\u00(?:5f|6f|7[024])/i.test(text);
}

function refusePrototype(name: string, value: unknown): unknown {
  if (name === "__proto__")
    throw new ApiError("BAD_REQUEST", { message: "`__proto__` is not a field of this request." });
  return value;
}

function placeOf(text: string, position: number): string {
  if (position >= text.length) return "it ends too early";
  const before = text.slice(0, position);
  const line = before.split("\n").length;
  return `line ${line}, column ${position - before.lastIndexOf("\n")}`;
}
