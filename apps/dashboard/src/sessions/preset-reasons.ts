import type { Reasons, Shares } from "./session-body.ts";

/** The preset reasons in other languages, by the English one. Most visits never load this file. */
async function load(): Promise<Readonly<Record<string, Reasons>>> {
  const { default: texts } = await import("../../preset-reasons.json", { with: { type: "json" } });
  return texts;
}

function changed(shares: Shares, change: (field: Shares[string]) => Shares[string]): Shares {
  return Object.fromEntries(Object.entries(shares).map(([key, field]) => [key, change(field)]));
}

/** An unchanged reason of a preset is sent in every language; an edited one is sent as written. */
export async function withTranslations(shares: Shares): Promise<Shares> {
  const known = await load();
  return changed(shares, (field) => {
    const reasons = known[field.reason];
    return reasons === undefined || field.reasons !== undefined ? field : { ...field, reasons };
  });
}

/** The reverse, for a form: translations of the preset would outlive a change of the reason. */
export async function withoutTranslations(shares: Shares): Promise<Shares> {
  const known = await load();
  return changed(shares, (field) => {
    const { reasons, ...rest } = field;
    const preset = known[field.reason];
    const isPresets =
      preset !== undefined &&
      Object.keys(preset).length === Object.keys(reasons ?? {}).length &&
      Object.entries(preset).every(([language, text]) => reasons?.[language as keyof Reasons] === text);
    return isPresets ? rest : field;
  });
}
