import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { defaultMethods, type Method, type PageLanguage, pageLanguages } from "@assay/contract/facts";
import type { ConsentVariant } from "@assay/contract/verify";
import type { Config } from "../../config.ts";
import { ConfigError } from "../../settings/config-error.ts";

/**
 * `wallet_paragraphs`: for sessions that a wallet can answer, if they differ. `reviewed`: false for a
 * translation that no lawyer has read.
 */
export type ConsentText = {
  title: string;
  paragraphs: string[];
  wallet_paragraphs?: string[];
  reviewed: boolean;
};
/** English always exists and is binding; the page shows it if a language is missing. */
type TextsByLanguage = { en: ConsentText } & Partial<Record<PageLanguage, ConsentText>>;
export type ConsentTexts = { version: string; hash: string; texts: TextsByLanguage };

const builtIn = new URL("../../../terms/consent-texts.json", import.meta.url);

/** The operator's texts, or those that come with the service. Read once, when the service starts. */
export function loadConsentTexts({ consentTextsFile }: Pick<Config, "consentTextsFile">): ConsentTexts {
  try {
    const bytes = readFileSync(consentTextsFile === "" ? builtIn : consentTextsFile);
    const parsed = parseConsentTexts(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    return { ...parsed, hash: `sha256:${createHash("sha256").update(bytes).digest("hex")}` };
  } catch (error) {
    throw new ConfigError([`CONSENT_TEXTS_FILE cannot be used: ${(error as Error).message}.`]);
  }
}

/** Throws an error whose message ends a sentence. */
export function parseConsentTexts(text: string): Omit<ConsentTexts, "hash"> {
  const file = JSON.parse(text) as { version?: unknown; texts?: Record<string, unknown> } | null;
  const version = file?.version;
  if (typeof version !== "string" || !/^[A-Za-z0-9][A-Za-z0-9.-]{0,59}$/.test(version))
    throw new Error("`version` must be 1 to 60 letters, digits, dots and hyphens");
  const texts: Partial<Record<PageLanguage, ConsentText>> = {};
  for (const language of pageLanguages) {
    const text = file?.texts?.[language];
    if (text === undefined && language !== "en") continue;
    const { title, paragraphs, reviewed = true } = (text ?? {}) as Record<string, unknown>;
    if (!isText(title)) throw new Error(`\`texts.${language}.title\` is missing`);
    if (!Array.isArray(paragraphs) || paragraphs.length === 0 || !paragraphs.every(isParagraph))
      throw new Error(
        `\`texts.${language}.paragraphs\` must be a list of texts, or of texts for \`document\` and \`wallet\``,
      );
    if (typeof reviewed !== "boolean")
      throw new Error(`\`texts.${language}.reviewed\` must be true or false`);
    const read = { title, ...readParagraphs(paragraphs), reviewed };
    if ((read.wallet_paragraphs === undefined) !== ((texts.en ?? read).wallet_paragraphs === undefined))
      throw new Error(`\`texts.${language}.paragraphs\` must differ for wallets exactly where English does`);
    texts[language] = read;
  }
  return { version, texts: texts as TextsByLanguage };
}

/** The same text for every method, or one for documents and one for wallets. */
type Paragraph = string | { document: string; wallet: string };

function readParagraphs(
  paragraphs: readonly Paragraph[],
): Pick<ConsentText, "paragraphs" | "wallet_paragraphs"> {
  const of = (way: "document" | "wallet") =>
    paragraphs.map((paragraph) => (typeof paragraph === "string" ? paragraph : paragraph[way]));
  const differs = paragraphs.some((paragraph) => typeof paragraph !== "string");
  return { paragraphs: of("document"), ...(differs ? { wallet_paragraphs: of("wallet") } : {}) };
}

/** The texts that the person sees and agrees to. */
export function shownText(
  { texts }: Pick<ConsentTexts, "texts">,
  methods: readonly Method[] | null,
): ConsentVariant {
  const byWallet = (methods ?? defaultMethods).some((method) => !defaultMethods.includes(method));
  return byWallet && texts.en.wallet_paragraphs !== undefined ? "wallet_paragraphs" : "paragraphs";
}

function isParagraph(value: unknown): value is Paragraph {
  if (typeof value !== "object" || value === null) return isText(value);
  const { document, wallet } = value as Record<string, unknown>;
  return isText(document) && isText(wallet);
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== "";
}
