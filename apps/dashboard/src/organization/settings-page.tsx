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
import { type Place, refreshOrganization, useMay, usePlace } from "../shell/organization-context.ts";
import { ActionButton } from "../ui/button.tsx";
import { Copy } from "../ui/copy.tsx";
import { Checkbox, Field } from "../ui/field.tsx";
import { Form } from "../ui/form.tsx";
import { Notice } from "../ui/notice.tsx";
import { Card, Facts, Heading } from "../ui/page.tsx";
import { Time } from "../ui/time.tsx";
import { BrandCard } from "./brand-card.tsx";

export function SettingsPage() {
  const { organization } = usePlace();
  const mayChange = useMay("admin");
  return (
    <>
      <Heading title="Settings" />
      <Card title="Profile">
        {mayChange ? <Profile organization={organization} /> : <ProfileFacts organization={organization} />}
      </Card>
      {mayChange && <BrandCard organization={organization} />}
      {useMay("owner") ? <Agents organization={organization} /> : null}
      <Card title="Organization ID">
        <Copy label="Organization ID" value={organization.id} />
      </Card>
      <Deletion />
    </>
  );
}

function ProfileFacts({ organization }: { organization: Place["organization"] }) {
  return (
    <Facts
      facts={[
        ["Name", organization.name],
        ["Slug", organization.slug],
        ["Website", organization.website_url ?? "–"],
        ["Support", organization.support_email ?? "–"],
        ["Privacy notice", organization.privacy_url ?? "–"],
        ["Terms", organization.terms_url ?? "–"],
        ["Logo", organization.logo_url ?? "–"],
      ]}
    />
  );
}

function Profile({ organization }: { organization: Place["organization"] }) {
  return (
    <div className="max-w-3xl">
      <p className="mb-4 text-muted">Shown to the people you verify.</p>
      <Form
        submit="Save"
        saved="Profile saved."
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
          <Field label="Name" name="name" maxLength={120} defaultValue={organization.name} />
          <Field
            label="Slug"
            name="slug"
            hint="A unique short name, used in the command line and lists."
            pattern="[a-z0-9\-]{2,60}"
            defaultValue={organization.slug}
          />
          <Field
            label="Website"
            name="website_url"
            type="url"
            optional
            defaultValue={organization.website_url ?? ""}
          />
          <Field
            label="Support email"
            name="support_email"
            type="email"
            optional
            defaultValue={organization.support_email ?? ""}
          />
          <Field
            label="Privacy notice"
            name="privacy_url"
            type="url"
            optional
            defaultValue={organization.privacy_url ?? ""}
          />
          <Field
            label="Terms"
            name="terms_url"
            type="url"
            optional
            defaultValue={organization.terms_url ?? ""}
          />
        </div>
      </Form>
    </div>
  );
}

function Agents({ organization }: { organization: Place["organization"] }) {
  return (
    <Card title="Agents">
      <p className="mb-4 max-w-3xl text-muted">
        Agents that connect through MCP with an API key can read and create. To change webhook endpoints and
        encryption keys, they also need this setting and the scope webhooks:write.
      </p>
      <Form
        submit="Save"
        saved="Setting saved."
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
          label="Agents may change where results go"
        />
      </Form>
    </Card>
  );
}

function Deletion() {
  const { organization } = usePlace();
  const organizationId = organization.id;
  const [sentTo, setSentTo] = useState<string | null>(null);
  if (organization.pending_deletion_at !== null)
    return (
      <Card title="Deletion" id="deletion">
        <Notice kind="warn">
          <bdi>{organization.name}</bdi> is frozen and will be deleted on{" "}
          <Time ahead at={organization.pending_deletion_at} />.
        </Notice>
        {hasRole(organization.role, "admin") ? (
          <ActionButton
            look="primary"
            run={async () => {
              await call(cancelOrganizationDeletion, { body: { organizationId } });
              await Promise.all([refreshOrganization(), refresh(listOrganizations)]);
            }}
          >
            Cancel deletion
          </ActionButton>
        ) : (
          <p>An owner or admin can cancel it.</p>
        )}
      </Card>
    );
  if (!hasRole(organization.role, "owner")) return null;
  return (
    <Card title="Deletion" id="deletion">
      <p className="mb-4">
        The organization freezes immediately: API keys stop working and nothing can be changed. Everything is
        permanently deleted 48 hours later. Until then an owner or admin can cancel. Each owner gets a signed
        receipt.
      </p>
      {sentTo === null ? (
        <ActionButton
          look="danger"
          run={async () => {
            const { data } = await call(requestOrganizationDeletion, { body: { organizationId } });
            setSentTo(data.sentTo);
          }}
        >
          Email me a deletion code
        </ActionButton>
      ) : (
        <div className="max-w-md">
          <Notice kind="info">We emailed an 8-character code to {sentTo}. It expires in 24 hours.</Notice>
          <Form
            submit={`Delete ${organization.name}`}
            look="danger"
            onSubmit={async (values) => {
              await call(confirmOrganizationDeletion, {
                body: { organizationId, code: values.text("code").toUpperCase() },
              });
              await Promise.all([refreshOrganization(), refresh(listOrganizations)]);
              setSentTo(null);
            }}
          >
            <Field label="Code from the email" name="code" minLength={8} maxLength={8} focusOnMount />
          </Form>
        </div>
      )}
    </Card>
  );
}
