import { listSessions, type SessionStatus, sessionStatuses } from "@assay/contract/sessions";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { present } from "../api/call.ts";
import { useList } from "../api/queries.ts";
import { useMay } from "../shell/organization-context.ts";
import { LinkButton } from "../ui/button.tsx";
import { Id } from "../ui/copy.tsx";
import { Field, Select } from "../ui/field.tsx";
import { endOfDay, Filters, inWords, optionsOf, startOfDay } from "../ui/filters.tsx";
import { Badge, Card, Heading, Time } from "../ui/page.tsx";
import { ListTable } from "../ui/table.tsx";

const looks = {
  created: "plain",
  in_progress: "warn",
  succeeded: "good",
  failed: "bad",
  expired: "plain",
  cancelled: "plain",
} as const;

export function StatusBadge({ status }: { status: SessionStatus }) {
  return <Badge look={looks[status]}>{inWords(status)}</Badge>;
}

export function SessionsPage() {
  const mayCreate = useMay("admin");
  const [filters, setFilters] = useState<Record<string, string>>({});
  const sessions = useList(listSessions, {
    query: present({
      status: filters.status,
      client_reference_id: filters.client_reference_id,
      created_from: startOfDay(filters.from),
      created_to: endOfDay(filters.to),
    }),
  });
  return (
    <>
      <Heading title="Sessions">
        {mayCreate ? (
          <LinkButton look="primary" to="/dashboard/sessions/new">
            Create a session
          </LinkButton>
        ) : null}
      </Heading>
      <Filters onApply={setFilters} onClear={() => setFilters({})}>
        <Select label="Status" name="status" options={optionsOf(sessionStatuses)} />
        <Field label="Your reference" name="client_reference_id" optional="quiet" maxLength={200} />
        <Field label="From" name="from" type="date" optional="quiet" />
        <Field label="To" name="to" type="date" optional="quiet" />
      </Filters>
      <Card>
        <ListTable
          caption="Sessions, the latest first"
          list={sessions}
          rowKey={({ id }) => id}
          empty={
            Object.values(filters).some((value) => value !== "")
              ? "Nothing fits these filters. Clear them to see everything."
              : "A session is one person's verification. Create one here to try it, or let your server create them."
          }
          columns={[
            {
              header: "Session",
              cell: (session) => (
                <Link to="/dashboard/sessions/$sessionId" params={{ sessionId: session.id }}>
                  <Id value={session.id} />
                </Link>
              ),
            },
            {
              header: "Status",
              cell: (session) => (
                <>
                  <StatusBadge status={session.status} />
                  {session.failure_code === null ? null : (
                    <span className="block text-sm text-muted">{inWords(session.failure_code)}</span>
                  )}
                </>
              ),
            },
            { header: "Reference", cell: (session) => <bdi>{session.client_reference_id ?? "–"}</bdi> },
            { header: "Created", cell: (session) => <Time at={session.created_at} /> },
            { header: "Ended", cell: (session) => <Time at={session.completed_at} /> },
          ]}
        />
      </Card>
    </>
  );
}
