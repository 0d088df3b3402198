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
import { BrandPreview } from "./brand-preview.tsx";

const refreshBoth = () => Promise.all([refreshOrganization(), refresh(listOrganizations)]);

/** Colour and logo, as people see them at the head of the page on which they are verified, changing as they are chosen. */
export function BrandCard({ organization }: { organization: Place["organization"] }) {
  const [colour, setColour] = useState(organization.brand_color ?? "");
  const valid = /^#[0-9A-Fa-f]{6}$/.test(colour);
  return (
    <Card title="Look">
      <div className="grid items-start gap-8 lg:grid-cols-2">
        <div className="space-y-6">
          <Form
            submit="Save the colour"
            saved="The colour is saved."
            onSubmit={async () => {
              await call(updateOrganization, { body: { brand_color: colour || null } });
              await refreshBoth();
            }}
          >
            <div className="flex items-end gap-3">
              <div className="min-w-0 flex-1">
                <Field
                  label="Colour"
                  name="brand_color"
                  pattern="#[0-9A-Fa-f]{6}"
                  optional
                  value={colour}
                  onChange={(text) => setColour(text.trim())}
                />
              </div>
              <input
                type="color"
                aria-label="Choose the colour"
                className="h-11 w-14 flex-none cursor-pointer rounded-control border border-field bg-card p-1"
                value={valid ? colour.toLowerCase() : "#1f4d3a"}
                onChange={(event) => setColour(event.currentTarget.value)}
              />
            </div>
            <p className="text-small text-muted">
              As #rrggbb. Any colour will do: the page chooses the text on it so that it can be read.
            </p>
          </Form>
          <LogoUpload uploadedAt={organization.logo_uploaded_at} />
        </div>
        <BrandPreview
          name={organization.name}
          colour={colour}
          logoUploadedAt={organization.logo_uploaded_at}
        />
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
