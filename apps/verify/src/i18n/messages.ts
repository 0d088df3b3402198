import { directionOf } from "@assay/contract/facts";
import type en from "../../texts/en.json";

/** A text that depends on a number: one form for each category of plurals that the language has (`Intl.PluralRules`). */
export type Plural = { readonly other: string } & {
  readonly [Category in "zero" | "one" | "two" | "few" | "many"]?: string;
};

/** What the file of a language holds: the keys of English with texts, in which `{name}` is a place to fill. */
type TextsOf<T> = T extends string
  ? string
  : T extends { readonly other: string }
    ? Plural
    : { readonly [K in keyof T]: TextsOf<T[K]> };
export type Texts = TextsOf<typeof en>;

/** The texts with places, by their path. A plural is not listed: its one place is `{count}`. */
export const places = {
  "bound.text": ["name"],
  cancelAskText: ["name"],
  consentTitle: ["name"],
  "counter.need": ["name"],
  "counter.title": ["name"],
  domainProved: ["name"],
  expiredText: ["minutes"],
  faceProgress: ["movement", "movements"],
  failedAskAgain: ["name"],
  "frame.forgottenText": ["name"],
  handoffLostAll: ["name"],
  helpText: ["name"],
  notVerifiedSandbox: ["name"],
  notVerifiedText: ["name"],
  pickAll: ["count"],
  pickEnds: ["failure"],
  receiptGiven: ["moment"],
  returnTo: ["name"],
  "started.text": ["name"],
  succeededSeen: ["name"],
  succeededText: ["name"],
  wayDesk: ["name"],
  withdrawText: ["name"],
} as const;
type Places = typeof places;

type Value = string | number;
/** A text with one place is filled with a value, one with several by their names. */
type Filled<Names extends readonly string[]> = Names extends readonly [string]
  ? (value: Value) => string
  : (values: Readonly<Record<Names[number], Value>>) => string;

type MessagesOf<T, Path extends string> = T extends string
  ? Path extends keyof Places
    ? Filled<Places[Path]>
    : string
  : T extends { readonly other: string }
    ? (count: number) => string
    : {
        readonly [K in keyof T & string]: MessagesOf<T[K], Path extends "" ? K : `${Path}.${K}`>;
      };
/** The words of the page: a text without places is a string, one with places or plural forms is a function. */
export type Messages = MessagesOf<typeof en, "">;

/** For `Intl`: Arabic is written here with the digits that stand on the documents. */
export function intlTag(language: string): string {
  return language === "ar" ? "ar-u-nu-latn" : language;
}

export function messagesOf(texts: Texts, language: string): Messages {
  const plurals = new Intl.PluralRules(language);
  const numbers = new Intl.NumberFormat(intlTag(language));
  // A name in another direction of writing must not pull the words around it along (first strong isolate).
  const [before, after] = directionOf(language) === "rtl" ? ["\u2068", "\u2069"] : ["", ""];
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
  return read(texts) as Messages;
}
