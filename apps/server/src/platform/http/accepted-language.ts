/** The offered language that `Accept-Language` prefers; null if it names none of them. */
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
    // Equal weights keep the order of the header, because sorting is stable.
    .sort((one, other) => other.weight - one.weight);
  for (const { primary } of wanted) {
    const found = offered.find((language) => language === primary);
    if (found !== undefined) return found;
  }
  return null;
}
