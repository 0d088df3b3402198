import type { SessionWithConsent } from "@assay/contract/sessions";
import type { Static } from "typebox";
import { Filled } from "../i18n/filled.tsx";
import { t } from "../i18n/words.ts";
import { Disclosure } from "../ui/disclosure.tsx";
import { Badge } from "../ui/page.tsx";
import { Table } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { claimLabel } from "./claim-labels.ts";

/** The reasons of a preset exist in every language, which would fill the page. */
const maxShownTranslations = 3;

type OneSession = Static<typeof SessionWithConsent>;

/** The requested fields, and those that the person agreed to share. */
export function Agreement({ session }: { session: OneSession }) {
  const { consent } = session;
  return (
    <>
      <p className="mb-3">
        {consent === null ? (
          t.sessions.noConsent
        ) : consent.withdrawn_at === null ? (
          <Filled text={t.sessions.consentGiven} given={<Time at={consent.given_at} />} />
        ) : (
          <Filled
            text={t.sessions.consentWithdrawn}
            given={<Time at={consent.given_at} />}
            withdrawn={<Time at={consent.withdrawn_at} />}
          />
        )}
      </p>
      <Table
        caption={t.sessions.agreement}
        rows={Object.entries(session.share_fields)}
        rowKey={([key]) => key}
        columns={[
          { header: t.sessions.field, cell: ([key]) => claimLabel(key) },
          {
            header: t.sessions.required,
            cell: ([, field]) => (field.required ? t.sessions.yes : t.sessions.optional),
          },
          { header: t.sessions.consent, cell: ([key]) => <Agreed consent={consent} field={key} /> },
          { header: t.sessions.reason, cell: ([, field]) => <Reasons field={field} /> },
        ]}
      />
    </>
  );
}

function Agreed({ consent, field }: { consent: OneSession["consent"]; field: string }) {
  if (consent === null) return <span className="text-muted">–</span>;
  if (!consent.selected_field_keys.includes(field)) return <Badge look="plain">{t.sessions.declined}</Badge>;
  return consent.withdrawn_at === null ? (
    <Badge look="good">{t.sessions.agreed}</Badge>
  ) : (
    <Badge look="plain">{t.sessions.withdrawn}</Badge>
  );
}

function Reasons({ field }: { field: OneSession["share_fields"][string] }) {
  const translated = Object.entries(field.reasons ?? {});
  const lines = translated.map(([language, text]) => (
    <span key={language} lang={language} className="block text-small text-muted">
      <bdi>{text}</bdi>
    </span>
  ));
  return (
    <>
      <bdi>{field.reason}</bdi>
      {lines.length > maxShownTranslations ? (
        <Disclosure small title={t.sessions.moreLanguages(lines.length)}>
          {lines}
        </Disclosure>
      ) : (
        lines
      )}
    </>
  );
}
