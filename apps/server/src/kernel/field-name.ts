/** A field by the names that lead to it. They come from the caller: they are cut so that an answer stays an answer. */
export function joinNames(names: readonly string[]): string {
  const shown = names.length > 8 ? [...names.slice(0, 8), "…"] : names;
  return shown.map((name) => (name.length > 80 ? `${name.slice(0, 80)}…` : name)).join(".");
}
