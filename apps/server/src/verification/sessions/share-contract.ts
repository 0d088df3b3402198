import { type PageLanguage, pageLanguages } from "@assay/contract/facts";
import { shareLimits } from "@assay/contract/sessions";
import { unseenCharacters } from "@assay/contract/shown-text";
import { ageOf, isClaimKey } from "../evidence/claim-keys.ts";

type Reasons = Partial<Record<PageLanguage, string>>;
export type AskedFields = Readonly<
  Record<string, { required: boolean; reason: string; reasons?: Readonly<Reasons> }>
>;
export type ShareFields = Record<
  string,
  { required: boolean; reason: string; reasons?: Reasons; source: "rc" | "default" }
>;

type ShareProblem =
  | { kind: "unknown_key"; key: string }
  | { kind: "several_ages"; keys: readonly string[] }
  | { kind: "bad_reason"; key: string; at: "reason" | `reasons.${PageLanguage}`; problem: string };

const unseenCharacter = new RegExp(`[${unseenCharacters}]`, "u");

const documentIdKey = "service_document_id";
const documentIdReason = "Shows whether the same document is used again. It reveals nothing else.";

/**
 * The fields that the person will be asked to share. The document identifier is always included and required:
 * it gives the verification its value and does not identify the person.
 */
export function buildShareFields(
  asked: AskedFields | undefined,
): { fields: ShareFields } | { problem: ShareProblem } {
  const entries = Object.entries(asked ?? {});
  const unknown = entries.find(([key]) => !isClaimKey(key));
  if (unknown !== undefined) return { problem: { kind: "unknown_key", key: unknown[0] } };
  const ages = entries.map(([key]) => key).filter((key) => ageOf(key) !== null);
  if (ages.length > 1) return { problem: { kind: "several_ages", keys: ages } };

  const fields: ShareFields = {};
  for (const [key, field] of entries) {
    const reason = field.reason.trim();
    const reasons: Reasons = {};
    const problem = reasonProblem(reason);
    if (problem !== null) return { problem: { kind: "bad_reason", key, at: "reason", problem } };
    for (const language of pageLanguages) {
      const translated = field.reasons?.[language]?.trim();
      if (translated === undefined) continue;
      const problem = reasonProblem(translated);
      if (problem !== null)
        return { problem: { kind: "bad_reason", key, at: `reasons.${language}`, problem } };
      reasons[language] = translated;
    }
    fields[key] = {
      required: field.required || key === documentIdKey,
      reason,
      ...(Object.keys(reasons).length === 0 ? {} : { reasons }),
      source: "rc",
    };
  }
  fields[documentIdKey] ??= { required: true, reason: documentIdReason, source: "default" };
  return { fields };
}

/** The requested fields, without those that the service adds. */
export function askedOf(fields: ShareFields): AskedFields {
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([, { source }]) => source === "rc")
      .map(([key, { source: _, ...field }]) => [key, field]),
  );
}

function reasonProblem(reason: string): string | null {
  if (reason === "") return "must not be empty";
  if ([...reason].length > shareLimits.reasonCharacters)
    return `must have at most ${shareLimits.reasonCharacters} characters`;
  return unseenCharacter.test(reason) ? "must not hold control characters or other invisible ones" : null;
}
