import { type AuditLog, auditEvents, listAuditLogs } from "@assay/contract/audit";
import { listMembers } from "@assay/contract/organizations";
import { Link } from "@tanstack/react-router";
import type { Static } from "typebox";
import { call, present } from "../api/call.ts";
import { useList } from "../api/queries.ts";
import { ActionButton } from "../ui/button.tsx";
import { Id } from "../ui/copy.tsx";
import { csvOf, saveCsv } from "../ui/csv.ts";
import { Disclosure } from "../ui/disclosure.tsx";
import {
  anyOption,
  endOfDay,
  FilterSelect,
  Filters,
  inWords,
  startOfDay,
  useFilters,
} from "../ui/filters.tsx";
import { Badge, Card, Heading } from "../ui/page.tsx";
import { shortId } from "../ui/short-id.ts";
import { ListTable } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { toast } from "../ui/toasts.tsx";
import { auditDeed, auditLabel } from "./audit-sentence.ts";

type Entry = Static<typeof AuditLog>;
type NameOf = (id: string) => string | undefined;

const actors = {
  user: "Somebody who is no longer here",
  key: "An API key",
  person: "The person being verified",
  system: "The service",
} as const;

function actorName({ actor_type: type, actor_id: id }: Entry, nameOf: NameOf): string {
  if (type === "key" && id !== null) return `The API key ${shortId(id)}`;
  return (id === null ? undefined : nameOf(id)) ?? actors[type];
}

/** A file with more would be long in the making, page by page, and too long for spreadsheets; a shorter time gives the rest. */
const maxExported = 10_000;

export function AuditLogPage() {
  const filters = useFilters(["event", "by", "from", "to"]);
  const { event, by, from, to } = filters.values;
  const members = useList(listMembers, { query: { limit: 100 } });
  const query = present({
    event: auditEvents.find((each) => each === event),
    actor_id: by,
    created_from: startOfDay(from),
    created_to: endOfDay(to),
  });
  const log = useList(listAuditLogs, { query });
  const nameOf: NameOf = (id) => members.items.find((member) => member.user_id === id)?.name;
  return (
    <>
      <Heading title="Audit log" about="Who did what in the organization, in both environments.">
        <ActionButton small icon="download" run={() => exportLog(query, nameOf)}>
          Export as CSV
        </ActionButton>
      </Heading>
      <Filters filters={filters} dates="When">
        <FilterSelect
          label="Event"
          value={event}
          options={[anyOption, ...auditEvents.map((each) => ({ value: each, label: auditLabel(each) }))]}
          onChange={(value) => filters.set({ event: value })}
        />
        <FilterSelect
          label="By"
          value={by}
          options={[
            anyOption,
            ...members.items.map(({ user_id, name }) => ({ value: user_id, label: name })),
          ]}
          onChange={(value) => filters.set({ by: value })}
        />
      </Filters>
      <Card>
        <ListTable
          caption="What was done, the latest first"
          list={log}
          rowKey={({ id }) => id}
          emptyIcon="audit"
          empty="Nothing has been done yet."
          isFiltered={filters.count > 0}
          columns={[
            {
              header: "What was done",
              cell: (entry) => (
                <>
                  <p className="wrap-anywhere">
                    <bdi className="font-medium">{actorName(entry, nameOf)}</bdi>{" "}
                    {auditDeed(entry.event, entry.details)}
                    <Target entry={entry} />
                  </p>
                  <Details details={entry.details} />
                </>
              ),
            },
            {
              header: "Environment",
              cell: ({ environment }) =>
                environment === null ? (
                  <span className="text-muted">both</span>
                ) : (
                  <Badge look={environment === "live" ? "good" : "warn"}>{environment}</Badge>
                ),
            },
            { header: "When", cell: (entry) => <Time at={entry.created_at} /> },
          ]}
        />
      </Card>
    </>
  );
}

/** Where it can be looked at, if there is a page for it and this environment may show it. */
function Target({ entry: { target_id: id } }: { entry: Entry }) {
  if (id === null) return null;
  const shown = <Id value={id} />;
  if (id.startsWith("vs_"))
    return (
      <>
        {" "}
        <Link to="/dashboard/sessions/$sessionId" params={{ sessionId: id }}>
          {shown}
        </Link>
      </>
    );
  if (id.startsWith("whe_"))
    return (
      <>
        {" "}
        <Link to="/dashboard/webhooks/$endpointId" params={{ endpointId: id }}>
          {shown}
        </Link>
      </>
    );
  return null;
}

function detailText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function Details({ details }: { details: Record<string, unknown> }) {
  const entries = Object.entries(details).filter(([, value]) => value !== null);
  if (entries.length === 0) return null;
  return (
    <Disclosure small title="Details">
      <ul className="mt-1">
        {entries.map(([name, value]) => (
          <li key={name}>
            <span className="text-muted">{inWords(name)}:</span> <bdi>{detailText(value)}</bdi>
          </li>
        ))}
      </ul>
    </Disclosure>
  );
}

/** All that the filters leave, not only what is shown. */
async function exportLog(query: Record<string, unknown>, nameOf: NameOf): Promise<void> {
  const entries: Entry[] = [];
  let after: string | null = null;
  do {
    const page: { data: Entry[]; pagination: { has_more: boolean; next_cursor: string | null } } = await call(
      listAuditLogs,
      { query: { ...query, limit: 100, ...(after === null ? {} : { starting_after: after }) } as never },
    );
    entries.push(...page.data);
    after = page.pagination.has_more ? page.pagination.next_cursor : null;
  } while (after !== null && entries.length < maxExported);
  const rows = entries.map((entry) => [
    entry.created_at,
    entry.environment ?? "both",
    actorName(entry, nameOf),
    entry.actor_type,
    entry.actor_id,
    entry.event,
    auditDeed(entry.event, entry.details),
    entry.target_id,
    JSON.stringify(entry.details),
  ]);
  const heads = [
    "time",
    "environment",
    "by",
    "actor_type",
    "actor_id",
    "event",
    "what",
    "target_id",
    "details",
  ];
  saveCsv(`audit-log-${new Date().toISOString().slice(0, 10)}.csv`, csvOf([heads, ...rows]));
  toast(
    after === null
      ? `${entries.length.toLocaleString("en")} entries were exported.`
      : `The latest ${entries.length.toLocaleString("en")} entries were exported. Choose a shorter time for older ones.`,
    after === null ? "good" : "warn",
  );
}
