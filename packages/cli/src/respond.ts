import { CommandError } from "./command.ts";
import { type Answer, answerErrors } from "./forward.ts";

/** `500,timeout,200`: what the tries of each delivery are answered with, one after the other. */
export function parseResponses(text: string): Answer[] {
  return text.split(",").map((part) => {
    const word = part.trim();
    const status = Number(word);
    if (/^\d{3}$/.test(word) && status >= 200 && status <= 599) return { status_code: status };
    const error = answerErrors.find((name) => name === word);
    if (error === undefined)
      throw new CommandError(
        `--respond takes statuses from 200 to 599 and ${answerErrors.join(", ")}, not "${word}".`,
      );
    return { error };
  });
}

/** The answer to an attempt, counted from 1. The last answer repeats. */
export function responseTo(responses: readonly Answer[], attempt: number): Answer | null {
  return responses[Math.min(attempt, responses.length) - 1] ?? null;
}
