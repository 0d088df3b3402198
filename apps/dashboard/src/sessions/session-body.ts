import type { Preset } from "@assay/contract/presets";
import type { BodyOf } from "@assay/contract/route";
import { ageClaim, type createSession } from "@assay/contract/sessions";

export type SessionBody = NonNullable<BodyOf<typeof createSession>>;
type Shares = NonNullable<SessionBody["share_fields"]>;

export const adultAge = "18";

/** The fields of a request from what a form says about each: `no`, `optional` or `required`. */
export function shareFields(
  fields: readonly string[],
  read: (field: string) => { wish: string; reason: string },
  age: string,
): Shares {
  const asked = fields.flatMap((field) => {
    const { wish, reason } = read(field);
    if (wish !== "optional" && wish !== "required") return [];
    const key = field === "age_over" ? `${ageClaim.prefix}${age}` : field;
    return [[key, { required: wish === "required", reason }] as const];
  });
  return Object.fromEntries(asked);
}

/** The request of a preset as it stands. */
export function presetBody({ wishes }: Preset): SessionBody {
  const read = (field: string) => {
    const wish = wishes[field];
    return { wish: wish?.required ? "required" : "optional", reason: wish?.reason ?? "" };
  };
  return { share_fields: shareFields(Object.keys(wishes), read, adultAge) };
}
