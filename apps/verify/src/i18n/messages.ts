import { directionOf } from "@assay/contract/facts";
import { type MessagesOf, readMessages, type TextsOf } from "@assay/ui/messages";
import type en from "../../texts/en.json";

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

export type Messages = MessagesOf<typeof en, typeof places>;

/** For `Intl`: Arabic is written here with the digits that stand on the documents. */
export function intlTag(language: string): string {
  return language === "ar" ? "ar-u-nu-latn" : language;
}

export function messagesOf(texts: Texts, language: string): Messages {
  const isRightToLeft = directionOf(language) === "rtl";
  return readMessages(texts, { language, intlTag: intlTag(language), isRightToLeft }) as Messages;
}
