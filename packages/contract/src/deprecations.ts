import type { RouteDefinition } from "./route.ts";

/** Days in UTC. `sunset` is null while no end is planned; `instead` says in a sentence what to use. */
export type Deprecation = { since: string; sunset: string | null; instead: string };
/** By the id of the route. */
export type Deprecations = Readonly<Record<string, Deprecation>>;

/** Every deprecated route. Response headers, the OpenAPI document and the page on versions come from here. */
export const deprecations: Deprecations = {};

/** `Deprecation` (RFC 9745), `Sunset` (RFC 8594), and where to read about it. */
export function deprecationHeaders({ since, sunset }: Deprecation): Record<string, string> {
  return {
    deprecation: `@${Date.parse(since) / 1000}`,
    ...(sunset === null ? {} : { sunset: new Date(sunset).toUTCString() }),
    link: '</docs/versioning#deprecation>; rel="deprecation"; type="text/html"',
  };
}

export function describeDeprecation({ since, sunset, instead }: Deprecation): string {
  return `Deprecated since ${since}${sunset === null ? "" : `, and gone from ${sunset} on`}. ${instead}`;
}

/** The table of the page on versions. */
export function listDeprecations(routes: readonly RouteDefinition[], of: Deprecations): string {
  const rows = routes.flatMap(({ id, method, path }) => {
    const deprecation = of[id];
    if (deprecation === undefined) return [];
    const { since, sunset, instead } = deprecation;
    return [`| \`${method} ${path}\` | ${since} | ${sunset ?? "not planned"} | ${instead} |`];
  });
  if (rows.length === 0) return "Nothing is deprecated at present.";
  return ["| Route | Since | Ends | Instead |", "| --- | --- | --- | --- |", ...rows].join("\n");
}
