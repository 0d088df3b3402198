import { intlTag } from "../i18n/words.ts";

/** The separators of thousands and decimals, and the percent sign with its space. */
const signs: Readonly<Record<string, readonly [string, string, string]>> = {
  de: [".", ",", "\u00a0%"],
  fr: ["\u202f", ",", "\u00a0%"],
};

const signsOf = () => signs[intlTag] ?? [",", ".", "%"];

/** `12,345`, without Intl: it loads tables of the language first, and a page may show a hundred counts. */
export function countText(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, signsOf()[0]);
}

/** `47%`, and `0.4%` where a whole number would say nothing. */
export function percentText(share: number): string {
  const [, decimal, percent] = signsOf();
  return String(Number((100 * share).toFixed(share < 0.1 ? 1 : 0))).replace(".", decimal) + percent;
}
