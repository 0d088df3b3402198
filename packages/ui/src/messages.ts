/** A text that depends on a number: one form for each category of plurals that the language has (`Intl.PluralRules`). */
export type Plural = { readonly other: string } & {
  readonly [Category in "zero" | "one" | "two" | "few" | "many"]?: string;
};

/** The file of a language: the keys of English with texts, in which `{name}` is a place to fill. */
export type TextsOf<T> = T extends string
  ? string
  : T extends { readonly other: string }
    ? Plural
    : { readonly [K in keyof T]: TextsOf<T[K]> };

/** The names of the places of each text that has some, by its path. The one place of a plural is `{count}`. */
export type Places = Readonly<Record<string, readonly string[]>>;

type Value = string | number;
/** A text with one place is filled with a value, one with several by their names. */
type Filled<Names extends readonly string[]> = Names extends readonly [string]
  ? (value: Value) => string
  : (values: Readonly<Record<Names[number], Value>>) => string;

/** The words of a page: a text without places is a string, one with places or plural forms is a function. */
export type MessagesOf<T, P extends Places, Path extends string = ""> = T extends string
  ? Path extends keyof P
    ? Filled<P[Path]>
    : string
  : T extends { readonly other: string }
    ? (count: number) => string
    : {
        readonly [K in keyof T & string]: MessagesOf<T[K], P, Path extends "" ? K : `${Path}.${K}`>;
      };

type Options = {
  /** For plurals. */
  language: string;
  /** For numbers, where it is another. */
  intlTag?: string;
  isRightToLeft?: boolean;
};

/** Makes the words of a page from the file of a language. The caller names their type. */
export function readMessages(texts: unknown, options: Options): unknown {
  const { language, intlTag = language, isRightToLeft = false } = options;
  const plurals = new Intl.PluralRules(language);
  const numbers = new Intl.NumberFormat(intlTag);
  // A name in another direction of writing must not pull the words around it along (first strong isolate).
  const [before, after] = isRightToLeft ? ["\u2068", "\u2069"] : ["", ""];
  const shown = (value: Value) =>
    typeof value === "number" ? numbers.format(value) : before + value + after;
  const fill = (text: string, values: Value | Readonly<Record<string, Value>>) =>
    text.replace(/\{(\w+)\}/g, (place, name: string) =>
      shown(typeof values === "object" ? (values[name] ?? place) : values),
    );
  const read = (value: unknown): unknown => {
    if (typeof value === "string")
      return value.includes("{") ? (values: Value) => fill(value, values) : value;
    const inner = value as Readonly<Record<string, unknown>>;
    if (typeof inner.other === "string") {
      const forms = inner as Plural;
      return (count: number) => fill(forms[plurals.select(count)] ?? forms.other, count);
    }
    return Object.fromEntries(Object.entries(inner).map(([key, part]) => [key, read(part)]));
  };
  return read(texts);
}
