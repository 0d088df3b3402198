import {
  defaultMethods,
  demandNames,
  type Method,
  methods,
  type PageLanguage,
  pageLanguages,
  requirementNames,
} from "@assay/contract/facts";
import { type Preset, presets } from "@assay/contract/presets";
import type { Demand } from "@assay/contract/sessions";
import { useState } from "react";
import { present } from "../api/call.ts";
import { t } from "../i18n/words.ts";
import { Choices } from "../ui/choices.tsx";
import { Checkbox, Field, Group, Select } from "../ui/field.tsx";
import type { Values } from "../ui/form.tsx";
import { languageName } from "../ui/page-languages.ts";
import { AskedFields, askedShares } from "./asked-fields.tsx";
import { presetShares, type SessionBody } from "./session-body.ts";

/** The part of a request that a template can hold. */
export type RequestOptions = Pick<
  SessionBody,
  "share_fields" | "methods" | "requirements" | "locale" | "redirect_url"
>;

/** The values of the form. Defaults are left out. */
export function optionsOf(values: Values): RequestOptions {
  const allowed = values.all("methods") as Method[];
  const demands = demandNames.map((name) => [name, values.raw(`require_${name}`) as Demand] as const);
  return {
    share_fields: askedShares(values),
    ...(allowed.join() === defaultMethods.join() ? {} : { methods: allowed }),
    ...(demands.some(([, demand]) => demand === "required")
      ? { requirements: Object.fromEntries(demands) }
      : {}),
    ...present({ redirect_url: values.text("redirect_url"), locale: values.raw("locale") as PageLanguage }),
  };
}

/** A preset to begin with, and its fields. */
export function PresetFields({ onShown }: { onShown?: () => void }) {
  const [presetId, setPresetId] = useState<Preset["id"]>("age");
  const preset = presets.find(({ id }) => id === presetId);
  return (
    <>
      <Choices
        legend={t.sessions.whatToVerify}
        options={presets.map(({ id }) => ({
          value: id,
          label: t.sessions.preset[id],
          about: t.sessions.presetAbout[id],
        }))}
        value={presetId}
        onChange={setPresetId}
      />
      <AskedFields
        key={presetId}
        shares={preset === undefined ? {} : presetShares(preset)}
        {...(onShown === undefined ? {} : { onShown })}
      />
    </>
  );
}

/** How the person is verified, and where the verify page leads afterwards. */
export function OptionFields({ options = {} }: { options?: RequestOptions }) {
  const allowed = options.methods ?? defaultMethods;
  const demandOf = (name: (typeof demandNames)[number]) => options.requirements?.[name] ?? "preferred";
  return (
    <>
      <Group legend={t.sessions.methods} hint={t.sessions.methodsHint}>
        {methods.map((method) => (
          <Checkbox
            key={method}
            name="methods"
            value={method}
            label={t.sessions.methodOption[method]}
            defaultChecked={allowed.includes(method)}
          />
        ))}
      </Group>
      <fieldset className="space-y-4">
        <legend className="mb-1 font-medium">{t.sessions.requirements}</legend>
        <p className="text-small text-muted">{t.sessions.requirementsHint}</p>
        {requirementNames.map((name) => (
          <Select
            key={name}
            label={t.sessions.requirement[name]}
            name={`require_${name}`}
            defaultValue={demandOf(name)}
            options={[
              { value: "preferred", label: t.sessions.ifSupported },
              { value: "required", label: t.sessions.required },
            ]}
          />
        ))}
        <Select
          label={t.sessions.requirement.binding}
          name="require_binding"
          defaultValue={demandOf("binding")}
          options={[
            { value: "preferred", label: t.sessions.otherDevice },
            { value: "required", label: t.sessions.required },
          ]}
        />
      </fieldset>
      <Select
        label={t.ui.language}
        name="locale"
        defaultValue={options.locale ?? ""}
        options={[
          { value: "", label: t.sessions.automatic },
          ...pageLanguages.map((language) => ({ value: language, label: languageName(language) })),
        ]}
      />
      <Field
        label={t.sessions.returnUrl}
        name="redirect_url"
        type="url"
        optional
        maxLength={2048}
        defaultValue={options.redirect_url ?? ""}
        hint={t.sessions.returnUrlHint}
      />
    </>
  );
}
