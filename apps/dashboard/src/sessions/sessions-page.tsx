import { search } from "@assay/contract/search";
import { listSessions, type SessionStatus, sessionStatuses } from "@assay/contract/sessions";
import { Link } from "@tanstack/react-router";
import { present } from "../api/call.ts";
import { useData, useList } from "../api/queries.ts";
import { useMay } from "../shell/organization-context.ts";
import { LinkButton } from "../ui/button.tsx";
import { CopyButton, Id } from "../ui/copy.tsx";
import {
  endOfDay,
  FilterSelect,
  Filters,
  FilterText,
  inWords,
  optionsOf,
  startOfDay,
  useFilters,
} from "../ui/filters.tsx";
import { Badge, Card, Heading, Loaded } from "../ui/page.tsx";
import { ListTable, NothingFits, Table } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";

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
  const filters = useFilters(["status", "reference", "from", "to"]);
  const { status, reference, from, to } = filters.values;
  const sessions = useList(listSessions, {
    query: present({
      status: sessionStatuses.find((each) => each === status),
      client_reference_id: reference,
      created_from: startOfDay(from),
      created_to: endOfDay(to),
    }),
  });
  const create = mayCreate ? (
    <LinkButton look="primary" icon="plus" to="/dashboard/sessions/new">
      Create a session
    </LinkButton>
  ) : null;
  return (
    <>
      <Heading title="Sessions">{create}</Heading>
      <Filters filters={filters} dates="Created">
        <FilterSelect
          label="Status"
          value={status}
          options={optionsOf(sessionStatuses)}
          onChange={(value) => filters.set({ status: value })}
        />
        <FilterText
          label="Your reference"
          value={reference}
          maxLength={200}
          onChange={(value) => filters.set({ reference: value })}
        />
      </Filters>
      <Card>
        {reference !== undefined && sessions.isSuccess && sessions.items.length === 0 ? (
          <BeginningWith reference={reference} status={status} from={startOfDay(from)} to={endOfDay(to)} />
        ) : (
          <ListTable
            caption="Sessions, the latest first"
            list={sessions}
            rowKey={({ id }) => id}
            emptyIcon="sessions"
            emptyAction={create}
            empty="A session is one person's verification. Create one here to try it, or let your server create them."
            isFiltered={filters.count > 0}
            columns={[
              {
                header: "Session",
                phone: "title",
                cell: (session) => (
                  <span className="inline-flex items-center gap-1">
                    <Link to="/dashboard/sessions/$sessionId" params={{ sessionId: session.id }}>
                      <Id value={session.id} />
                    </Link>
                    <span className="max-sm:hidden">
                      <CopyButton value={session.id} what={`the identifier ${session.id.slice(-4)}`} />
                    </span>
                  </span>
                ),
              },
              {
                header: "Status",
                phone: "end",
                cell: (session) => (
                  <>
                    <StatusBadge status={session.status} />
                    {session.failure_code === null ? null : (
                      <span className="block text-small text-muted">{inWords(session.failure_code)}</span>
                    )}
                  </>
                ),
              },
              { header: "Reference", cell: (session) => <bdi>{session.client_reference_id ?? "–"}</bdi> },
              { header: "Created", cell: (session) => <Time at={session.created_at} /> },
              { header: "Ended", phone: "hidden", cell: (session) => <Time at={session.completed_at} /> },
            ]}
          />
        )}
      </Card>
    </>
  );
}

/**
 * Where no session has exactly this reference: those whose reference begins with it. The API's filter is exact, as
 * programs need it; people type the beginning.
 */
function BeginningWith(props: {
  reference: string;
  status: string | undefined;
  from: string | undefined;
  to: string | undefined;
}) {
  const result = useData(search, { query: { text: props.reference, kind: "session" } });
  const found = (result.data?.data.found ?? []).filter(
    ({ detail, created_at: at }) =>
      (props.status === undefined || props.status === detail) &&
      (props.from === undefined || at >= props.from) &&
      (props.to === undefined || at <= props.to),
  );
  if (result.data === undefined) return <Loaded query={result}>{() => null}</Loaded>;
  if (found.length === 0) return <NothingFits />;
  return (
    <>
      <p className="mb-2 text-muted">
        The latest whose reference begins with “<bdi>{props.reference}</bdi>”:
      </p>
      <Table
        caption="Sessions whose reference begins so"
        rows={found}
        rowKey={({ id }) => id}
        columns={[
          {
            header: "Reference",
            phone: "title",
            cell: ({ id, title }) => (
              <Link to="/dashboard/sessions/$sessionId" params={{ sessionId: id }}>
                <bdi>{title}</bdi>
              </Link>
            ),
          },
          {
            header: "Status",
            phone: "end",
            cell: ({ detail }) => {
              const found = sessionStatuses.find((each) => each === detail);
              return found === undefined ? null : <StatusBadge status={found} />;
            },
          },
          { header: "Created", cell: ({ created_at }) => <Time at={created_at} /> },
        ]}
      />
    </>
  );
}
