import {
  cancelOrganizationDeletion,
  confirmOrganizationDeletion,
  requestOrganizationDeletion,
} from "@assay/contract/organization-deletion";
import { listOrganizations, updateOrganization } from "@assay/contract/organizations";
import { hasRole } from "@assay/contract/route";
import { useState } from "react";
import { call } from "../api/call.ts";
import { refresh } from "../api/queries.ts";
import { Filled } from "../i18n/filled.tsx";
import { t } from "../i18n/words.ts";
import { refreshOrganization, useMay, useWorkspace, type Workspace } from "../shell/organization-context.ts";
import { ActionButton } from "../ui/button.tsx";
import { Copy } from "../ui/copy.tsx";
import { Checkbox, Field } from "../ui/field.tsx";
import { Form } from "../ui/form.tsx";
import { Notice } from "../ui/notice.tsx";
import { Card, Facts, Heading } from "../ui/page.tsx";
import { Time } from "../ui/time.tsx";
import { BrandCard } from "./brand-card.tsx";

export function SettingsPage() {
  const { organization } = useWorkspace();
  const mayChange = useMay("admin");
  return (
    <>
      <Heading title={t.shell.pages.settings} />
      <Card title={t.organization.settings.profile}>
        {mayChange ? <Profile organization={organization} /> : <ProfileFacts organization={organization} />}
      </Card>
      {mayChange && <BrandCard organization={organization} />}
      {useMay("owner") ? <Agents organization={organization} /> : null}
      <Card title={t.organization.settings.id}>
        <Copy label={t.organization.settings.id} value={organization.id} />
      </Card>
      <Deletion />
    </>
  );
}

function ProfileFacts({ organization }: { organization: Workspace["organization"] }) {
  return (
    <Facts
      facts={[
        [t.ui.name, organization.name],
        [t.ui.slug, organization.slug],
        [t.organization.settings.website, organization.website_url ?? "–"],
        [t.organization.settings.support, organization.support_email ?? "–"],
        [t.organization.settings.privacy, organization.privacy_url ?? "–"],
        [t.organization.settings.terms, organization.terms_url ?? "–"],
        [t.organization.brand.logo, organization.logo_url ?? "–"],
      ]}
    />
  );
}

function Profile({ organization }: { organization: Workspace["organization"] }) {
  return (
    <div className="max-w-3xl">
      <p className="mb-4 text-muted">{t.ui.shownToPeople}</p>
      <Form
        submit={t.ui.save}
        saved={t.organization.settings.profileSaved}
        onSubmit={async (values) => {
          await call(updateOrganization, {
            body: {
              name: values.text("name"),
              slug: values.text("slug"),
              website_url: values.text("website_url") || null,
              support_email: values.text("support_email") || null,
              privacy_url: values.text("privacy_url") || null,
              terms_url: values.text("terms_url") || null,
            },
          });
          await Promise.all([refreshOrganization(), refresh(listOrganizations)]);
        }}
      >
        <div className="grid gap-4 md:grid-cols-2">
          <Field label={t.ui.name} name="name" maxLength={120} defaultValue={organization.name} />
          <Field
            label={t.ui.slug}
            name="slug"
            hint={t.organization.settings.slugHint}
            pattern="[a-z0-9\-]{2,60}"
            defaultValue={organization.slug}
          />
          {(
            [
              ["website_url", "url", t.organization.settings.website],
              ["support_email", "email", t.organization.settings.supportEmail],
              ["privacy_url", "url", t.organization.settings.privacy],
              ["terms_url", "url", t.organization.settings.terms],
            ] as const
          ).map(([name, type, label]) => (
            <Field
              key={name}
              label={label}
              name={name}
              type={type}
              optional
              defaultValue={organization[name] ?? ""}
            />
          ))}
        </div>
      </Form>
    </div>
  );
}

function Agents({ organization }: { organization: Workspace["organization"] }) {
  return (
    <Card title={t.organization.settings.agents}>
      <p className="mb-4 max-w-3xl text-muted">{t.organization.settings.agentsAbout}</p>
      <Form
        submit={t.ui.save}
        saved={t.organization.settings.settingSaved}
        onSubmit={async (values) => {
          await call(updateOrganization, {
            body: { agents_may_change_webhooks: values.checked("agents_may_change_webhooks") },
          });
          await Promise.all([refreshOrganization(), refresh(listOrganizations)]);
        }}
      >
        <Checkbox
          name="agents_may_change_webhooks"
          defaultChecked={organization.agents_may_change_webhooks}
          label={t.organization.settings.agentsMay}
        />
      </Form>
    </Card>
  );
}

function Deletion() {
  const { organization } = useWorkspace();
  const organizationId = organization.id;
  const [sentTo, setSentTo] = useState<string | null>(null);
  if (organization.pending_deletion_at !== null)
    return (
      <Card title={t.organization.deletion.title} id="deletion">
        <Notice kind="warn">
          <Filled
            text={t.organization.deletion.frozen}
            name={<bdi>{organization.name}</bdi>}
            time={<Time ahead at={organization.pending_deletion_at} />}
          />
        </Notice>
        {hasRole(organization.role, "admin") ? (
          <ActionButton
            look="primary"
            run={async () => {
              await call(cancelOrganizationDeletion, { body: { organizationId } });
              await Promise.all([refreshOrganization(), refresh(listOrganizations)]);
            }}
          >
            {t.ui.cancelDeletion}
          </ActionButton>
        ) : (
          <p>{t.organization.deletion.whoCancels}</p>
        )}
      </Card>
    );
  if (!hasRole(organization.role, "owner")) return null;
  return (
    <Card title={t.organization.deletion.title} id="deletion">
      <p className="mb-4">{t.organization.deletion.text}</p>
      {sentTo === null ? (
        <ActionButton
          look="danger"
          run={async () => {
            const { data } = await call(requestOrganizationDeletion, { body: { organizationId } });
            setSentTo(data.sentTo);
          }}
        >
          {t.organization.deletion.mailCode}
        </ActionButton>
      ) : (
        <div className="max-w-md">
          <Notice kind="info">{t.organization.deletion.mailed(sentTo)}</Notice>
          <Form
            submit={t.ui.deleteNamed(organization.name)}
            look="danger"
            onSubmit={async (values) => {
              await call(confirmOrganizationDeletion, {
                body: { organizationId, code: values.text("code").toUpperCase() },
              });
              await Promise.all([refreshOrganization(), refresh(listOrganizations)]);
              setSentTo(null);
            }}
          >
            <Field
              label={t.organization.deletion.code}
              name="code"
              minLength={8}
              maxLength={8}
              focusOnMount
            />
          </Form>
        </div>
      )}
    </Card>
  );
}
