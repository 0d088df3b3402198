import {
  createTemplate,
  deleteTemplate,
  getTemplate,
  listTemplates,
  updateTemplate,
} from "@assay/contract/templates";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { call, hasCode } from "../api/call.ts";
import { refresh, useData } from "../api/queries.ts";
import { t } from "../i18n/words.ts";
import { AskedFields } from "../sessions/asked-fields.tsx";
import { withoutTranslations, withTranslations } from "../sessions/preset-reasons.ts";
import { OptionFields, optionsOf, PresetFields, type RequestOptions } from "../sessions/request-options.tsx";
import type { Shares } from "../sessions/session-body.ts";
import { type Template, TemplateSummary } from "../sessions/template-summary.tsx";
import { useMay } from "../shell/organization-context.ts";
import { LinkButton } from "../ui/button.tsx";
import { CopyId } from "../ui/copy.tsx";
import { CopyAs } from "../ui/copy-as.tsx";
import { ConfirmButton } from "../ui/dialog.tsx";
import { Disclosure } from "../ui/disclosure.tsx";
import { Field } from "../ui/field.tsx";
import { Form, type Values } from "../ui/form.tsx";
import { LoadedObject } from "../ui/object-page.tsx";
import { Card, Heading, Loading, ProblemNotice } from "../ui/page.tsx";
import { Empty } from "../ui/table.tsx";

const crumb = () => ({ label: t.shell.pages.templates, to: "/dashboard/templates" }) as const;

async function bodyOf(values: Values) {
  const { share_fields: shares = {}, ...options } = optionsOf(values);
  return { name: values.text("name"), share_fields: await withTranslations(shares), ...options };
}

export function NewTemplatePage() {
  const navigate = useNavigate();
  return (
    <div className="max-w-3xl">
      <Heading title={t.templates.create} crumbs={[crumb()]} />
      <Card>
        <Form
          submit={t.templates.create}
          onSubmit={async (values) => {
            const { data } = await call(createTemplate, { body: await bodyOf(values) });
            await refresh(listTemplates);
            await navigate({ to: "/dashboard/templates/$templateId", params: { templateId: data.id } });
          }}
        >
          <NameField name="" />
          <PresetFields />
          <MoreOptions options={{}} />
        </Form>
      </Card>
    </div>
  );
}

function NameField({ name }: { name: string }) {
  return (
    <Field label={t.ui.name} name="name" maxLength={120} defaultValue={name} hint={t.templates.nameHint} />
  );
}

function MoreOptions({ options }: { options: RequestOptions }) {
  return (
    <Disclosure isNeeded title={t.sessions.moreOptions} open={Object.keys(options).length > 0}>
      <div className="space-y-4">
        <OptionFields options={options} />
      </div>
    </Disclosure>
  );
}

export function TemplatePage() {
  const { templateId } = useParams({ from: "/shell/dashboard/templates/$templateId" });
  const template = useData(getTemplate, { params: { id: templateId } });
  if (hasCode(template.error, "NOT_FOUND") || hasCode(template.error, "BAD_REQUEST"))
    return (
      <>
        <Heading title={t.templates.notFound} crumbs={[crumb()]} />
        <Card>
          <Empty
            icon="document"
            action={<LinkButton to="/dashboard/templates">{t.templates.all}</LinkButton>}
          >
            {t.templates.notFoundText}
          </Empty>
        </Card>
      </>
    );
  return (
    <LoadedObject kind={t.ui.template} crumb={crumb()} query={template}>
      {(data) => <OneTemplate key={data.id} template={data} />}
    </LoadedObject>
  );
}

function OneTemplate({ template }: { template: Template }) {
  const mayChange = useMay("admin");
  const navigate = useNavigate();
  return (
    <>
      <Heading title={template.name} crumbs={[crumb()]}>
        {mayChange ? (
          <>
            <LinkButton
              look="primary"
              icon="plus"
              to="/dashboard/sessions/new"
              search={{ template: template.id }}
            >
              {t.templates.newSession}
            </LinkButton>
            <ConfirmButton
              title={t.ui.deleteQuestion(template.name)}
              explanation={t.templates.deleteText}
              confirm={t.templates.deleteIt}
              done={t.templates.deleted}
              run={async () => {
                await call(deleteTemplate, { params: { id: template.id } });
                await navigate({ to: "/dashboard/templates" });
                await refresh(listTemplates);
              }}
            >
              {t.ui.delete}
            </ConfirmButton>
          </>
        ) : null}
      </Heading>
      <div className="items-start gap-6 xl:grid xl:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
        <Card>{mayChange ? <EditForm template={template} /> : <TemplateSummary template={template} />}</Card>
        <div className="min-w-0">
          <Card title={t.sessions.apiRequest}>
            <CopyAs
              request={{ url: `${window.location.origin}/v1/sessions`, body: { template: template.name } }}
            />
          </Card>
          <Card title="ID">
            <CopyId value={template.id} />
          </Card>
        </div>
      </div>
    </>
  );
}

/** Rendered once the page knows which translations come from presets. */
function EditForm({ template }: { template: Template }) {
  const [shares, setShares] = useState<Shares | null>(null);
  const [error, setError] = useState<unknown>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: saved data must not replace edits.
  useEffect(() => {
    withoutTranslations(template.share_fields ?? {}).then(setShares, setError);
  }, []);
  if (error !== null) return <ProblemNotice error={error} />;
  if (shares === null) return <Loading lines={6} />;
  const { methods, requirements, locale, redirect_url } = template;
  const options: RequestOptions = {
    ...(methods === null ? {} : { methods }),
    ...(requirements === null ? {} : { requirements }),
    ...(locale === null ? {} : { locale }),
    ...(redirect_url === null ? {} : { redirect_url }),
  };
  return (
    <Form
      submit={t.ui.save}
      saved={t.templates.saved}
      onSubmit={async (values) => {
        // Fields that the form leaves out are cleared.
        const left = { methods: null, requirements: null, locale: null, redirect_url: null };
        const body = { ...left, ...(await bodyOf(values)) };
        await call(updateTemplate, { params: { id: template.id }, body });
        await refresh(getTemplate, listTemplates);
      }}
    >
      <NameField name={template.name} />
      <AskedFields shares={shares} />
      <MoreOptions options={options} />
    </Form>
  );
}
