import { CallError, createClient, type Input, NoAnswerError, type Result } from "@assay/contract/client";
import type { Environment } from "@assay/contract/facts";
import type { RouteDefinition } from "@assay/contract/route";
import { shownText } from "@assay/contract/shown-text";
import { t } from "../i18n/words.ts";
import { chosenEnvironment } from "./chosen-environment.ts";
import { errorWords, loadErrorWords } from "./error-words.ts";
import { PageProblem } from "./page-problem.ts";

/**
 * The longest calls wait for the DNS, which has 10 seconds. Half the limit would give up on slow resolvers;
 * twice the limit would show "One moment…" for a minute.
 */
const timeLimitMs = 30_000;
const clientIn = (environment: () => Environment) =>
  createClient({
    baseUrl: "",
    fetch: (url, init) => fetch(url, init),
    timeLimitMs,
    readText: shownText,
    environment,
  });
const send = clientIn(chosenEnvironment);
const sendToLive = clientIn(() => "live");
const signedOutListeners = new Set<(route: RouteDefinition) => void>();

/** Registers a listener for an ended session, so that the page can ask to sign in again. */
export function onSignedOut(listener: (route: RouteDefinition) => void): () => void {
  signedOutListeners.add(listener);
  return () => signedOutListeners.delete(listener);
}

/** Calls the service that served this page; the session cookie authenticates the user. */
export function call<const R extends RouteDefinition>(route: R, input: Input<R>): Promise<Result<R>> {
  return watched(route, () => send(route, input));
}

/** Calls the service in live, whatever the page's environment. Only for setup before live is open. */
export function callInLive<const R extends RouteDefinition>(route: R, input: Input<R>): Promise<Result<R>> {
  return watched(route, () => sendToLive(route, input));
}

async function watched<T>(route: RouteDefinition, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof CallError) await loadErrorWords();
    if (hasCode(error, "UNAUTHORIZED") && !("public" in route.access))
      for (const listener of signedOutListeners) listener(route);
    throw error;
  }
}

export type Problem = {
  code: string;
  message: string;
  hint: string;
  /** Set if the message is not in the page's language. */
  lang?: "en" | undefined;
};

/** The error in words for the user. */
export function problemOf(error: unknown): Problem {
  if (error instanceof CallError) {
    const { code, message, hint } = error;
    return { code, ...(errorWords(code, message) ?? { message, hint, lang: "en" }) };
  }
  if (error instanceof SyntaxError) return { code: "UNREADABLE_ANSWER", ...t.api.unreadable };
  if (error instanceof NoAnswerError) return { code: "NO_ANSWER", ...t.api.noAnswer };
  if (error instanceof TypeError) return { code: "UNREACHABLE", ...t.api.unreachable };
  if (error instanceof PageProblem) return { code: "PAGE_PROBLEM", message: error.message, hint: "" };
  const unexpected = { code: "UNEXPECTED", ...t.api.unexpected };
  return error instanceof Error ? { ...unexpected, message: error.message } : unexpected;
}

export function hasCode(error: unknown, code: string): boolean {
  return error instanceof CallError && error.code === code;
}

/** Leaves out empty values, which a request must not carry. */
export function present<T extends Record<string, unknown>>(
  values: T,
): { [K in keyof T]?: Exclude<T[K], undefined | ""> } {
  return Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== undefined && value !== ""),
  ) as { [K in keyof T]?: Exclude<T[K], undefined | ""> };
}
