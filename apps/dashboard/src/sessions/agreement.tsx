import type { SessionWithConsent } from "@assay/contract/sessions";
import type { Static } from "typebox";
import { Disclosure } from "../ui/disclosure.tsx";
import { Badge } from "../ui/page.tsx";
import { Table } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { claimLabel } from "./claim-labels.ts";

/** The reasons of a preset come in every language, which would fill the page. */
const maxShownTranslations = 3;

type OneSession = Static<typeof SessionWithConsent>;

/** What was asked for, and which of it the person agreed to share. */
export function Agreement({ session }: { session: OneSession }) {
  const { consent } = session;
  return (
    <>
      <p className="mb-3">
        {consent === null ? (
          "No consent yet."
        ) : consent.withdrawn_at === null ? (
          <>
            Consent given <Time at={consent.given_at} />.
          </>
        ) : (
          <>
            Consent given <Time at={consent.given_at} />, withdrawn <Time at={consent.withdrawn_at} />.
          </>
        )}
      </p>
      <Table
        caption="Requested data and consent"
        rows={Object.entries(session.share_fields)}
        rowKey={([key]) => key}
        columns={[
          { header: "Field", cell: ([key]) => claimLabel(key) },
          { header: "Required", cell: ([, field]) => (field.required ? "Yes" : "Optional") },
          { header: "Consent", cell: ([key]) => <Agreed consent={consent} field={key} /> },
          { header: "Reason", cell: ([, field]) => <Reasons field={field} /> },
        ]}
      />
    </>
  );
}

function Agreed({ consent, field }: { consent: OneSession["consent"]; field: string }) {
  if (consent === null) return <span className="text-muted">–</span>;
  if (!consent.selected_field_keys.includes(field)) return <Badge look="plain">Declined</Badge>;
  return consent.withdrawn_at === null ? (
    <Badge look="good">Agreed</Badge>
  ) : (
    <Badge look="plain">Withdrawn</Badge>
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
        <Disclosure small title={`In ${lines.length} more languages`}>
          {lines}
        </Disclosure>
      ) : (
        lines
      )}
    </>
  );
}
