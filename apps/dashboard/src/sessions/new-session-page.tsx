import {
  defaultMethods,
  demandNames,
  type Method,
  methods,
  type PageLanguage,
  pageLanguages,
  requirementNames,
  sessionLifetimeMinutes,
} from "@assay/contract/facts";
import { type Preset, presets } from "@assay/contract/presets";
import { createSession, type Demand, listSessions } from "@assay/contract/sessions";
import { listEndpoints } from "@assay/contract/webhooks";
import { useNavigate } from "@tanstack/react-router";
import { useCallback, useEffect, useRef, useState } from "react";
import { call, present } from "../api/call.ts";
import { refresh, useList } from "../api/queries.ts";
import { usePlace } from "../shell/organization-context.ts";
import { Choices } from "../ui/choices.tsx";
import { CopyAs } from "../ui/copy-as.tsx";
import { Disclosure } from "../ui/disclosure.tsx";
import { Checkbox, Field, Group, Select } from "../ui/field.tsx";
import { Form, type Values, valuesOf } from "../ui/form.tsx";
import { Notice } from "../ui/notice.tsx";
import { Card, Heading } from "../ui/page.tsx";
import { pageLanguageNames } from "../ui/page-languages.ts";
import { AskedFields, askedFields } from "./asked-fields.tsx";
import { bindingLabel, requirementLabels } from "./evidence.tsx";
import { type SessionBody, shareFields } from "./session-body.ts";

const methodLabels: Record<Method, string> = {
  document_chip: "Passport or identity card (chip and face)",
  wallet_pid: "EU Digital Identity (PID) in a wallet",
  wallet_mdl: "Mobile driving licence in a wallet",
  wallet_age: "Proof of age in a wallet (age checks only)",
};

function bodyOf(values: Values): SessionBody {
  const allowed = values.all("methods");
  const demands = demandNames.map((name) => [name, values.raw(`require_${name}`) as Demand] as const);
  return {
    share_fields: shareFields(
      askedFields,
      (field) => ({ wish: values.raw(field), reason: values.text(`reason_${field}`) }),
      values.text("age"),
    ),
    // Defaults are left out of the request.
    ...(allowed.join() === defaultMethods.join() ? {} : { methods: allowed }),
    ...(demands.some(([, demand]) => demand === "required")
      ? { requirements: Object.fromEntries(demands) }
      : {}),
    ...present({
      redirect_url: values.text("redirect_url"),
      client_reference_id: values.text("client_reference_id"),
      locale: values.raw("locale") as PageLanguage,
      webhook_endpoint_id: values.raw("webhook_endpoint_id"),
    }),
  } as SessionBody;
}

export function NewSessionPage() {
  const { environment } = usePlace();
  const navigate = useNavigate();
  const [presetId, setPresetId] = useState<Preset["id"]>("age");
  const [body, setBody] = useState<SessionBody>({});
  const form = useRef<HTMLDivElement>(null);
  // One key for one session, however often the button is pressed.
  const [idempotencyKey, setIdempotencyKey] = useState(() => crypto.randomUUID());
  const follow = useCallback(() => {
    const element = form.current?.querySelector("form");
    if (element) setBody(bodyOf(valuesOf(new FormData(element))));
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another preset is other fields, which are there after it is shown.
  useEffect(follow, [follow, presetId]);
  return (
    <div className="max-w-3xl xl:max-w-none">
      <Heading title="Create session" crumbs={[{ label: "Sessions", to: "/dashboard/sessions" }]} />
      {environment === "sandbox" ? (
        <Notice kind="info">
          Sandbox sessions accept test documents only. They expire after {sessionLifetimeMinutes} minutes.
        </Notice>
      ) : (
        <Notice kind="warn">You are in live: this session is for a real person with a real document.</Notice>
      )}
      <div className="mt-6 items-start gap-6 xl:grid xl:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
        <div ref={form} onInput={follow} onChange={follow}>
          <Card>
            <Form
              submit="Create session"
              onSubmit={async (values) => {
                try {
                  const { data } = await call(createSession, { idempotencyKey, body: bodyOf(values) });
                  await refresh(listSessions);
                  await navigate({ to: "/dashboard/sessions/$sessionId", params: { sessionId: data.id } });
                } catch (error) {
                  // A request that was refused may be corrected and gets a new key. One without an answer keeps its key, so
                  // that repeating it creates no second session.
                  if (!(error instanceof TypeError)) setIdempotencyKey(crypto.randomUUID());
                  throw error;
                }
              }}
            >
              <Choices
                legend="What to verify"
                options={presets.map(({ id, label, about }) => ({ value: id, label, about }))}
                value={presetId}
                onChange={setPresetId}
              />
              <AskedFields key={presetId} preset={presetId} onShown={follow} />
              <MoreChoices />
            </Form>
          </Card>
        </div>
        <Card title="API request">
          <CopyAs request={{ url: `${window.location.origin}/v1/sessions`, body }} />
        </Card>
      </div>
    </div>
  );
}

function MoreChoices() {
  const endpoints = useList(listEndpoints, { query: { limit: 100, enabled: true } });
  return (
    <>
      <Field
        label="Reference"
        name="client_reference_id"
        optional
        maxLength={200}
        hint="For example, an order number. No personal data."
      />
      <Disclosure isNeeded title="More options">
        <div className="space-y-4">
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
                defaultChecked={defaultMethods.includes(method)}
              />
            ))}
          </Group>
          <fieldset className="space-y-4">
            <legend className="mb-1 font-medium">Document requirements</legend>
            <p className="text-small text-muted">
              Issuer signature, liveness and face match are always checked. Stricter requirements exclude
              people whose document does not support them.
            </p>
            {requirementNames.map((name) => (
              <Select
                key={name}
                label={requirementLabels[name]}
                name={`require_${name}`}
                options={[
                  { value: "preferred", label: "If supported" },
                  { value: "required", label: "Required" },
                ]}
              />
            ))}
            <Select
              label={bindingLabel}
              name="require_binding"
              options={[
                { value: "preferred", label: "Another device allowed" },
                { value: "required", label: "Required" },
              ]}
            />
          </fieldset>
          <Select
            label="Language"
            name="locale"
            options={[
              { value: "", label: "Automatic" },
              ...pageLanguages.map((language) => ({ value: language, label: pageLanguageNames[language] })),
            ]}
          />
          <Field
            label="Return URL"
            name="redirect_url"
            type="url"
            optional
            maxLength={2048}
            hint="Leave empty to show a closing page."
          />
          <Select
            label="Webhook endpoint"
            name="webhook_endpoint_id"
            options={[
              { value: "", label: "All subscribed endpoints" },
              ...endpoints.items.map(({ id, name, url }) => ({ value: id, label: name ?? url })),
            ]}
          />
        </div>
      </Disclosure>
    </>
  );
}
