import type { RefusedAnswer } from "../../platform/lib/safe-fetch.ts";
import type { Signatures } from "./signing.ts";

/** What was sent and answered in an attempt that the receiver did not accept. */
export type Exchange = Signatures & {
  /** Null when there was no answer. */
  answer: ReceiverAnswer | null;
};

export type ReceiverAnswer = { statusLine: string; text: string; isCut: boolean };

// Reasons are a few words. What is longer is no reason, and would make a line of a table into a page.
const reasonCharacters = 200;

/** The answer as text that PostgreSQL can store: bytes that are not UTF-8, and U+0000, become U+FFFD. */
export function readAnswer(status: number, { reason, start, isCut }: RefusedAnswer): ReceiverAnswer {
  return {
    statusLine: storable(`${status} ${reason}`.trimEnd().slice(0, reasonCharacters)),
    // As a stream, so that a character that the end cuts in two is left out and not shown as something else.
    text: storable(new TextDecoder().decode(start, { stream: isCut })),
    isCut,
  };
}

function storable(text: string): string {
  return text.toWellFormed().replaceAll("\u0000", "\ufffd");
}
