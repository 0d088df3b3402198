import { type AnyRouter, redirect } from "@tanstack/react-router";
import { sharedValue, useShared } from "../state/shared-value.ts";

/** The address that could not be opened, until another one opens. */
const unopened = sharedValue<string | null>(null);

export function useUnopened(): string | null {
  return useShared(unopened);
}

/** A lazy component of the router, which removes `preload` once the script is loaded. */
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
 * Loads a page's script before the router leaves the current page, which stays without a network. If the
 * service answers, a new release has replaced the script: a fresh document helps.
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
    // Not if the router only returns to the page that stayed.
    if (wanted !== shown) unopened.set(null);
    return;
  }
  if (shown === undefined) return;
  if (await isServiceThere()) {
    window.location.assign(wanted);
    await new Promise(() => {});
  }
  unopened.set(wanted);
  throw redirect({ href: shown, replace: true });
}
