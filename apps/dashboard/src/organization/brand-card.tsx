import { listDomains } from "@assay/contract/domains";
import { deleteLogo, logoLimits, logoTypes, readLogo, uploadLogo } from "@assay/contract/organization-logo";
import { listOrganizations, updateOrganization } from "@assay/contract/organizations";
import { useEffect, useState } from "react";
import { call } from "../api/call.ts";
import { refresh, useData } from "../api/queries.ts";
import { t } from "../i18n/words.ts";
import { refreshOrganization, useMay, type Workspace } from "../shell/organization-context.ts";
import { ActionButton } from "../ui/button.tsx";
import { Disclosure } from "../ui/disclosure.tsx";
import { Field, fileInputClass } from "../ui/field.tsx";
import { Form } from "../ui/form.tsx";
import { Card } from "../ui/page.tsx";
import { BrandPreview } from "./brand-preview.tsx";

const refreshBoth = () => Promise.all([refreshOrganization(), refresh(listOrganizations)]);

/** Colour and logo, beside a preview of the verify page that shows them before they are saved. */
export function BrandCard({ organization }: { organization: Workspace["organization"] }) {
  const [colour, setColour] = useState(organization.brand_color ?? "");
  const [picked, setPicked] = useState<File | null>(null);
  const pickedAddress = useAddressOf(picked);
  // Only owners may list domains; other editors see the look of the sandbox.
  const domains = useData(listDomains, {}, { enabled: useMay("owner") });
  const proven = domains.data?.data.domains.find(({ downgradedAt }) => downgradedAt === null);
  const isUploaded = organization.logo_uploaded_at !== null;
  const hasLogo = isUploaded || organization.logo_url !== null;
  const logo = pickedAddress ?? (hasLogo ? readLogo.path : null);
  const [address, setAddress] = useState(organization.logo_url ?? "");
  const save = async () => {
    // The logo goes first because the service refuses it more often: then nothing has been saved yet.
    if (picked !== null) await call(uploadLogo, { body: new Uint8Array(await picked.arrayBuffer()) });
    await call(updateOrganization, { body: { brand_color: colour || null, logo_url: address || null } });
    await refreshBoth();
  };
  return (
    <Card title={t.organization.brand.title}>
      <div className="grid items-start gap-8 lg:grid-cols-2">
        <div className="space-y-4">
          <Form submit={t.ui.save} saved={t.organization.brand.saved} onSubmit={save}>
            <div className="flex items-end gap-3">
              <div className="min-w-0 flex-1">
                <Field
                  label={t.organization.brand.color}
                  name="brand_color"
                  pattern="#[0-9A-Fa-f]{6}"
                  optional
                  value={colour}
                  onChange={(text) => setColour(text.trim())}
                />
              </div>
              <input
                type="color"
                aria-label={t.organization.brand.choose}
                className="h-11 w-14 flex-none cursor-pointer rounded-control border border-field bg-card p-1"
                value={/^#[0-9A-Fa-f]{6}$/.test(colour) ? colour.toLowerCase() : "#1f4d3a"}
                onInput={(event) => setColour(event.currentTarget.value)}
              />
            </div>
            <p className="text-small text-muted">{t.organization.brand.colorHint}</p>
            <label className="block space-y-1">
              <span className="block font-medium">{t.organization.brand.logo}</span>
              <input
                type="file"
                accept={logoTypes.join(",")}
                className={`w-full ${fileInputClass}`}
                onChange={(event) => setPicked(event.currentTarget.files?.[0] ?? null)}
              />
              <span className="block text-small text-muted">
                {t.organization.brand.logoHint(logoLimits.bytes / 1024)}
              </span>
            </label>
            <Disclosure isNeeded small title={t.organization.brand.useUrl} open={address !== ""}>
              <Field
                label={t.organization.brand.logoUrl}
                name="logo_url"
                type="url"
                optional
                hint={t.organization.brand.logoUrlHint}
                value={address}
                onChange={(text) => setAddress(text.trim())}
              />
            </Disclosure>
          </Form>
          {isUploaded && (
            <ActionButton
              run={async () => {
                await call(deleteLogo, {});
                setPicked(null);
                await refreshBoth();
              }}
            >
              {t.organization.brand.remove}
            </ActionButton>
          )}
        </div>
        <div className="min-w-0 space-y-3">
          <BrandPreview
            name={organization.name}
            domain={proven?.apexDomain ?? null}
            colour={colour}
            logo={logo}
            logoKeptAt={organization.logo_url}
          />
          {logo !== null && domains.data !== undefined && proven === undefined && (
            <p className="text-small text-muted">{t.organization.brand.noDomain}</p>
          )}
        </div>
      </div>
    </Card>
  );
}

/** A URL with which the frame can show a picture that only this page has. */
function useAddressOf(file: File | null): string | null {
  const [address, setAddress] = useState<string | null>(null);
  useEffect(() => {
    if (file === null) return setAddress(null);
    const made = URL.createObjectURL(file);
    setAddress(made);
    return () => URL.revokeObjectURL(made);
  }, [file]);
  return address;
}
