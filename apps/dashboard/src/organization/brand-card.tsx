import { deleteLogo, logoLimits, logoTypes, uploadLogo } from "@assay/contract/organization-logo";
import { listOrganizations, updateOrganization } from "@assay/contract/organizations";
import { useState } from "react";
import { call, type Problem, problemOf } from "../api/call.ts";
import { refresh } from "../api/queries.ts";
import { type Place, refreshOrganization } from "../shell/organization-context.ts";
import { ActionButton } from "../ui/button.tsx";
import { Field } from "../ui/field.tsx";
import { Form } from "../ui/form.tsx";
import { Notice } from "../ui/notice.tsx";
import { Card } from "../ui/page.tsx";

const refreshBoth = () => Promise.all([refreshOrganization(), refresh(listOrganizations)]);

/** Colour and logo, as people see them at the head of the page on which they are verified. */
export function BrandCard({ organization }: { organization: Place["organization"] }) {
  return (
    <Card title="Look">
      <div className="max-w-xl space-y-6">
        <Form
          submit="Save the colour"
          done="The colour is saved."
          onSubmit={async (values) => {
            await call(updateOrganization, { body: { brand_color: values.text("brand_color") || null } });
            await refreshBoth();
          }}
        >
          <Field
            label="Colour"
            name="brand_color"
            pattern="#[0-9A-Fa-f]{6}"
            optional
            hint="As #rrggbb. Any colour will do: the page chooses the text on it so that it can be read."
            defaultValue={organization.brand_color ?? ""}
          />
        </Form>
        <LogoUpload uploadedAt={organization.logo_uploaded_at} />
      </div>
    </Card>
  );
}

function LogoUpload({ uploadedAt }: { uploadedAt: string | null }) {
  const [problem, setProblem] = useState<Problem | null>(null);
  const upload = async (file: File) => {
    setProblem(null);
    try {
      await call(uploadLogo, { body: new Uint8Array(await file.arrayBuffer()) });
      await refreshBoth();
    } catch (error) {
      setProblem(problemOf(error));
    }
  };
  return (
    <div className="space-y-3">
      {uploadedAt !== null && (
        <img
          key={uploadedAt}
          src={uploadLogo.path}
          alt="The uploaded logo"
          className="size-16 rounded-control border border-line bg-white object-contain p-1"
        />
      )}
      <label className="block space-y-1">
        <span className="block font-medium">Logo</span>
        <input
          type="file"
          accept={logoTypes.join(",")}
          className="block w-full min-w-0 text-small"
          onChange={(event) => {
            const file = event.target.files?.[0];
            if (file !== undefined) void upload(file);
            event.target.value = "";
          }}
        />
        <span className="block text-small text-muted">
          A PNG, JPEG or WebP of at most {logoLimits.bytes / 1024} KiB. It goes before the address in the
          profile, and is shown while you hold a verified domain.
        </span>
      </label>
      {problem !== null && (
        <Notice kind="bad">
          {problem.message} {problem.hint}
        </Notice>
      )}
      {uploadedAt !== null && (
        <ActionButton
          run={async () => {
            await call(deleteLogo, {});
            await refreshBoth();
          }}
        >
          Remove the logo
        </ActionButton>
      )}
    </div>
  );
}
