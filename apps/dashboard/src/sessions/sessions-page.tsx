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
import { t } from "../i18n/words.ts";
import { useMay } from "../shell/organization-context.ts";
import { ActionButton, LinkButton } from "../ui/button.tsx";
import { CopyButton, Id } from "../ui/copy.tsx";
import { exportList } from "../ui/export-list.ts";
import { Filters, FilterText, useFilters } from "../ui/filters.tsx";
import { Card, Heading } from "../ui/page.tsx";
import { Status } from "../ui/status.tsx";
import { ListTable } from "../ui/table.tsx";
import { Tabs } from "../ui/tabs.tsx";
import { Time } from "../ui/time.tsx";
import { titleTime } from "../ui/times.ts";

const tabs = ["all", "open", "succeeded", "failed", "expired", "cancelled"] as const;

export function SessionsPage() {
  const mayCreate = useMay("admin");
  const filters = useFilters(["status", "reference", "from", "to"]);
  const { status = "", reference } = filters.values;
  const { period } = filters;
  const query = {
    ...period,
    ...present({
      status: sessionFilters.find((each) => each === status),
      client_reference_id_prefix: reference,
    }),
  };
  const sessions = useList(listSessions, { query });
  // No index counts search matches by status, so the tabs of a search have no counts.
  const counted = useData(countSessions, { query: period }, { enabled: reference === undefined });
  const counts = reference === undefined ? counted.data?.data : undefined;
  const create = mayCreate ? (
    <LinkButton look="primary" icon="plus" to="/dashboard/sessions/new">
      {t.ui.createSession}
    </LinkButton>
  ) : null;
  return (
    <>
      <Heading title={t.shell.pages.sessions}>
        {create}
        <ActionButton icon="download" run={() => exportSessions(query)}>
          {t.ui.export}
        </ActionButton>
      </Heading>
      <Tabs
        label={t.ui.status}
        value={tabs.find((tab) => tab === status) ?? "all"}
        maxCount={maxCounted}
        tabs={tabs.map((tab) => ({ value: tab, label: t.ui.sessionTabs[tab], count: counts?.[tab] }))}
        onChange={(tab) => filters.set({ status: tab === "all" ? "" : tab })}
      />
      <Filters filters={filters} dates={t.ui.created}>
        <FilterText
          label={t.sessions.searchReference}
          value={reference}
          maxLength={200}
          onChange={(value) => filters.set({ reference: value })}
        />
      </Filters>
      <Card>
        <ListTable
          caption={t.sessions.caption}
          list={sessions}
          rowKey={({ id }) => id}
          emptyIcon="sessions"
          emptyAction={create}
          empty={t.sessions.empty}
          isFiltered={filters.count > 0}
          columns={[
            {
              header: t.ui.session,
              phone: "title",
              cell: (session) => (
                <Link to="/dashboard/sessions/$sessionId" params={{ sessionId: session.id }}>
                  <RowTitle session={session} />
                </Link>
              ),
            },
            {
              header: t.ui.status,
              phone: "end",
              cell: (session) => (
                <>
                  <Status of={session.status} />
                  {session.failure_code === null ? null : (
                    <span className="block text-small text-muted">
                      {t.sessions.failure[session.failure_code]}
                    </span>
                  )}
                </>
              ),
            },
            { header: t.ui.created, cell: (session) => <Time at={session.created_at} /> },
            {
              header: t.sessions.ended,
              phone: "hidden",
              cell: (session) => <Time at={session.completed_at} />,
            },
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

/** Sessions of the same minute would look alike, so the end of the identifier follows the time. */
function RowTitle({ session }: { session: Static<typeof Session> }) {
  if (session.client_reference_id !== null) return <bdi>{session.client_reference_id}</bdi>;
  return (
    <>
      {titleTime(new Date(session.created_at), new Date())}{" "}
      <code className="font-mono text-small whitespace-nowrap text-muted">…{session.id.slice(-4)}</code>
    </>
  );
}

/** The listed columns and the partner's metadata. Not the link, which grants access, nor shared data. */
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
