import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Config } from "../../config.ts";
import { ConfigError } from "../../settings/config-error.ts";

export type RpTerms = { version: string; hash: string; jurisdiction: string; text: string };

const builtIn = new URL("../../../terms/relying-party-terms.md", import.meta.url);

/** The operator's text, or the built-in one. Read once at the start. */
export function loadRpTerms(
  config: Pick<Config, "rpTermsFile" | "rpTermsVersion" | "rpTermsJurisdiction">,
): RpTerms {
  const file = config.rpTermsFile === "" ? builtIn : config.rpTermsFile;
  let bytes: Buffer;
  let text: string;
  try {
    bytes = readFileSync(file);
    // The byte order mark is kept, so that the hash of the text equals the hash of the file.
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw new ConfigError([`RP_TERMS_FILE cannot be read as UTF-8 text: ${(error as Error).message}.`]);
  }
  if (text.trim() === "") throw new ConfigError(["RP_TERMS_FILE is empty."]);
  const hash = `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
  return { version: config.rpTermsVersion, hash, jurisdiction: config.rpTermsJurisdiction, text };
}

export function isCurrent(
  acceptance: { termsVersion: string; termsHash: string; jurisdiction: string } | null,
  terms: RpTerms,
): boolean {
  return (
    acceptance !== null &&
    acceptance.termsVersion === terms.version &&
    acceptance.termsHash === terms.hash &&
    acceptance.jurisdiction === terms.jurisdiction
  );
}
