import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { type PageLanguage, pageLanguages } from "@assay/contract/facts";
import type { Config } from "../../config.ts";
import { ConfigError } from "../../settings/config-error.ts";

/** `reviewed`: false for a translation that no lawyer has read. */
export type ConsentText = { title: string; paragraphs: string[]; reviewed: boolean };
/** English is always there, and binding; in a language that is missing the page shows English. */
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

/** Throws the rest of a sentence that says what is wrong. */
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
    if (!Array.isArray(paragraphs) || paragraphs.length === 0 || !paragraphs.every(isText))
      throw new Error(`\`texts.${language}.paragraphs\` must be a list of texts`);
    if (typeof reviewed !== "boolean")
      throw new Error(`\`texts.${language}.reviewed\` must be true or false`);
    texts[language] = { title, paragraphs, reviewed };
  }
  return { version, texts: texts as TextsByLanguage };
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== "";
}
