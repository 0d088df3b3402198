import { shownDomain, shownLink } from "@assay/contract/shown-domain";
import { type ReactNode, useState } from "react";
import { useWords } from "../i18n/language.ts";
import { type Details, logoPath } from "../session/api.ts";
import { Notice } from "../ui/notice.tsx";
import { Card } from "../ui/screen.tsx";

export function WhoAsks({ details }: { details: Details }) {
  const { t, language } = useWords();
  const { organization } = details;
  const { business } = organization;
  const { domain } = organization;
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
  return (
    <Card title={t.whoAsks}>
      <div className="flex items-center gap-4">
        <Logo details={details} />
        <div className="min-w-0">
          <p className="text-lg font-semibold">
            <bdi>{organization.name}</bdi>
          </p>
          {organization.verified && domain !== null && (
            <p className="text-sm text-good">
              <span aria-hidden="true">✓ </span>
              {t.verifiedDomain}: <VerifiedDomain domain={domain} />
            </p>
          )}
        </div>
      </div>
      {organization.verified ? (
        <p className="text-sm text-muted">{t.domainProved(organization.name)}</p>
      ) : (
        <Notice look="warn" title={t.notVerifiedTitle} level={3}>
          <p>{t.notVerifiedText(organization.name)}</p>
        </Notice>
      )}
      {rows.length > 0 && (
        <dl className="grid gap-x-6 gap-y-2 text-sm sm:grid-cols-[max-content_1fr]">
          {rows.map(([name, value]) => (
            <div key={name} className="sm:contents">
              <dt className="text-muted">{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      )}
      {business !== null && rows.length > 0 && <p className="text-sm text-muted">{t.selfAsserted}</p>}
    </Card>
  );
}

/**
 * The host of a logo would learn who is looking, before anything was agreed to, so the picture comes through this service. The first
 * letter stands in until it is there, and for good when it does not come. Either fills the same square.
 */
function Logo({ details: { id, organization } }: { details: Details }) {
  const [state, setState] = useState<"loading" | "shown" | "failed">("loading");
  const shown = state === "shown";
  return (
    <span className="relative size-14 flex-none">
      {!shown && (
        <span
          aria-hidden="true"
          className="absolute inset-0 grid place-items-center rounded-xl bg-soft text-2xl font-bold text-accent"
        >
          {/[^\p{Cf}]/u.exec(organization.name)?.[0].toLocaleUpperCase()}
        </span>
      )}
      {organization.logo_url !== null && state !== "failed" && (
        <img
          src={logoPath(id)}
          alt=""
          onLoad={() => setState("shown")}
          onError={() => setState("failed")}
          // Drawn for a white ground, most logos would be lost on a dark page.
          className={`absolute inset-0 size-full rounded-xl border border-line bg-white object-contain p-1 ${shown ? "" : "opacity-0"}`}
        />
      )}
    </span>
  );
}

/**
 * The one thing on this page that was proven. Beside a name with letters outside of ASCII stands the form that the DNS
 * knows, so that two names that differ in an accent can be told apart.
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

/** Where it leads, not what somebody wrote: another slash than `/`, say, makes a host look like a path. */
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
