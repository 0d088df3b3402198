import { emailPattern } from "./email.ts";
import { unseenCharacters, unseenInLines } from "./shown-text.ts";

type Text = { format?: string; pattern?: string; examples?: readonly unknown[] };

const prefixedId = /^\^([a-z]+_)\[A-Za-z0-9\]\{(\d+)\}\$$/;

/**
 * Describes the expected form of a text,
 * with an example where there is one, for the error that rejects a value.
 */
export function formOf({ format, pattern = "", examples }: Text): string {
  const example = examples?.[0] === undefined ? "" : `, for example ${String(examples[0])}`;
  if (format === "date-time")
    return "must be an ISO 8601 time with zone, for example 2026-03-01T09:30:00Z (in an address write + as %2B)";
  if (format === "date") return "must be a day as YYYY-MM-DD, for example 2026-03-01";
  if (format === "uuid") return `must be a UUID${example}`;
  if (pattern === emailPattern) return `must be an e-mail address${example}`;
  const [, prefix, length] = prefixedId.exec(pattern) ?? [];
  if (prefix !== undefined) return `must be \`${prefix}\` followed by ${length} letters and digits`;
  if (pattern.startsWith("^https://")) return `must be an https address without spaces${example}`;
  if (pattern.includes(unseenCharacters))
    return "must be one line with at least one visible character and no invisible ones";
  if (pattern.includes(unseenInLines)) return "must not contain invisible characters";
  if (/^\^\[A-Za-z0-9_-\][+*]\$$/.test(pattern)) return "must be base64url: letters, digits, - and _";
  return example === "" ? "does not have the expected form" : `does not have the expected form${example}`;
}
