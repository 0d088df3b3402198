import { type AuditEvent, auditEvents, listAuditLogs } from "@assay/contract/audit";
import { listMembers } from "@assay/contract/organizations";
import { useState } from "react";
import { present } from "../api/call.ts";
import { useList } from "../api/queries.ts";
import { Id } from "../ui/copy.tsx";
import { Field, Select } from "../ui/field.tsx";
import { anyOption, endOfDay, Filters, inWords, startOfDay } from "../ui/filters.tsx";
import { Card, Heading, Time } from "../ui/page.tsx";
import { ListTable } from "../ui/table.tsx";

const nouns: Readonly<Record<string, string>> = {
  api_key: "API key",
  redirect_uri: "Redirect address",
  rp_terms: "Relying-party terms",
};

/** `webhook_endpoint.tested` → “Webhook endpoint tested”. */
function auditText(event: AuditEvent): string {
  const [noun = "", deed = ""] = event.split(".");
  const words = nouns[noun] ?? inWords(noun);
  return `${words.charAt(0).toUpperCase()}${words.slice(1)} ${inWords(deed)}`;
}

const actors = { user: "User", key: "API key", person: "Person being verified", system: "Service" } as const;

export function AuditLogPage() {
  const [filters, setFilters] = useState<Record<string, string>>({});
  const members = useList(listMembers, { query: { limit: 100 } });
  const log = useList(listAuditLogs, {
    query: present({
      event: filters.event,
      actor_id: filters.actor_id,
      created_from: startOfDay(filters.from),
      created_to: endOfDay(filters.to),
    }),
  });
  const nameOf = (id: string) => members.items.find((member) => member.user_id === id)?.name;
  return (
    <>
      <Heading title="Audit log" />
      <Filters onApply={setFilters} onClear={() => setFilters({})}>
        <Select
          label="Event"
          name="event"
          options={[anyOption, ...auditEvents.map((event) => ({ value: event, label: auditText(event) }))]}
        />
        <Select
          label="By"
          name="actor_id"
          options={[
            anyOption,
            ...members.items.map(({ user_id, name }) => ({ value: user_id, label: name })),
          ]}
        />
        <Field label="From" name="from" type="date" optional="quiet" />
        <Field label="To" name="to" type="date" optional="quiet" />
      </Filters>
      <Card>
        <ListTable
          caption="What was done, the latest first"
          list={log}
          rowKey={({ id }) => id}
          empty={
            Object.values(filters).some((value) => value !== "")
              ? "Nothing fits these filters. Clear them to see everything."
              : "Nothing has been done yet."
          }
          columns={[
            { header: "When", cell: (entry) => <Time at={entry.created_at} /> },
            {
              header: "Event",
              cell: (entry) => auditText(entry.event),
            },
            {
              header: "By",
              cell: (entry) => (
                <>
                  <bdi>{(entry.actor_id && nameOf(entry.actor_id)) ?? actors[entry.actor_type]}</bdi>
                  {entry.actor_type === "key" && entry.actor_id ? (
                    <>
                      {" "}
                      <Id value={entry.actor_id} />
                    </>
                  ) : null}
                </>
              ),
            },
            {
              header: "What",
              cell: (entry) => (entry.target_id === null ? "–" : <Id value={entry.target_id} />),
            },
            { header: "Details", cell: (entry) => <Details details={entry.details} /> },
          ]}
        />
      </Card>
    </>
  );
}

function Details({ details }: { details: Record<string, unknown> }) {
  const entries = Object.entries(details).filter(([, value]) => value !== null);
  if (entries.length === 0) return <span className="text-muted">–</span>;
  return (
    <ul className="text-sm">
      {entries.map(([name, value]) => (
        <li key={name}>
          <span className="text-muted">{inWords(name)}:</span>{" "}
          <bdi>{typeof value === "string" ? value : JSON.stringify(value)}</bdi>
        </li>
      ))}
    </ul>
  );
}
