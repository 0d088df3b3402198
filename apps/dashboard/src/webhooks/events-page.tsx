import { eventTypes } from "@assay/contract/events";
import { getDelivery, getEvent, listDeliveries, listEvents, replayEvent } from "@assay/contract/webhooks";
import { Link, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { call, present } from "../api/call.ts";
import { refresh, useData, useList } from "../api/queries.ts";
import { useMay } from "../shell/organization-context.ts";
import { ActionButton } from "../ui/button.tsx";
import { CopyId, Id } from "../ui/copy.tsx";
import { Disclosure } from "../ui/disclosure.tsx";
import {
  anyOption,
  endOfDay,
  FilterSelect,
  Filters,
  FilterText,
  startOfDay,
  useFilters,
} from "../ui/filters.tsx";
import { Notice } from "../ui/notice.tsx";
import { Card, Facts, Heading, Loaded } from "../ui/page.tsx";
import { shortId } from "../ui/short-id.ts";
import { ListTable } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { DeliveriesTable } from "./deliveries-page.tsx";
import { eventLabels } from "./event-labels.ts";
import { SampleEvent } from "./sample-event.tsx";

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
      <Heading title="Events" about="What happened to your sessions, as your servers are told it." />
      <Filters filters={filters} dates="When">
        <FilterSelect
          label="Type"
          value={type}
          options={[anyOption, ...eventTypes.map((value) => ({ value, label: eventLabels[value] }))]}
          onChange={(value) => filters.set({ type: value })}
        />
        <FilterText
          label="Session"
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
          empty="Nothing has happened yet. An event appears here when a session ends."
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
            { header: "Reference", cell: (event) => event.client_reference_id ?? "–" },
            { header: "When", cell: (event) => <Time at={event.created_at} /> },
          ]}
        />
      </Card>
    </>
  );
}

export function EventPage() {
  const { eventId } = useParams({ from: "/shell/dashboard/events/$eventId" });
  const params = { event_id: eventId };
  const event = useData(getEvent, { params });
  const deliveries = useList(listDeliveries, { query: { event_id: eventId } });
  const mayChange = useMay("admin");
  const [replayed, setReplayed] = useState(false);
  return (
    <>
      <Heading title={`Event ${shortId(eventId)}`} crumbs={[{ label: "Events", to: "/dashboard/events" }]} />
      <Loaded query={event}>
        {({ data }) => (
          <Card>
            <Facts
              facts={[
                [
                  "What happened",
                  <span key="type">
                    {eventLabels[data.type]}{" "}
                    <code className="font-mono text-small text-muted">{data.type}</code>
                  </span>,
                ],
                [
                  "Session",
                  data.session_id === null ? (
                    "–"
                  ) : (
                    <Link
                      key="session"
                      to="/dashboard/sessions/$sessionId"
                      params={{ sessionId: data.session_id }}
                    >
                      <Id value={data.session_id} />
                    </Link>
                  ),
                ],
                ["Your reference", data.client_reference_id ?? "–"],
                ["Environment", data.sandbox ? "sandbox" : "live"],
                ["When", <Time key="when" full at={data.created_at} />],
                ...(data.retracted_at === null
                  ? []
                  : ([["Retracted", <Time key="retracted" full at={data.retracted_at} />]] as const)),
                ["Identifier", <CopyId key="id" value={data.id} />],
              ]}
            />
            {mayChange ? (
              <div className="mt-5">
                <ActionButton
                  run={async () => {
                    setReplayed(false);
                    await call(replayEvent, { params });
                    setReplayed(true);
                    await refresh(listDeliveries, getDelivery);
                  }}
                >
                  Send again what was not delivered
                </ActionButton>
                {replayed ? <Notice kind="good">It is being sent again.</Notice> : null}
              </div>
            ) : null}
          </Card>
        )}
      </Loaded>
      {event.data === undefined ? null : (
        <Card title="What an event of this kind says">
          <Disclosure title="Show a sample">
            <div className="mt-3">
              <SampleEvent type={event.data.data.type} />
            </div>
          </Disclosure>
          <p className="mt-3 text-small text-muted">
            What this one says is in its deliveries, encrypted to your key. This service keeps no readable
            copy.
          </p>
        </Card>
      )}
      <Card title="Deliveries">
        <DeliveriesTable list={deliveries} empty="No endpoint was subscribed to this event." />
      </Card>
    </>
  );
}
