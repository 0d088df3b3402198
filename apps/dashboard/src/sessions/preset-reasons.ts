import type { Reasons, Shares } from "./session-body.ts";

/** The reasons of the presets in the other languages of the page, by the English one: a file that most visits never need. */
async function load(): Promise<Readonly<Record<string, Reasons>>> {
  const { default: texts } = await import("../../preset-reasons.json", { with: { type: "json" } });
  return texts;
}

function changed(shares: Shares, change: (field: Shares[string]) => Shares[string]): Shares {
  return Object.fromEntries(Object.entries(shares).map(([key, field]) => [key, change(field)]));
}

/** A reason that is still that of a preset is given in every language. One that somebody wrote is given as it was written. */
export async function withTranslations(shares: Shares): Promise<Shares> {
  const known = await load();
  return changed(shares, (field) => {
    const reasons = known[field.reason];
    return reasons === undefined || field.reasons !== undefined ? field : { ...field, reasons };
  });
}

/** The other way round, for a form: translations that only repeat the preset's would stay when the reason is changed. */
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
