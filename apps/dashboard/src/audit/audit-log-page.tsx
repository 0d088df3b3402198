import { type AuditLog, auditEvents, listAuditLogs } from "@assay/contract/audit";
import { listMembers } from "@assay/contract/organizations";
import { Link } from "@tanstack/react-router";
import type { Static } from "typebox";
import { present } from "../api/call.ts";
import { useList } from "../api/queries.ts";
import { t } from "../i18n/words.ts";
import { ActionButton } from "../ui/button.tsx";
import { Id } from "../ui/copy.tsx";
import { Disclosure } from "../ui/disclosure.tsx";
import { exportList } from "../ui/export-list.ts";
import { anyOption, FilterSelect, Filters, useFilters } from "../ui/filters.tsx";
import { Badge, Card, Heading } from "../ui/page.tsx";
import { shortId } from "../ui/short-id.ts";
import { ListTable } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { auditDeed } from "./audit-sentence.ts";

type Entry = Static<typeof AuditLog>;
type NameOf = (id: string) => string | undefined;

function actorName({ actor_type: type, actor_id: id }: Entry, nameOf: NameOf): string {
  if (type === "key" && id !== null) return t.audit.apiKey(shortId(id));
  return (id === null ? undefined : nameOf(id)) ?? t.audit.actor[type];
}

export function AuditLogPage() {
  const filters = useFilters(["event", "by", "from", "to"]);
  const { event, by } = filters.values;
  const members = useList(listMembers, { query: { limit: 100 } });
  const query = {
    ...filters.period,
    ...present({ event: auditEvents.find((each) => each === event), actor_id: by }),
  };
  const log = useList(listAuditLogs, { query });
  const nameOf: NameOf = (id) => members.items.find((member) => member.user_id === id)?.name;
  return (
    <>
      <Heading title={t.shell.pages.auditLog} about={t.audit.about}>
        <ActionButton icon="download" run={() => exportLog(query, nameOf)}>
          {t.ui.export}
        </ActionButton>
      </Heading>
      <Filters filters={filters} dates={t.ui.when}>
        <FilterSelect
          label={t.ui.event}
          value={event}
          options={[anyOption, ...auditEvents.map((each) => ({ value: each, label: t.audit.event[each] }))]}
          onChange={(value) => filters.set({ event: value })}
        />
        <FilterSelect
          label={t.audit.by}
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
          caption={t.audit.caption}
          list={log}
          rowKey={({ id }) => id}
          emptyIcon="audit"
          empty={t.audit.empty}
          isFiltered={filters.count > 0}
          columns={[
            {
              header: t.audit.action,
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
              header: t.ui.environment,
              cell: ({ environment }) =>
                environment === null ? (
                  <span className="text-muted">{t.audit.both}</span>
                ) : (
                  <Badge look="plain">{t.ui.environments[environment]}</Badge>
                ),
            },
            { header: t.ui.when, cell: (entry) => <Time at={entry.created_at} /> },
          ]}
        />
      </Card>
    </>
  );
}

/** The target with a link to its page, if there is one and this environment may show it. */
function Target({ entry: { target_id: id } }: { entry: Entry }) {
  if (id === null) return null;
  const shown = <Id value={id} />;
  const link = id.startsWith("vs_") ? (
    <Link to="/dashboard/sessions/$sessionId" params={{ sessionId: id }}>
      {shown}
    </Link>
  ) : id.startsWith("whe_") ? (
    <Link to="/dashboard/webhooks/$endpointId" params={{ endpointId: id }}>
      {shown}
    </Link>
  ) : null;
  return link && <> {link}</>;
}

function detailText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function Details({ details }: { details: Record<string, unknown> }) {
  const entries = Object.entries(details).filter(([, value]) => value !== null);
  if (entries.length === 0) return null;
  return (
    <Disclosure small title={t.ui.details}>
      <ul className="mt-1">
        {entries.map(([name, value]) => (
          <li key={name}>
            <code className="font-mono text-small text-muted">{name}</code> <bdi>{detailText(value)}</bdi>
          </li>
        ))}
      </ul>
    </Disclosure>
  );
}

function exportLog(query: Record<string, unknown>, nameOf: NameOf): Promise<void> {
  return exportList<Entry>(listAuditLogs, query, {
    name: "audit-log",
    heads: ["time", "environment", "by", "actor_type", "actor_id", "event", "what", "target_id", "details"],
    row: (entry) => [
      entry.created_at,
      entry.environment ?? "both",
      actorName(entry, nameOf),
      entry.actor_type,
      entry.actor_id,
      entry.event,
      auditDeed(entry.event, entry.details),
      entry.target_id,
      JSON.stringify(entry.details),
    ],
  });
}
