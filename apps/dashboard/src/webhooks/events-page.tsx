import { eventTypes } from "@assay/contract/events";
import { listEvents } from "@assay/contract/webhooks";
import { Link } from "@tanstack/react-router";
import { present } from "../api/call.ts";
import { useList } from "../api/queries.ts";
import { t } from "../i18n/words.ts";
import { anyOption, FilterSelect, Filters, FilterText, useFilters } from "../ui/filters.tsx";
import { Card, Heading } from "../ui/page.tsx";
import { ListTable } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";

export function EventsPage() {
  const filters = useFilters(["type", "session", "from", "to"]);
  const { type, session } = filters.values;
  const events = useList(listEvents, {
    query: {
      ...filters.period,
      ...present({ type: eventTypes.find((each) => each === type), session_id: session }),
    },
  });
  return (
    <>
      <Heading title={t.shell.pages.events} about={t.webhooks.eventsAbout} />
      <Filters filters={filters} dates={t.ui.created}>
        <FilterSelect
          label={t.webhooks.type}
          value={type}
          options={[anyOption, ...eventTypes.map((value) => ({ value, label: t.webhooks.event[value] }))]}
          onChange={(value) => filters.set({ type: value })}
        />
        <FilterText
          label={t.webhooks.sessionId}
          value={session}
          maxLength={100}
          onChange={(value) => filters.set({ session: value })}
        />
      </Filters>
      <Card>
        <ListTable
          caption={t.webhooks.eventsCaption}
          list={events}
          rowKey={({ id }) => id}
          emptyIcon="events"
          empty={t.webhooks.eventsEmpty}
          isFiltered={filters.count > 0}
          columns={[
            {
              header: t.webhooks.type,
              cell: (event) => (
                <Link to="/dashboard/events/$eventId" params={{ eventId: event.id }}>
                  {t.webhooks.event[event.type]}
                </Link>
              ),
            },
            { header: t.webhooks.reference, cell: (event) => <bdi>{event.client_reference_id ?? "–"}</bdi> },
            { header: t.ui.created, cell: (event) => <Time at={event.created_at} /> },
          ]}
        />
      </Card>
    </>
  );
}
