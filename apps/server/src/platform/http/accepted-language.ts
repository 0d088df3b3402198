/** The language that the header `Accept-Language` likes best of those that are offered; null where it likes none of them. */
export function acceptedLanguage<Language extends string>(
  header: string | undefined,
  offered: readonly Language[],
): Language | null {
  const wanted = (header ?? "")
    .slice(0, 300)
    .split(",")
    .map((part) => {
      const [tag = "", ...parameters] = part.split(";").map((text) => text.trim().toLowerCase());
      const weight = parameters.find((text) => text.startsWith("q="));
      return { primary: tag.split("-")[0], weight: weight === undefined ? 1 : Number(weight.slice(2)) };
    })
    .filter(({ weight }) => weight > 0 && weight <= 1)
    // The order of the header decides between equals: sorting keeps it.
    .sort((one, other) => other.weight - one.weight);
  for (const { primary } of wanted) {
    const found = offered.find((language) => language === primary);
    if (found !== undefined) return found;
  }
  return null;
}
