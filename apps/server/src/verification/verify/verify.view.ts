import { defaultMethods, triesAllowed } from "@assay/contract/facts";
import type { SessionId } from "@assay/contract/ids";
import { shownDomain } from "@assay/contract/shown-domain";
import type { ConsentState, VerifyDetails, VerifyStatus } from "@assay/contract/verify";
import { verifyAddresses } from "@assay/contract/verify-addresses";
import type { Static } from "typebox";
import type { OrganizationOfPerson } from "../../tenants/organizations/organization.store.ts";
import type { Operator } from "../evidence/kind.ts";
import { plan } from "../sessions/plan.ts";
import { demandsOf } from "../sessions/requirements.ts";
import type { SessionRow } from "../sessions/session.store.ts";
import { statusAt } from "../sessions/session.ts";
import { triesOf } from "../sessions/tries.ts";
import { wayOf, waysToSatisfy } from "../sessions/ways.ts";
import type { ConsentRow } from "./consent.store.ts";
import { type ConsentTexts, shownText } from "./consent-texts.ts";
import { type ReaderApps, viewReaderApps } from "./reader-apps.ts";
import type { StatusRow } from "./status.store.ts";

function viewTries(row: SessionRow) {
  const { nfc_tries_used, liveness_tries_used } = triesOf(row);
  return {
    nfc_tries_used,
    nfc_tries_left: Math.max(0, triesAllowed - nfc_tries_used),
    liveness_tries_used,
    liveness_tries_left: Math.max(0, triesAllowed - liveness_tries_used),
  };
}

function viewMoment(row: SessionRow, now: Date) {
  const status = statusAt(row, now);
  return {
    status,
    failure_code: row.failureCode,
    unmet_requirement: row.unmetRequirement,
    expires_at: row.expiresAt.toISOString(),
    completed_at: (status === "expired" ? row.expiresAt : row.completedAt)?.toISOString() ?? null,
    server_time: now.toISOString(),
  };
}

export function viewStatus(
  row: StatusRow,
  { returnUrl, resultIsSent }: { returnUrl: string | null; resultIsSent: boolean },
  now: Date,
): Static<typeof VerifyStatus> {
  const moment = viewMoment(row, now);
  return {
    session_id: row.id,
    ...moment,
    tries: viewTries(row),
    steps: plan(row).map(({ name, maxTries, tries, passed }) => ({
      name,
      tries_used: tries,
      tries_left: Math.max(0, maxTries - tries),
      passed,
    })),
    consent_given: row.consentGiven,
    attempt: moment.status === "in_progress" ? row.attempt : null,
    return_url: returnUrl,
    result_is_sent: resultIsSent,
  };
}

export function viewConsent(row: ConsentRow, session: SessionRow): Static<typeof ConsentState> {
  return {
    receipt_id: row.id,
    selected_field_keys: row.selectedFieldKeys,
    terms_version: row.termsVersion,
    language: row.language,
    given_at: row.givenAt.toISOString(),
    fixed: session.status !== "created",
    withdrawn_at: row.withdrawnAt?.toISOString() ?? null,
  };
}

/** The logo, only with a verified domain. An uploaded one takes precedence over an address. */
export function shownLogo(
  organization: OrganizationOfPerson,
  domain: string | null,
): "uploaded" | { url: string } | null {
  if (domain === null) return null;
  if (organization.logoUploadedAt !== null) return "uploaded";
  return organization.logoUrl === null ? null : { url: organization.logoUrl };
}

/** A colour can hardly deceive. Still, in live it is shown only for organizations with a verified domain. */
function shownColour(organization: OrganizationOfPerson, session: SessionRow, domain: string | null) {
  return domain !== null || session.sandbox ? organization.brandColor : null;
}

/** The organization that asks. Without a verified domain, only its name and texts, and a warning. */
function viewOrganization(parts: {
  session: SessionRow;
  organization: OrganizationOfPerson;
  domain: string | null;
  publicUrl: string;
}) {
  const { session, organization, domain } = parts;
  const verified = domain !== null;
  const logo = shownLogo(organization, domain);
  const logoPath = verifyAddresses.getVerifyLogo.path.replace(":id", session.id);
  return {
    name: organization.name,
    verified,
    domain,
    domain_unicode: verified ? shownDomain(domain) : null,
    brand_color: shownColour(organization, session, domain),
    logo_url: logo === "uploaded" ? `${parts.publicUrl}${logoPath}` : (logo?.url ?? null),
    website_url: verified ? organization.websiteUrl : null,
    business: verified
      ? {
          name: organization.businessName,
          jurisdiction: organization.businessJurisdiction,
          registration_number: organization.businessRegistrationNumber,
        }
      : null,
    support_email: organization.supportEmail,
    privacy_url: organization.privacyUrl,
    terms_url: organization.termsUrl,
  };
}

/** Where the person stays if the partner gave no redirect address. */
export function closingPage(publicUrl: string, sessionId: SessionId): string {
  return `${publicUrl}/verify/${sessionId}/complete`;
}

function viewWays(session: SessionRow, consent: ConsentRow | null, operator: Operator) {
  const { shareFields, requirements } = session;
  const fieldKeys = consent?.selectedFieldKeys ?? Object.keys(shareFields);
  return waysToSatisfy(session, session.methods ?? defaultMethods, operator).map((name) => {
    const { method, channels, looksAt } = wayOf(name, { requirements, fieldKeys }, operator);
    return { method, channels: [...channels], looks_at: [...looksAt] };
  });
}

export function viewDetails(
  parts: {
    session: SessionRow;
    organization: OrganizationOfPerson;
    domain: string | null;
    consent: ConsentRow | null;
    texts: ConsentTexts;
    readerApps: ReaderApps;
    deskReaders: boolean;
    operator: Operator;
    returnUrl: string | null;
    frameAncestor: string | null;
    publicUrl: string;
  },
  now: Date,
): Static<typeof VerifyDetails> {
  const { session, consent, texts } = parts;
  return {
    id: session.id,
    ...viewMoment(session, now),
    sandbox: session.sandbox,
    organization: viewOrganization(parts),
    ways: viewWays(session, consent, parts.operator),
    share_fields: session.shareFields,
    requirements: demandsOf(session.requirements),
    locale: session.locale,
    tries: viewTries(session),
    terms: { version: texts.version, hash: texts.hash, text: shownText(texts, session.methods) },
    consent: consent && viewConsent(consent, session),
    reader_apps: viewReaderApps(parts.readerApps, parts.publicUrl),
    desk_readers: parts.deskReaders,
    redirect_url: session.redirectUrl ?? closingPage(parts.publicUrl, session.id),
    return_url: parts.returnUrl,
    embed_origin: parts.frameAncestor,
    created_at: session.createdAt.toISOString(),
  };
}
