/** Whether `Accept` prefers a page to data. Browsers name `text/html`; a wildcard does not count. */
export function prefersHtml(accept: string | undefined): boolean {
  const html = weightOf(accept, "text/html");
  return html > 0 && html >= weightOf(accept, "application/json");
}

/** 0 if the type is not named. */
function weightOf(accept: string | undefined, type: string): number {
  for (const part of (accept ?? "").slice(0, 1000).split(",")) {
    const [name, ...parameters] = part.split(";").map((text) => text.trim().toLowerCase());
    if (name !== type) continue;
    const weight = parameters.find((text) => text.startsWith("q="));
    return weight === undefined ? 1 : Number(weight.slice(2)) || 0;
  }
  return 0;
}
