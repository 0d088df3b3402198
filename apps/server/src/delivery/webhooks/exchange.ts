import type { RefusedAnswer } from "../../platform/lib/safe-fetch.ts";
import type { Signatures } from "./signing.ts";

/** What was sent and answered in an attempt that the receiver did not accept. */
export type Exchange = Signatures & {
  /** Null when there was no answer. */
  answer: ReceiverAnswer | null;
};

export type ReceiverAnswer = { statusLine: string; text: string; isCut: boolean };

// A reason phrase has a few words. A longer one would fill the page.
const reasonCharacters = 200;

/** The answer as text that PostgreSQL can store: bytes that are not UTF-8, and U+0000, become U+FFFD. */
export function readAnswer(status: number, { reason, start, isCut }: RefusedAnswer): ReceiverAnswer {
  return {
    statusLine: storable(`${status} ${reason}`.trimEnd().slice(0, reasonCharacters)),
    // Decodes as a stream, so that a character cut at the end is dropped and not replaced.
    text: storable(new TextDecoder().decode(start, { stream: isCut })),
    isCut,
  };
}

function storable(text: string): string {
  return text.toWellFormed().replaceAll("\u0000", "\ufffd");
}
