import type { SessionWithConsent } from "@assay/contract/sessions";
import type { Static } from "typebox";
import { Badge } from "../ui/page.tsx";
import { Table } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { claimLabel } from "./claim-labels.ts";

type OneSession = Static<typeof SessionWithConsent>;

/** What was asked for, and which of it the person agreed to share. */
export function Agreement({ session }: { session: OneSession }) {
  const { consent } = session;
  return (
    <>
      <p className="mb-3">
        {consent === null ? (
          "The person has not agreed to anything yet."
        ) : consent.withdrawn_at === null ? (
          <>
            The person agreed <Time at={consent.given_at} />.
          </>
        ) : (
          <>
            The person agreed <Time at={consent.given_at} /> and withdrew it{" "}
            <Time at={consent.withdrawn_at} />.
          </>
        )}
      </p>
      <Table
        caption="What is asked for, and what was agreed"
        rows={Object.entries(session.share_fields)}
        rowKey={([key]) => key}
        columns={[
          { header: "Field", cell: ([key]) => claimLabel(key) },
          { header: "Needed", cell: ([, field]) => (field.required ? "Required" : "Optional") },
          { header: "Agreed", cell: ([key]) => <Agreed consent={consent} field={key} /> },
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
  return (
    <>
      <bdi>{field.reason}</bdi>
      {translated.map(([language, text]) => (
        <span key={language} lang={language} className="block text-small text-muted">
          <bdi>{text}</bdi>
        </span>
      ))}
    </>
  );
}
