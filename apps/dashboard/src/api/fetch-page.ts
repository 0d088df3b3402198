import { type AnyRouter, redirect } from "@tanstack/react-router";
import { useSyncExternalStore } from "react";

/** The address that could not be opened, until another one is. */
let unopened: string | null = null;
const listeners = new Set<() => void>();

function setUnopened(href: string | null): void {
  if (unopened === href) return;
  unopened = href;
  for (const listener of listeners) listener();
}

export function useUnopened(): string | null {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => unopened,
  );
}

/** As the router's lazy components are: the function that fetches the program is gone once it is there. */
type Component = { preload?: (() => Promise<unknown>) | undefined };

async function isFetched(component: Component | undefined): Promise<boolean> {
  await component?.preload?.();
  return component?.preload === undefined;
}

async function isServiceThere(): Promise<boolean> {
  if (!navigator.onLine) return false;
  return fetch("/healthz", { cache: "no-store" }).then(
    ({ ok }) => ok,
    () => false,
  );
}

/**
 * Fetches the program of a page before the page that is shown is left. Without a network that one stays, with what was
 * typed into it. The router would load the document again, and the browser would put its own error page there. Where
 * the service answers, a new release has taken the place of the file, and a fresh document helps.
 */
export async function fetchPage(
  router: AnyRouter,
  routeIds: readonly string[],
  wanted: string,
): Promise<void> {
  const shown = router.state.resolvedLocation?.href;
  const components = routeIds.map((id): Component | undefined => router.routesById[id]?.options.component);
  const fetched = await Promise.all(components.map(isFetched));
  if (fetched.every(Boolean)) {
    // Not where the router only goes back to the page that stayed.
    if (wanted !== shown) setUnopened(null);
    return;
  }
  if (shown === undefined) return;
  if (await isServiceThere()) {
    window.location.assign(wanted);
    await new Promise(() => {});
  }
  setUnopened(wanted);
  throw redirect({ href: shown, replace: true });
}
