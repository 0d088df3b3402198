/** The path of a field, as an error names it. Its parts come from the caller and may be long, so they are cut. */
export function joinNames(names: readonly string[]): string {
  const shown = names.length > 8 ? [...names.slice(0, 8), "…"] : names;
  return shown.map((name) => (name.length > 80 ? `${name.slice(0, 80)}…` : name)).join(".");
}
