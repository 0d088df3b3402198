import { eventTypes } from "@assay/contract/events";
import { getDelivery, getEvent, listDeliveries, listEvents, replayEvent } from "@assay/contract/webhooks";
import { Link, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { call, present } from "../api/call.ts";
import { refresh, useData, useList } from "../api/queries.ts";
import { useMay } from "../shell/organization-context.ts";
import { ActionButton, LinkButton } from "../ui/button.tsx";
import { CopyId, Id } from "../ui/copy.tsx";
import { Field, Select } from "../ui/field.tsx";
import { anyOption, endOfDay, Filters, startOfDay } from "../ui/filters.tsx";
import { Notice } from "../ui/notice.tsx";
import { Card, Facts, Heading, Loaded, Time } from "../ui/page.tsx";
import { ListTable } from "../ui/table.tsx";
import { DeliveriesTable } from "./deliveries-page.tsx";
import { eventLabels } from "./event-labels.ts";
import { SampleEvent } from "./sample-event.tsx";

export function EventsPage() {
  const [filters, setFilters] = useState<Record<string, string>>({});
  const events = useList(listEvents, {
    query: present({
      type: filters.type,
      session_id: filters.session_id,
      created_from: startOfDay(filters.from),
      created_to: endOfDay(filters.to),
    }),
  });
  return (
    <>
      <Heading title="Events" />
      <Filters onApply={setFilters} onClear={() => setFilters({})}>
        <Select
          label="Type"
          name="type"
          options={[anyOption, ...eventTypes.map((value) => ({ value, label: eventLabels[value] }))]}
        />
        <Field label="Session" name="session_id" optional="quiet" />
        <Field label="From" name="from" type="date" optional="quiet" />
        <Field label="To" name="to" type="date" optional="quiet" />
      </Filters>
      <Card>
        <ListTable
          caption="Events, the latest first"
          list={events}
          rowKey={({ id }) => id}
          empty={
            Object.values(filters).some((value) => value !== "")
              ? "Nothing fits these filters. Clear them to see everything."
              : "Nothing has happened yet. An event appears here when a session ends."
          }
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
      <Heading title="Event">
        <LinkButton to="/dashboard/events">All events</LinkButton>
      </Heading>
      <Loaded query={event}>
        {({ data }) => (
          <Card>
            <Facts
              facts={[
                [
                  "What happened",
                  <span key="type">
                    {eventLabels[data.type]} <code className="font-mono text-sm text-muted">{data.type}</code>
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
                ["When", <Time key="when" at={data.created_at} />],
                ...(data.retracted_at === null
                  ? []
                  : ([["Retracted", <Time key="retracted" at={data.retracted_at} />]] as const)),
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
          <details>
            <summary>Show a sample</summary>
            <div className="mt-3">
              <SampleEvent type={event.data.data.type} />
            </div>
          </details>
          <p className="mt-3 text-sm text-muted">
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
