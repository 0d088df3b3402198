import type { RouteDefinition } from "@assay/contract/route";

type KnownRoute = { method: string; pattern: RegExp; definition: RouteDefinition | undefined };

/**
 * Every route that was mounted, to be asked about a path that the router found none for: which methods it has, and which
 * route was meant. Looked through one by one, because only requests that go wrong ask.
 */
export class KnownPaths {
  readonly #routes: KnownRoute[] = [];

  add(method: string | readonly string[], path: string, definition?: RouteDefinition): void {
    for (const one of [method].flat())
      this.#routes.push({ method: one, pattern: pathPattern(path), definition });
  }

  /** The methods of a path, in the order of the alphabet; empty where there is no such path. */
  methodsAt(path: string): string[] {
    const found = this.#routes.filter(({ pattern }) => pattern.test(path));
    return [...new Set(found.map(({ method }) => method))].sort();
  }

  routeAt(method: string, path: string): RouteDefinition | undefined {
    return this.#routes.find((route) => route.method === method && route.pattern.test(path))?.definition;
  }
}

export function pathOf(url: string): string {
  const end = url.indexOf("?");
  return end < 0 ? url : url.slice(0, end);
}

/** A path of a route as a pattern for paths of requests, of which one slash at the end is ignored. */
export function pathPattern(path: string): RegExp {
  const source = path
    .replaceAll(/[.+?^${}()|[\]\\]/g, "\\$&")
    .replaceAll(/:[A-Za-z_]+/g, "[^/]+")
    .replaceAll("*", ".*");
  return new RegExp(`^${source.replace(/\/$/, "")}/?$`);
}
