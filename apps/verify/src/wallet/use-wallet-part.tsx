import { type ReactNode, useCallback } from "react";
import { useWords } from "../i18n/language.ts";
import { loadPart } from "../ui/load-part.ts";
import { usePart } from "../ui/use-part.tsx";
import type * as walletScreens from "./wallet-screens.tsx";
import type { WalletWords } from "./wallet-words.ts";

/** The screens of wallets, and their words in the language of the page. */
export type WalletPart = { screens: typeof walletScreens; words: WalletWords };

/** Loaded for sessions that a wallet can answer: a part of it is on the first screen. */
export function useWalletPart(isNeeded: boolean): { part: WalletPart | null; instead: ReactNode } {
  const { language } = useWords();
  const load = useCallback(
    async () => ({
      screens: await loadPart(() => import("./wallet-screens.tsx")),
      words: await loadPart(async () => (await import("./wallet-words.ts")).loadWalletWords(language)),
    }),
    [language],
  );
  return usePart(isNeeded ? load : null);
}
