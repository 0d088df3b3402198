import { ageClaim, type ClaimKey } from "@assay/contract/sessions";
import { t } from "../i18n/words.ts";

/** The label of a field that a person can share. */
export function claimLabel(key: string): string {
  if (key.startsWith(ageClaim.prefix)) return t.sessions.ageOver(key.slice(ageClaim.prefix.length));
  const labels: Readonly<Record<ClaimKey, string>> = t.sessions.claim;
  return key in labels ? labels[key as ClaimKey] : key.replaceAll("_", " ");
}
