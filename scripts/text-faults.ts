/** Every text by its path. A plural form has its category after a `#`; a value that is no text is null. */
export function textsIn(value: unknown, path = ""): [path: string, text: string | null][] {
  if (typeof value === "string") return [[path, value]];
  if (typeof value !== "object" || value === null) return [[path, null]];
  const isPlural = "other" in value;
  return Object.entries(value).flatMap(([key, part]) =>
    textsIn(part, isPlural ? `${path}#${key}` : path === "" ? key : `${path}.${key}`),
  );
}

export function placesOf(text: string): string[] {
  return [...new Set([...text.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name))].sort();
}

/** In which form a language puts a number. */
function categoriesOf(language: string): string[] {
  return [...new Intl.PluralRules(language).resolvedOptions().pluralCategories];
}

const keyOf = (path: string) => path.split("#")[0] ?? "";

/**
 * The faults of a language's texts compared with English, one sentence each.
 * `alike`: words that may be equal.
 */
export function textFaults(
  language: string,
  english: unknown,
  translated: unknown,
  alike: ReadonlySet<string> = new Set(),
): string[] {
  const source = new Map(textsIn(english));
  const texts = new Map(textsIn(translated));
  const faults: string[] = [];
  const fault = (path: string, what: string) => faults.push(`${language}: ${path} ${what}`);

  for (const path of source.keys()) {
    const key = keyOf(path);
    if (path === key && !texts.has(path)) fault(path, "is missing");
    if (path !== `${key}#other` || language === "en") continue;
    for (const category of categoriesOf(language))
      if (!texts.has(`${key}#${category}`)) fault(`${key}#${category}`, "is missing");
  }
  for (const [path, text] of texts) {
    const key = keyOf(path);
    const category = path === key ? null : path.slice(key.length + 1);
    const pattern = source.get(path) ?? (category === null ? undefined : source.get(`${key}#other`));
    if (text === null) fault(path, "is no text");
    else if (pattern === undefined || pattern === null) fault(path, "is not in English");
    else {
      if (category !== null && !categoriesOf(language).includes(category))
        fault(path, "is a form that the language does not have");
      if (text !== text.trim() || text.length < 2) fault(path, "is empty or has spaces around it");
      // "One minute" and "two minutes" may be words.
      const mayBeWords = category !== null && ["zero", "one", "two"].includes(category);
      const [own, wanted] = [placesOf(text).join(" "), placesOf(pattern).join(" ")];
      if (own !== wanted && !(mayBeWords && own === ""))
        fault(path, `has the places “${own}”, English has “${wanted}”`);
      if (language !== "en" && text === pattern && !/^\{\w+\}$/.test(text) && !alike.has(text))
        fault(path, `was left in English: ${text}`);
    }
  }
  return faults;
}
