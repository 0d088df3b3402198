import { sessionLifetimeMinutes } from "@assay/contract/facts";
import { createSession, listSessions } from "@assay/contract/sessions";
import { listTemplates } from "@assay/contract/templates";
import { listEndpoints } from "@assay/contract/webhooks";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { type ReactNode, useCallback, useEffect, useRef, useState } from "react";
import { call, present } from "../api/call.ts";
import { refresh, useList } from "../api/queries.ts";
import { Filled } from "../i18n/filled.tsx";
import { t } from "../i18n/words.ts";
import { useWorkspace } from "../shell/organization-context.ts";
import { CopyAs } from "../ui/copy-as.tsx";
import { Disclosure } from "../ui/disclosure.tsx";
import { Field, Select } from "../ui/field.tsx";
import { Form, type Values, valuesOf } from "../ui/form.tsx";
import { Notice } from "../ui/notice.tsx";
import { Card, Heading } from "../ui/page.tsx";
import { withTranslations } from "./preset-reasons.ts";
import { OptionFields, optionsOf, PresetFields } from "./request-options.tsx";
import type { SessionBody } from "./session-body.ts";
import { TemplateSummary } from "./template-summary.tsx";

/** From the template that the address names, otherwise field by field. */
export function NewSessionPage() {
  const { environment } = useWorkspace();
  const navigate = useNavigate();
  const { template } = useSearch({ strict: false });
  const templates = useList(listTemplates, { query: { limit: 100 } });
  const chosen = templates.items.find(({ id }) => id === template);
  return (
    <div className="max-w-3xl xl:max-w-none">
      <Heading
        title={t.ui.createSession}
        crumbs={[{ label: t.shell.pages.sessions, to: "/dashboard/sessions" }]}
      />
      {environment === "sandbox" ? (
        <Notice kind="info">{t.sessions.sandboxNotice(sessionLifetimeMinutes)}</Notice>
      ) : (
        <Notice kind="warn">{t.sessions.liveNotice}</Notice>
      )}
      {templates.items.length === 0 ? null : (
        <div className="mt-4 max-w-sm">
          <Select
            label={t.ui.template}
            name="template"
            value={chosen?.id ?? ""}
            options={[
              { value: "", label: t.ui.none },
              ...templates.items.map(({ id, name }) => ({ value: id, label: name })),
            ]}
            onChange={(id) =>
              void navigate({ to: ".", search: id === "" ? {} : { template: id }, replace: true })
            }
          />
        </div>
      )}
      {chosen !== undefined ? (
        <Creation key={chosen.id} bodyOf={(values) => ({ template: chosen.name, ...sessionOnly(values) })}>
          {() => (
            <>
              <TemplateSummary template={chosen} />
              <ReferenceField />
            </>
          )}
        </Creation>
      ) : typeof template === "string" && templates.isPending ? null : (
        <Creation bodyOf={(values) => ({ ...optionsOf(values), ...sessionOnly(values) })}>
          {(follow) => (
            <>
              <PresetFields onShown={follow} />
              <ReferenceField />
              <Disclosure isNeeded title={t.sessions.moreOptions}>
                <div className="space-y-4">
                  <OptionFields />
                  <EndpointField />
                </div>
              </Disclosure>
            </>
          )}
        </Creation>
      )}
    </div>
  );
}

/** Options of a single session, which templates do not have. */
function sessionOnly(values: Values): SessionBody {
  return present({
    client_reference_id: values.text("client_reference_id"),
    webhook_endpoint_id: values.raw("webhook_endpoint_id"),
  }) as SessionBody;
}

/** The form, beside the request that it makes. */
function Creation(props: {
  bodyOf: (values: Values) => SessionBody;
  children: (follow: () => void) => ReactNode;
}) {
  const navigate = useNavigate();
  const [body, setBody] = useState<SessionBody>({});
  const form = useRef<HTMLDivElement>(null);
  // One idempotency key for each session, however often the user presses the button.
  const [idempotencyKey, setIdempotencyKey] = useState(() => crypto.randomUUID());
  // biome-ignore lint/correctness/useExhaustiveDependencies: `bodyOf` never changes while the form exists.
  const follow = useCallback(() => {
    const element = form.current?.querySelector("form");
    if (element) setBody(props.bodyOf(valuesOf(new FormData(element))));
  }, []);
  useEffect(follow, [follow]);
  const isTranslated = body.template === undefined;
  return (
    <div className="mt-6 items-start gap-6 xl:grid xl:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
      <div ref={form} onInput={follow} onChange={follow}>
        <Card>
          <Form
            submit={t.ui.createSession}
            onSubmit={async (values) => {
              try {
                const asked = props.bodyOf(values);
                const { share_fields: shares } = asked;
                const translated =
                  shares === undefined ? asked : { ...asked, share_fields: await withTranslations(shares) };
                const { data } = await call(createSession, { idempotencyKey, body: translated });
                await refresh(listSessions);
                await navigate({ to: "/dashboard/sessions/$sessionId", params: { sessionId: data.id } });
              } catch (error) {
                // A refused request may be corrected and gets a new key. A request without an answer keeps
                // its key, so that repeating it creates no second session.
                if (!(error instanceof TypeError)) setIdempotencyKey(crypto.randomUUID());
                throw error;
              }
            }}
          >
            {props.children(follow)}
          </Form>
        </Card>
      </div>
      <Card title={t.sessions.apiRequest}>
        <CopyAs request={{ url: `${window.location.origin}/v1/sessions`, body }} />
        {isTranslated ? (
          <p className="mt-2 text-small text-muted">
            <Filled
              text={t.sessions.translationsLeftOut}
              link={<Link to="/dashboard/templates">{t.sessions.saveTemplate}</Link>}
            />
          </p>
        ) : null}
      </Card>
    </div>
  );
}

function ReferenceField() {
  return (
    <Field
      label={t.sessions.reference}
      name="client_reference_id"
      optional
      maxLength={200}
      hint={t.sessions.referenceHint}
    />
  );
}

function EndpointField() {
  const endpoints = useList(listEndpoints, { query: { limit: 100, enabled: true } });
  return (
    <Select
      label={t.sessions.endpoint}
      name="webhook_endpoint_id"
      options={[
        { value: "", label: t.sessions.allEndpoints },
        ...endpoints.items.map(({ id, name, url }) => ({ value: id, label: name ?? url })),
      ]}
    />
  );
}
