import { shownText } from "@assay/contract/shown-text";
import { type ConsentTexts, type Details, readDetails, type Status } from "./api.ts";

/**
 * The page's first requests. The service embeds the answers in the page, so that the first paint is complete.
 */
export type Given = { details: Details; status: Status; texts: GivenTexts };

/** In the language that the service took for the person's; the page asks for the others. */
export type GivenTexts = Omit<ConsentTexts, "texts"> & { texts: Partial<ConsentTexts["texts"]> };

/** Taken once: later reads must ask the service. Null if the service embedded nothing, and the page asks. */
export function takeGiven(sessionId: string): Given | null {
  const given = take();
  return given?.details?.id === sessionId
    ? ({ ...given, details: readDetails(given.details) } as Given)
    : null;
}

/** All that a page of no session comes with. */
export function takeGivenTexts(): GivenTexts | null {
  return take()?.texts ?? null;
}

function take(): Partial<Given> | null {
  const element = document.getElementById("given");
  const text = element?.textContent ?? "";
  element?.remove();
  try {
    return JSON.parse(text, (_, value: unknown) => (typeof value === "string" ? shownText(value) : value));
  } catch {
    return null;
  }
}
