import {
  countSessions,
  listSessions,
  maxCounted,
  type Session,
  sessionFilters,
} from "@assay/contract/sessions";
import { Link } from "@tanstack/react-router";
import type { Static } from "typebox";
import { present } from "../api/call.ts";
import { useData, useList } from "../api/queries.ts";
import { useMay } from "../shell/organization-context.ts";
import { ActionButton, LinkButton } from "../ui/button.tsx";
import { CopyButton, Id } from "../ui/copy.tsx";
import { exportList } from "../ui/export-list.ts";
import { endOfDay, Filters, FilterText, inWords, startOfDay, useFilters } from "../ui/filters.tsx";
import { Card, Heading } from "../ui/page.tsx";
import { Status } from "../ui/status.tsx";
import { ListTable } from "../ui/table.tsx";
import { Tabs } from "../ui/tabs.tsx";
import { Time } from "../ui/time.tsx";
import { sessionTitle } from "./session-title.ts";

const tabs = [
  { value: "", label: "All", counted: "all" },
  { value: "open", label: "Open", counted: "open" },
  { value: "succeeded", label: "Succeeded", counted: "succeeded" },
  { value: "failed", label: "Failed", counted: "failed" },
  { value: "expired", label: "Expired", counted: "expired" },
  { value: "cancelled", label: "Cancelled", counted: "cancelled" },
] as const;

export function SessionsPage() {
  const mayCreate = useMay("admin");
  const filters = useFilters(["status", "reference", "from", "to"]);
  const { status = "", reference, from, to } = filters.values;
  const period = present({ created_from: startOfDay(from), created_to: endOfDay(to) });
  const query = {
    ...period,
    ...present({
      status: sessionFilters.find((each) => each === status),
      client_reference_id_prefix: reference,
    }),
  };
  const sessions = useList(listSessions, { query });
  // No index counts the matches of a search by status, so then the tabs have no counts.
  const counted = useData(countSessions, { query: period }, { enabled: reference === undefined });
  const counts = reference === undefined ? counted.data?.data : undefined;
  const create = mayCreate ? (
    <LinkButton look="primary" icon="plus" to="/dashboard/sessions/new">
      Create session
    </LinkButton>
  ) : null;
  return (
    <>
      <Heading title="Sessions">
        {create}
        <ActionButton icon="download" run={() => exportSessions(query)}>
          Export
        </ActionButton>
      </Heading>
      <Tabs
        label="Status"
        value={tabs.find(({ value }) => value === status)?.value ?? ""}
        maxCount={maxCounted}
        tabs={tabs.map(({ value, label, counted: of }) => ({ value, label, count: counts?.[of] }))}
        onChange={(value) => filters.set({ status: value })}
      />
      <Filters filters={filters} dates="Created">
        <FilterText
          label="Reference starts with"
          value={reference}
          maxLength={200}
          onChange={(value) => filters.set({ reference: value })}
        />
      </Filters>
      <Card>
        <ListTable
          caption="Sessions, the latest first"
          list={sessions}
          rowKey={({ id }) => id}
          emptyIcon="sessions"
          emptyAction={create}
          empty="A session verifies one person. Create one here to try it, or from your server."
          isFiltered={filters.count > 0}
          columns={[
            {
              header: "Session",
              phone: "title",
              cell: (session) => (
                <Link to="/dashboard/sessions/$sessionId" params={{ sessionId: session.id }}>
                  <bdi>{sessionTitle(session)}</bdi>
                </Link>
              ),
            },
            {
              header: "Status",
              phone: "end",
              cell: (session) => (
                <>
                  <Status of={session.status} />
                  {session.failure_code === null ? null : (
                    <span className="block text-small text-muted">{inWords(session.failure_code)}</span>
                  )}
                </>
              ),
            },
            { header: "Created", cell: (session) => <Time at={session.created_at} /> },
            { header: "Ended", phone: "hidden", cell: (session) => <Time at={session.completed_at} /> },
            {
              header: "ID",
              phone: "hidden",
              cell: (session) => (
                <span className="-my-1.5 inline-flex items-center gap-1">
                  <Id value={session.id} />
                  <CopyButton value={session.id} what={`ID ${session.id.slice(-4)}`} />
                </span>
              ),
            },
          ]}
        />
      </Card>
    </>
  );
}

/** What the list shows and the partner's own notes: no link, which lets in who has it, and nothing that was shared. */
function exportSessions(query: Record<string, unknown>): Promise<void> {
  return exportList<Static<typeof Session>>(listSessions, query, {
    name: "sessions",
    heads: ["id", "reference", "status", "failure_code", "methods", "created_at", "ended_at", "metadata"],
    row: (session) => [
      session.id,
      session.client_reference_id,
      session.status,
      session.failure_code,
      session.methods.join(" "),
      session.created_at,
      session.completed_at,
      JSON.stringify(session.metadata),
    ],
  });
}
