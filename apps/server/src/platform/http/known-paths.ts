import type { RouteDefinition } from "@assay/contract/route";

type KnownRoute = { method: string; pattern: RegExp; definition: RouteDefinition | undefined };

/**
 * All mounted routes, to find the methods and the intended route of a path without a match. A linear search,
 * because only failed requests need it.
 */
export class KnownPaths {
  readonly #routes: KnownRoute[] = [];

  add(method: string | readonly string[], path: string, definition?: RouteDefinition): void {
    for (const one of [method].flat())
      this.#routes.push({ method: one, pattern: pathPattern(path), definition });
  }

  /** The methods of a path, in alphabetical order; empty if there is no such path. */
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

/** The path of a route as a pattern for request paths, with an optional trailing slash. */
export function pathPattern(path: string): RegExp {
  const source = path
    .replaceAll(/[.+?^${}()|[\]\\]/g, "\\$&")
    .replaceAll(/:[A-Za-z_]+/g, "[^/]+")
    .replaceAll("*", ".*");
  return new RegExp(`^${source.replace(/\/$/, "")}/?$`);
}
