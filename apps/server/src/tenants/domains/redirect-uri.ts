/**
 * A parsed redirect pattern. Addresses are compared by component and never as text, so that an address which
 * only begins or ends like the pattern does not match.
 */
export type RedirectPattern = {
  /** ASCII, lower case, without `*.`. */
  host: string;
  /** The pattern began with `*.`: exactly one more label precedes `host`. */
  wildcard: boolean;
  /** Percent-decoded. A match begins with all of them. */
  segments: readonly string[];
};

type PatternProblem = { problem: string };

const labelPattern = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/;

function isHostName(host: string): boolean {
  const labels = host.split(".");
  return (
    host.length <= 253 &&
    labels.length >= 2 &&
    labels.every((label) => labelPattern.test(label)) &&
    !/^[0-9]+$/.test(labels.at(-1) ?? "")
  );
}

/**
 * The segments of a path, or null if servers may read them differently. Causes: an encoded slash or
 * backslash, an encoded or decorated dot segment, double encoding, bytes that are not text.
 */
export function pathSegments(pathname: string): string[] | null {
  const segments: string[] = [];
  for (const raw of pathname.split("/").slice(1)) {
    let segment: string;
    try {
      segment = decodeURIComponent(raw);
    } catch {
      return null;
    }
    if (/[/\\\p{Cc}]/u.test(segment)) return null;
    if (/%[0-9a-f]{2}/i.test(segment)) return null;
    if (/^\.{1,2}(;|$)/.test(segment)) return null;
    segments.push(segment);
  }
  return segments;
}

/** Parses a pattern, or describes its problem. */
export function parseRedirectPattern(text: string): RedirectPattern | PatternProblem {
  if (/[\s\\\p{Cc}]/u.test(text)) return { problem: "must not contain white space or backslashes" };
  const match = /^https:\/\/(\*\.)?([^/?#]*)(.*)$/is.exec(text);
  if (match === null) return { problem: "must begin with https://" };
  const [, star, authority = "", rest = ""] = match;
  if (authority.includes("@")) return { problem: "must not contain credentials" };
  if (authority.includes("*")) return { problem: "may have `*` only as the first label of the host" };
  if (rest.includes("?")) return { problem: "must not have a query" };
  if (rest.includes("#")) return { problem: "must not have a fragment" };
  // Checked on the text: the URL parser would resolve these silently, and the pattern would change its
  // meaning.
  if (/(^|\/)(\.|%2e){1,2}(\/|$)/i.test(rest)) return { problem: "must not have dot segments in its path" };
  const url = URL.parse(`https://${authority}${rest}`);
  if (url === null || authority.includes("%")) return { problem: "has no valid host" };
  if (url.port !== "") return { problem: "must use the default port" };
  if (!isHostName(url.hostname)) return { problem: "has no valid host" };
  const segments = pathSegments(url.pathname);
  if (segments === null) return { problem: "has a path that servers may read differently" };
  if (segments.some((segment) => segment.includes("*"))) return { problem: "must not have `*` in its path" };
  // `/verified/` and `/verified` are the same.
  if (segments.at(-1) === "") segments.pop();
  if (segments.includes("")) return { problem: "must not have empty segments in its path" };
  return { host: url.hostname, wildcard: star !== undefined, segments };
}

/** The canonical form of a pattern: equivalent texts have the same form. */
export function formatRedirectPattern(pattern: RedirectPattern): string {
  const path = pattern.segments.map((segment) => `/${encodeURIComponent(segment)}`).join("");
  return `https://${pattern.wildcard ? "*." : ""}${pattern.host}${path}`;
}

/** Whether people may be redirected to this address. Any query and fragment is allowed. */
export function matchesRedirectPattern(pattern: RedirectPattern, url: URL): boolean {
  if (!isPlainHttps(url)) return false;
  if (!matchesHost(pattern, url.hostname)) return false;
  const segments = pathSegments(url.pathname);
  if (segments === null) return false;
  return pattern.segments.every((segment, i) => segments[i] === segment);
}

function matchesHost(pattern: RedirectPattern, hostname: string): boolean {
  if (!pattern.wildcard) return hostname === pattern.host;
  const dot = hostname.indexOf(".");
  return dot > 0 && hostname.slice(dot + 1) === pattern.host;
}

/** Https on the default port, without credentials, to a host name. */
export function isPlainHttps(url: URL): boolean {
  return (
    url.protocol === "https:" &&
    url.username === "" &&
    url.password === "" &&
    url.port === "" &&
    isHostName(url.hostname)
  );
}

/**
 * The host and every parent domain of at least two labels: `a.b.example` gives `a.b.example` and `b.example`.
 */
export function domainsAbove(hostname: string): string[] {
  const labels = hostname.split(".");
  return labels.slice(0, -1).map((_, i) => labels.slice(i).join("."));
}
