import { directionOf } from "@assay/contract/facts";
import { type MessagesOf, readMessages, type TextsOf } from "@assay/ui/messages";
import type en from "../../texts/en.json";

/** A text that depends on a number: one form per plural category of the language (`Intl.PluralRules`). */
export type Plural = { readonly other: string } & {
  readonly [Category in "zero" | "one" | "two" | "few" | "many"]?: string;
};

/** The content of a language file: the keys of English with texts, in which `{name}` is a placeholder. */
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
/** The texts of the page: a string without placeholders, a function with placeholders or plural forms. */
export type Messages = MessagesOf<typeof en, "">;

/** For `Intl`: Arabic uses the digits of the documents here. */
export function intlTag(language: string): string {
  return language === "ar" ? "ar-u-nu-latn" : language;
}

export function messagesOf(texts: Texts, language: string): Messages {
  const isRightToLeft = directionOf(language) === "rtl";
  return readMessages(texts, { language, intlTag: intlTag(language), isRightToLeft }) as Messages;
}
