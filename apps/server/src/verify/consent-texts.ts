import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { type PageLanguage, pageLanguages } from "@assay/contract/facts";
import { type Config, ConfigError } from "../config.ts";

export type ConsentText = { title: string; paragraphs: string[] };
export type ConsentTexts = { version: string; hash: string; texts: Record<PageLanguage, ConsentText> };

const builtIn = new URL("../../terms/consent-texts.json", import.meta.url);

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
    const { title, paragraphs } = (file?.texts?.[language] ?? {}) as {
      title?: unknown;
      paragraphs?: unknown;
    };
    if (!isText(title)) throw new Error(`\`texts.${language}.title\` is missing`);
    if (!Array.isArray(paragraphs) || paragraphs.length === 0 || !paragraphs.every(isText))
      throw new Error(`\`texts.${language}.paragraphs\` must be a list of texts`);
    texts[language] = { title, paragraphs };
  }
  return { version, texts: texts as Record<PageLanguage, ConsentText> };
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== "";
}
