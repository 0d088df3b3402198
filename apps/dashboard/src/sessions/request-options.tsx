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
import { Choices } from "../ui/choices.tsx";
import { Checkbox, Field, Group, Select } from "../ui/field.tsx";
import type { Values } from "../ui/form.tsx";
import { languageName } from "../ui/page-languages.ts";
import { AskedFields, askedShares } from "./asked-fields.tsx";
import { bindingLabel, requirementLabels } from "./evidence.tsx";
import { presetShares, type SessionBody } from "./session-body.ts";

/** What a template can hold of a request. */
export type RequestOptions = Pick<
  SessionBody,
  "share_fields" | "methods" | "requirements" | "locale" | "redirect_url"
>;

const methodLabels: Record<Method, string> = {
  document_chip: "Passport or identity card (chip and face)",
  wallet_pid: "EU Digital Identity (PID) in a wallet",
  wallet_mdl: "Mobile driving licence in a wallet",
  wallet_age: "Proof of age in a wallet (age checks only)",
};

/** What the form says. Defaults are left out. */
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
        legend="What to verify"
        options={presets.map(({ id, label, about }) => ({ value: id, label, about }))}
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

/** How somebody is verified, and where the page leads. */
export function OptionFields({ options = {} }: { options?: RequestOptions }) {
  const allowed = options.methods ?? defaultMethods;
  const demandOf = (name: (typeof demandNames)[number]) => options.requirements?.[name] ?? "preferred";
  return (
    <>
      <Group
        legend="Methods"
        hint="With a wallet method the session uses contract version 2, where service_document_id may be null. In live, the operator enables wallets."
      >
        {methods.map((method) => (
          <Checkbox
            key={method}
            name="methods"
            value={method}
            label={methodLabels[method]}
            defaultChecked={allowed.includes(method)}
          />
        ))}
      </Group>
      <fieldset className="space-y-4">
        <legend className="mb-1 font-medium">Document requirements</legend>
        <p className="text-small text-muted">
          Issuer signature, liveness and face match are always checked. Stricter requirements exclude people
          whose document does not support them.
        </p>
        {requirementNames.map((name) => (
          <Select
            key={name}
            label={requirementLabels[name]}
            name={`require_${name}`}
            defaultValue={demandOf(name)}
            options={[
              { value: "preferred", label: "If supported" },
              { value: "required", label: "Required" },
            ]}
          />
        ))}
        <Select
          label={bindingLabel}
          name="require_binding"
          defaultValue={demandOf("binding")}
          options={[
            { value: "preferred", label: "Another device allowed" },
            { value: "required", label: "Required" },
          ]}
        />
      </fieldset>
      <Select
        label="Language"
        name="locale"
        defaultValue={options.locale ?? ""}
        options={[
          { value: "", label: "Automatic" },
          ...pageLanguages.map((language) => ({ value: language, label: languageName(language) })),
        ]}
      />
      <Field
        label="Return URL"
        name="redirect_url"
        type="url"
        optional
        maxLength={2048}
        defaultValue={options.redirect_url ?? ""}
        hint="Leave empty to show a closing page."
      />
    </>
  );
}
