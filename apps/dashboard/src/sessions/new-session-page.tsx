import {
  type PageLanguage,
  pageLanguages,
  requirementNames,
  sessionLifetimeMinutes,
} from "@assay/contract/facts";
import { ageClaim, claimKeys, createSession, type Demand, listSessions } from "@assay/contract/sessions";
import { listEndpoints } from "@assay/contract/webhooks";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { call, present } from "../api/call.ts";
import { refresh, useList } from "../api/queries.ts";
import { usePlace } from "../shell/organization-context.ts";
import { LinkButton } from "../ui/button.tsx";
import { Field, Select } from "../ui/field.tsx";
import { Form } from "../ui/form.tsx";
import { Notice } from "../ui/notice.tsx";
import { Card, Heading } from "../ui/page.tsx";
import { requirementLabels } from "./evidence.tsx";
import { pageLanguageNames } from "./page-languages.ts";

// It is always part of a session, so nobody has to ask for it.
const fields = [...claimKeys.filter((key) => key !== "service_document_id"), "age_over"] as const;
type Wish = "no" | "optional" | "required";

const labels: Record<(typeof fields)[number], string> = {
  document_type_code: "Type of document",
  issuing_country_code: "Issuing country",
  family_name: "Family name",
  given_names: "Given names",
  document_number: "Document number",
  nationality_code: "Nationality",
  date_of_birth: "Date of birth",
  sex_marker: "Sex marker",
  document_expiry_date: "Expiry date",
  mrz_optional_data: "Optional data of the MRZ",
  age_over: "Is at least this old",
};

export function NewSessionPage() {
  const { environment } = usePlace();
  const navigate = useNavigate();
  const endpoints = useList(listEndpoints, { query: { limit: 100, enabled: true } });
  // One key for one session, however often the button is pressed.
  const [idempotencyKey, setIdempotencyKey] = useState(() => crypto.randomUUID());
  return (
    <div className="max-w-3xl">
      <Heading title="Create a session">
        <LinkButton to="/dashboard/sessions">All sessions</LinkButton>
      </Heading>
      {environment === "sandbox" ? (
        <Notice kind="info">
          A sandbox session accepts test documents only. It lives for {sessionLifetimeMinutes} minutes.
        </Notice>
      ) : (
        <Notice kind="warn">You are in live: the session is for a real person and a real document.</Notice>
      )}
      <Card>
        <Form
          submit="Create session"
          onSubmit={async (values) => {
            const asked = fields.flatMap((field) => {
              const wish = values.raw(field) as Wish;
              if (wish === "no" || values.raw(field) === "") return [];
              const key = field === "age_over" ? `${ageClaim.prefix}${values.text("age")}` : field;
              return [
                [key, { required: wish === "required", reason: values.text(`reason_${field}`) }] as const,
              ];
            });
            try {
              const { data } = await call(createSession, {
                idempotencyKey,
                body: {
                  share_fields: Object.fromEntries(asked),
                  requirements: Object.fromEntries(
                    requirementNames.map((name) => [name, values.raw(`require_${name}`) as Demand]),
                  ),
                  ...present({
                    redirect_url: values.text("redirect_url"),
                    client_reference_id: values.text("client_reference_id"),
                    locale: values.raw("locale") as PageLanguage,
                    webhook_endpoint_id: values.raw("webhook_endpoint_id"),
                  }),
                },
              });
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
          <fieldset>
            <legend className="mb-1 font-medium">What the person is asked to share</legend>
            <p className="mb-3 text-sm text-muted">
              Ask for what you need and say why; the person reads the reason. A code that stands for the
              document is always part of it.
            </p>
            <div className="divide-y divide-line">
              {fields.map((field) => (
                <AskedField key={field} field={field} />
              ))}
            </div>
          </fieldset>
          <fieldset className="space-y-4">
            <legend className="mb-1 font-medium">What the document must be able to do</legend>
            <p className="text-sm text-muted">
              Data signed by the state, and a living face that fits the portrait, are always checked. What you
              require beyond that shuts out people whose document cannot do it.
            </p>
            {requirementNames.map((name) => (
              <Select
                key={name}
                label={requirementLabels[name]}
                name={`require_${name}`}
                options={[
                  { value: "preferred", label: "Preferred: where the document allows it" },
                  { value: "required", label: "Required: a document that cannot do it fails" },
                ]}
              />
            ))}
          </fieldset>
          <Select
            label="Language of the person's page"
            name="locale"
            options={[
              { value: "", label: "The one of their browser" },
              ...pageLanguages.map((language) => ({ value: language, label: pageLanguageNames[language] })),
            ]}
          />
          <Field
            label="Where the person is sent afterwards"
            name="redirect_url"
            type="url"
            optional
            maxLength={2048}
            hint="Left out, this service shows a closing page."
          />
          <Field
            label="Your reference"
            name="client_reference_id"
            optional
            maxLength={200}
            hint="Such as an order number. Nothing personal."
          />
          <Select
            label="Tell the outcome to"
            name="webhook_endpoint_id"
            options={[
              { value: "", label: "Every endpoint that subscribed to it" },
              ...endpoints.items.map(({ id, name, url }) => ({ value: id, label: name ?? url })),
            ]}
          />
        </Form>
      </Card>
    </div>
  );
}

function AskedField({ field }: { field: (typeof fields)[number] }) {
  const [wish, setWish] = useState<Wish>(field === "age_over" ? "required" : "no");
  const label = labels[field];
  return (
    <div className="py-3">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <span className="font-medium">{label}</span>
        <select
          name={field}
          aria-label={label}
          value={wish}
          onChange={(event) => setWish(event.currentTarget.value as Wish)}
          className="min-h-9 rounded-lg border border-edge bg-card px-2 text-ink"
        >
          <option value="no">Do not ask</option>
          <option value="optional">Optional</option>
          <option value="required">Required</option>
        </select>
      </div>
      {wish === "no" ? null : (
        <div className={field === "age_over" ? "mt-2 grid gap-3 sm:grid-cols-[8rem_1fr]" : "mt-2"}>
          {field === "age_over" ? (
            <Field label="Age" name="age" inputMode="numeric" pattern="[0-9]{2,3}" defaultValue="18" />
          ) : null}
          <Field
            label={`Reason for ${label.toLowerCase()}`}
            name={`reason_${field}`}
            maxLength={200}
            defaultValue={field === "age_over" ? "We may only serve adults." : ""}
          />
        </div>
      )}
    </div>
  );
}
