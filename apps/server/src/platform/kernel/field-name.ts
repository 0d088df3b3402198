/**
 * The path of a field for an error message. Its parts come from the caller and may be long, so they are
 * truncated.
 */
export function joinNames(names: readonly string[]): string {
  const shown = names.length > 8 ? [...names.slice(0, 8), "…"] : names;
  return shown.map((name) => (name.length > 80 ? `${name.slice(0, 80)}…` : name)).join(".");
}
