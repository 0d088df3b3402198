import type { ErrorCode } from "@assay/contract/errors";
import { ApiError } from "./api-error.ts";
import { joinNames } from "./field-name.ts";

export type Part = "body" | "query" | "path";

type TextPath = { parent: TextPath; name: string } | null;

/**
 * Refuses texts and field names with U+0000 or an unpaired surrogate. JSON and percent-encoding can write
 * both, but PostgreSQL can store neither, and UTF-8 replaces the second. Iterative, because the caller
 * chooses the nesting depth.
 */
export function refuseBrokenText(value: unknown, part: Part, code: ErrorCode = "BAD_REQUEST"): void {
  const waiting: { value: unknown; place: TextPath }[] = [{ value, place: null }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { value, place } = next;
    if (typeof value === "string") {
      const problem = problemOf(value);
      if (problem !== null) throw refusal(code, place === null ? `The ${part}` : quote(place), problem);
    } else if (typeof value === "object" && value !== null) {
      for (const [name, inner] of Object.entries(value)) {
        const here = { parent: place, name };
        const problem = problemOf(name);
        if (problem !== null) throw refusal(code, `The name ${quote(here)}`, problem);
        if (typeof inner === "string" || typeof inner === "object")
          waiting.push({ value: inner, place: here });
      }
    }
  }
}

/**
 * Whether a JSON text can contain such characters. Decoded from UTF-8 it can have them only as escapes, which
 * are rare.
 */
export function mayHoldBrokenText(json: string): boolean {
  return /\\u(?:0000|d[89a-f])/i.test(json);
}

function problemOf(text: string): string | null {
  if (text.includes("\0")) return "must not hold the character U+0000";
  return text.isWellFormed() ? null : "is not valid Unicode";
}

function refusal(code: ErrorCode, subject: string, problem: string): ApiError {
  return new ApiError(code, { message: `${subject} ${problem}.` });
}

/** A refused name is shown with a replacement character. */
function quote(place: TextPath): string {
  const names: string[] = [];
  for (let at = place; at !== null; at = at.parent) names.push(at.name);
  return `\`${joinNames(names.reverse()).toWellFormed().replaceAll("\0", "\ufffd")}\``;
}
