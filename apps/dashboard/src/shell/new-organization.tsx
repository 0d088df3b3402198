import { createOrganization } from "@assay/contract/organizations";
import { useState } from "react";
import { call } from "../api/call.ts";
import { t } from "../i18n/words.ts";
import { Field } from "../ui/field.tsx";
import { Form } from "../ui/form.tsx";
import { Card, Heading } from "../ui/page.tsx";
import { rememberOrganization } from "./chosen-organization.ts";

function slugOf(name: string): string {
  return name
    .normalize("NFKD")
    .replace(/[\u0300-\u036f]/g, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 60);
}

export function NewOrganizationForm() {
  const [name, setName] = useState("");
  // Follows the name until the user edits it.
  const [ownSlug, setOwnSlug] = useState<string | null>(null);
  return (
    <Form
      submit={t.shell.newOrganization.title}
      onSubmit={async (values) => {
        const { data } = await call(createOrganization, {
          body: { name: values.text("name"), slug: values.text("slug") },
        });
        rememberOrganization(data.id);
        window.location.assign("/dashboard");
      }}
    >
      <Field
        label={t.ui.name}
        name="name"
        hint={t.ui.shownToPeople}
        autoComplete="organization"
        maxLength={120}
        value={name}
        onChange={setName}
      />
      <Field
        label={t.ui.slug}
        name="slug"
        hint={t.shell.newOrganization.slugHint}
        pattern="[a-z0-9\-]{2,60}"
        value={ownSlug ?? slugOf(name)}
        onChange={setOwnSlug}
      />
    </Form>
  );
}

export function NewOrganizationPage() {
  return (
    <div className="max-w-xl">
      <Heading title={t.shell.newOrganization.title} />
      <Card>
        <NewOrganizationForm />
      </Card>
    </div>
  );
}
