import { type PageLanguage, pageLanguages } from "@assay/contract/facts";
import type { Preset } from "@assay/contract/presets";
import type { BodyOf } from "@assay/contract/route";
import { ageClaim, type createSession } from "@assay/contract/sessions";

export type SessionBody = NonNullable<BodyOf<typeof createSession>>;
export type Shares = NonNullable<SessionBody["share_fields"]>;
export type Reasons = Partial<Record<PageLanguage, string>>;

export const adultAge = "18";

/** The requested fields, from the form's choice for each: `no`, `optional` or `required`. */
export function shareFields(
  fields: readonly string[],
  read: (field: string) => { wish: string; reason: string; reasons?: Reasons },
  age: string,
): Shares {
  const asked = fields.flatMap((field) => {
    const { wish, reason, reasons } = read(field);
    if (wish !== "optional" && wish !== "required") return [];
    const key = field === "age_over" ? `${ageClaim.prefix}${age}` : field;
    const given = pageLanguages.flatMap((language) => {
      const text = reasons?.[language]?.trim();
      return text ? [[language, text]] : [];
    });
    const translated = given.length === 0 ? {} : { reasons: Object.fromEntries(given) };
    return [[key, { required: wish === "required", reason, ...translated }] as const];
  });
  return Object.fromEntries(asked);
}

/** The fields of an unchanged preset. */
export function presetShares({ wishes }: Preset): Shares {
  const read = (field: string) => {
    const wish = wishes[field];
    return { wish: wish?.required ? "required" : "optional", reason: wish?.reason ?? "" };
  };
  return shareFields(Object.keys(wishes), read, adultAge);
}

/** The request of an unchanged preset. */
export function presetBody(preset: Preset): SessionBody {
  return { share_fields: presetShares(preset) };
}
