import { idLengths } from "@assay/contract/facts";

const ids = Object.entries(idLengths).map(([prefix, length]) => `${prefix}_[A-Za-z0-9]{${length}}`);
const uuid = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}";
/** Words of routes, the version, and ids of ours. A secret is longer than a word. */
const shownSegment = new RegExp(`^(?:[a-z_-]{1,24}|v\\d|${[...ids, uuid].join("|")})$`);
/** No route has more. Limits the length of an arbitrary path. */
const maxSegments = 10;

/**
 * The path of a request in the API log: only parts that look like a route, and ids of ours. Short lower-case
 * words stay, so that a partner recognizes a mistyped route. Numbers, addresses, secrets and words with a
 * capital letter do not.
 */
export function shownPath(url: string): string {
  const end = url.indexOf("?");
  const segments = (end < 0 ? url : url.slice(0, end)).split("/", maxSegments + 1).slice(1);
  return `/${segments.map((segment) => (shownSegment.test(segment) || segment === "" ? segment : "…")).join("/")}`;
}
