import { eventTypes } from "@assay/contract/events";
import { listEvents } from "@assay/contract/webhooks";
import { Link } from "@tanstack/react-router";
import { present } from "../api/call.ts";
import { useList } from "../api/queries.ts";
import {
  anyOption,
  endOfDay,
  FilterSelect,
  Filters,
  FilterText,
  startOfDay,
  useFilters,
} from "../ui/filters.tsx";
import { Card, Heading } from "../ui/page.tsx";
import { ListTable } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { eventLabels } from "./event-labels.ts";

export function EventsPage() {
  const filters = useFilters(["type", "session", "from", "to"]);
  const { type, session, from, to } = filters.values;
  const events = useList(listEvents, {
    query: present({
      type: eventTypes.find((each) => each === type),
      session_id: session,
      created_from: startOfDay(from),
      created_to: endOfDay(to),
    }),
  });
  return (
    <>
      <Heading
        title="Events"
        about="What happened to your sessions. Your endpoints receive these events as webhooks."
      />
      <Filters filters={filters} dates="Created">
        <FilterSelect
          label="Type"
          value={type}
          options={[anyOption, ...eventTypes.map((value) => ({ value, label: eventLabels[value] }))]}
          onChange={(value) => filters.set({ type: value })}
        />
        <FilterText
          label="Session ID"
          value={session}
          maxLength={100}
          onChange={(value) => filters.set({ session: value })}
        />
      </Filters>
      <Card>
        <ListTable
          caption="Events, the latest first"
          list={events}
          rowKey={({ id }) => id}
          emptyIcon="events"
          empty="No events yet. A session creates one when it ends."
          isFiltered={filters.count > 0}
          columns={[
            {
              header: "Type",
              cell: (event) => (
                <Link to="/dashboard/events/$eventId" params={{ eventId: event.id }}>
                  {eventLabels[event.type]}
                </Link>
              ),
            },
            { header: "Reference", cell: (event) => <bdi>{event.client_reference_id ?? "–"}</bdi> },
            { header: "Created", cell: (event) => <Time at={event.created_at} /> },
          ]}
        />
      </Card>
    </>
  );
}
