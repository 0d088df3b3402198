export type Encoding = "br" | "gzip";

/** The values of an `Accept` header with their weights from 0 to 1; 0 for a weight that is not valid. */
function weightsOf(header: string | readonly string[] | undefined): Map<string, number> {
  const weights = new Map<string, number>();
  for (const part of String(header ?? "")
    .slice(0, 1000)
    .split(",")) {
    const [value = "", ...parameters] = part.split(";").map((text) => text.trim().toLowerCase());
    const given = parameters.find((text) => text.startsWith("q="));
    const weight = given === undefined ? 1 : Number(given.slice(2));
    weights.set(value, weight >= 0 && weight <= 1 ? weight : 0);
  }
  return weights;
}

/** The best of our encodings that `Accept-Encoding` allows, or null for a plain answer. */
export function acceptedEncoding(header: string | string[] | undefined): Encoding | null {
  const weights = weightsOf(header);
  return (["br", "gzip"] as const).find((name) => (weights.get(name) ?? weights.get("*") ?? 0) > 0) ?? null;
}

/** The offered language that `Accept-Language` prefers; null if it names none of them. */
export function acceptedLanguage<Language extends string>(
  header: string | undefined,
  offered: readonly Language[],
): Language | null {
  // Equal weights keep the order of the header, because sorting is stable.
  const wanted = [...weightsOf(header)].filter(([, weight]) => weight > 0).sort(([, a], [, b]) => b - a);
  for (const [tag] of wanted) {
    const found = offered.find((language) => language === tag.split("-")[0]);
    if (found !== undefined) return found;
  }
  return null;
}

/** Whether `Accept` prefers a page to data. Browsers name `text/html`; a wildcard does not count. */
export function prefersHtml(accept: string | undefined): boolean {
  const weights = weightsOf(accept);
  const html = weights.get("text/html") ?? 0;
  return html > 0 && html >= (weights.get("application/json") ?? 0);
}
