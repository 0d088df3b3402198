import { shownDomain, shownLink } from "@assay/contract/shown-domain";
import { Fold } from "@assay/ui/fold";
import { Icon } from "@assay/ui/icon";
import { Notice } from "@assay/ui/notice";
import type { ReactNode } from "react";
import { useWords } from "../i18n/language.ts";
import type { Details } from "../session/api.ts";
import { mustBeSeen } from "../session/consent-sight.ts";

/** At a glance: whether we know who asks. The sandbox needs no warning, because nothing is shared there. */
export function WhoAsks({ details: { organization, sandbox } }: { details: Details }) {
  const { t } = useWords();
  const { name, domain, verified } = organization;
  if (verified && domain !== null)
    return (
      <p className="flex items-start gap-2 text-small">
        <Icon name="shield" className="size-5 text-good" />
        <span>
          {t.verifiedDomain}: <VerifiedDomain domain={domain} />
        </span>
      </p>
    );
  if (sandbox)
    return (
      <p className="flex items-start gap-2 text-small text-muted">
        <Icon name="info" className="size-5" />
        {t.notVerifiedSandbox(name)}
      </p>
    );
  return (
    <div {...mustBeSeen}>
      <Notice look="warn" title={t.notVerifiedTitle}>
        <p>{t.notVerifiedText(name)}</p>
      </Notice>
    </div>
  );
}

/** The rest of what is known about the organization, folded. Null if there is nothing. */
export function AboutWho({ details }: { details: Details }) {
  const { t, language } = useWords();
  const { organization } = details;
  const { business } = organization;
  const rows: [string, ReactNode][] = [];
  if (business?.name) rows.push([t.businessName, <bdi key="name">{business.name}</bdi>]);
  if (business?.jurisdiction)
    rows.push([
      t.businessJurisdiction,
      <bdi key="jurisdiction">{countryName(business.jurisdiction, language)}</bdi>,
    ]);
  if (business?.registration_number)
    rows.push([t.businessRegistration, <bdi key="registration">{business.registration_number}</bdi>]);
  if (organization.website_url)
    rows.push([t.website, <OutsideLink key="website" href={organization.website_url} />]);
  if (organization.support_email)
    rows.push([t.supportEmail, <SupportLink key="support" email={organization.support_email} />]);
  if (organization.privacy_url)
    rows.push([t.privacyPolicy, <OutsideLink key="privacy" href={organization.privacy_url} />]);
  if (organization.terms_url)
    rows.push([t.termsOfUse, <OutsideLink key="terms" href={organization.terms_url} />]);
  if (rows.length === 0 && !organization.verified) return null;
  return (
    <Fold title={t.whoAsks} icon="shield">
      {organization.verified && <p className="text-muted">{t.domainProved(organization.name)}</p>}
      <dl className="grid gap-x-6 gap-y-2 text-small sm:grid-cols-[max-content_1fr]">
        {rows.map(([name, value]) => (
          <div key={name} className="sm:contents">
            <dt className="text-muted">{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {business !== null && rows.length > 0 && <p className="text-small text-muted">{t.selfAsserted}</p>}
    </Fold>
  );
}

/**
 * The only proven fact on this page. A name with non-ASCII letters is followed by its DNS form, so that names
 * that differ in an accent can be distinguished.
 */
function VerifiedDomain({ domain }: { domain: string }) {
  const shown = shownDomain(domain);
  return (
    <>
      <bdi className="font-semibold">{shown}</bdi>
      {shown !== domain && (
        <>
          {" "}
          (<span dir="ltr">{domain}</span>)
        </>
      )}
    </>
  );
}

export function SupportLink({ email }: { email: string }) {
  return (
    <a className="underline underline-offset-4" href={mailtoOf(email)}>
      <bdi>{email}</bdi>
    </a>
  );
}

/** The parsed target, not the written text: a look-alike of `/` could make a host look like a path. */
export function OutsideLink({ href }: { href: string }) {
  if (!href.startsWith("https://")) return <bdi>{href}</bdi>;
  return (
    <a className="underline underline-offset-4" href={href} target="_blank" rel="noopener noreferrer">
      <bdi>{shownLink(href)}</bdi>
    </a>
  );
}

/** Both parts are encoded: `?` and `&` in an address would add fields to the mail, such as a hidden copy. */
function mailtoOf(email: string): string {
  const at = email.lastIndexOf("@");
  return `mailto:${encodeURIComponent(email.slice(0, at))}@${encodeURIComponent(email.slice(at + 1))}`;
}

/** Businesses state their country as they like; a code is shown as a name. */
function countryName(text: string, language: string): string {
  if (!/^[A-Z]{2}$/.test(text)) return text;
  return new Intl.DisplayNames(language, { type: "region", fallback: "code" }).of(text) ?? text;
}
