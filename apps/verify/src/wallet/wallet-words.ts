import type { PageLanguage } from "@assay/contract/facts";
import type en from "../../wallet-texts/en.json";

export type WalletWords = typeof en;

/** Each language is a separate file, and each person loads one. */
const files = import.meta.glob<{ default: WalletWords }>("../../wallet-texts/*.json");

export async function loadWalletWords(language: PageLanguage): Promise<WalletWords> {
  const load = files[`../../wallet-texts/${language}.json`];
  if (load === undefined) throw new Error(`No words for wallets in ${language}`);
  return (await load()).default;
}
