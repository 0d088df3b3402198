import {
  deliveryStatuses,
  getDelivery,
  listDeliveries,
  listEndpoints,
  retryDelivery,
  type WebhookDelivery,
} from "@assay/contract/webhooks";
import { Link, useParams } from "@tanstack/react-router";
import { type ComponentProps, type ReactNode, useState } from "react";
import type { Static } from "typebox";
import { call, present } from "../api/call.ts";
import { refresh, useData, useList } from "../api/queries.ts";
import { useMay } from "../shell/organization-context.ts";
import { ActionButton, LinkButton } from "../ui/button.tsx";
import { Field, Select } from "../ui/field.tsx";
import { anyOption, endOfDay, Filters, inWords, optionsOf, startOfDay } from "../ui/filters.tsx";
import { Badge, Card, Facts, Heading, Loaded, Time } from "../ui/page.tsx";
import { Empty, ListTable, Table } from "../ui/table.tsx";

type Delivery = Static<typeof WebhookDelivery>;

const looks = { pending: "warn", delivering: "warn", succeeded: "good", failed: "bad" } as const;

export function DeliveryStatus({ status }: { status: Delivery["status"] }) {
  return <Badge look={looks[status]}>{status}</Badge>;
}

function outcome(statusCode: number | null, error: string | null): string {
  if (error === null) return statusCode === null ? "–" : String(statusCode);
  return statusCode === null ? inWords(error) : `${statusCode}, ${inWords(error)}`;
}

export function DeliveriesTable(props: {
  list: ComponentProps<typeof ListTable<Delivery>>["list"];
  empty: ReactNode;
}) {
  return (
    <ListTable
      caption="Deliveries, the latest first"
      list={props.list}
      rowKey={({ id }) => id}
      empty={props.empty}
      columns={[
        {
          header: "Event",
          cell: (delivery) => (
            <Link to="/dashboard/deliveries/$deliveryId" params={{ deliveryId: delivery.id }}>
              {delivery.event_type}
            </Link>
          ),
        },
        { header: "State", cell: (delivery) => <DeliveryStatus status={delivery.status} /> },
        { header: "Attempts", cell: (delivery) => delivery.attempt_count },
        {
          header: "Last answer",
          cell: (delivery) => outcome(delivery.last_status_code, delivery.last_error),
        },
        { header: "Created", cell: (delivery) => <Time at={delivery.created_at} /> },
      ]}
    />
  );
}

export function DeliveriesPage() {
  const [filters, setFilters] = useState<Record<string, string>>({});
  const endpoints = useList(listEndpoints, { query: { limit: 100 } });
  const deliveries = useList(listDeliveries, {
    query: present({
      status: filters.status,
      endpoint_id: filters.endpoint_id,
      created_from: startOfDay(filters.from),
      created_to: endOfDay(filters.to),
    }),
  });
  return (
    <>
      <Heading title="Deliveries" />
      <Filters onApply={setFilters} onClear={() => setFilters({})}>
        <Select label="State" name="status" options={optionsOf(deliveryStatuses)} />
        <Select
          label="Endpoint"
          name="endpoint_id"
          options={[
            anyOption,
            ...endpoints.items.map(({ id, name, url }) => ({ value: id, label: name ?? url })),
          ]}
        />
        <Field label="From" name="from" type="date" optional="quiet" />
        <Field label="To" name="to" type="date" optional="quiet" />
      </Filters>
      <Card>
        <DeliveriesTable
          list={deliveries}
          empty={
            Object.values(filters).some((value) => value !== "") ? (
              "Nothing fits these filters. Clear them to see everything."
            ) : (
              <>
                Nothing has been sent yet. <Link to="/dashboard/webhooks">Add an endpoint</Link> and send it a
                test event.
              </>
            )
          }
        />
      </Card>
    </>
  );
}

export function DeliveryPage() {
  const { deliveryId } = useParams({ from: "/shell/dashboard/deliveries/$deliveryId" });
  const params = { delivery_id: deliveryId };
  const delivery = useData(getDelivery, { params }, { refetchInterval: 5_000 });
  const mayChange = useMay("admin");
  return (
    <>
      <Heading title="Delivery">
        <LinkButton to="/dashboard/deliveries">All deliveries</LinkButton>
      </Heading>
      <Loaded query={delivery}>
        {({ data }) => (
          <>
            <Card>
              <Facts
                facts={[
                  ["State", <DeliveryStatus key="state" status={data.status} />],
                  [
                    "Event",
                    <Link key="event" to="/dashboard/events/$eventId" params={{ eventId: data.event_id }}>
                      {data.event_type}
                    </Link>,
                  ],
                  [
                    "Endpoint",
                    <Link
                      key="endpoint"
                      to="/dashboard/webhooks/$endpointId"
                      params={{ endpointId: data.webhook_endpoint_id }}
                    >
                      {data.webhook_endpoint_id}
                    </Link>,
                  ],
                  ["Created", <Time key="created" at={data.created_at} />],
                  ["Next attempt", <Time key="next" at={data.next_attempt_at} never="none" />],
                  [
                    "Payload",
                    data.payload_scrubbed_at === null ? (
                      data.payload_expires_at === null ? (
                        "kept, encrypted, until it is delivered"
                      ) : (
                        <span key="payload">
                          kept, encrypted, until <Time at={data.payload_expires_at} />
                        </span>
                      )
                    ) : (
                      <span key="payload">
                        scrubbed <Time at={data.payload_scrubbed_at} />
                      </span>
                    ),
                  ],
                  [
                    "Identifier",
                    <code key="id" className="font-mono text-sm break-all">
                      {data.id}
                    </code>,
                  ],
                ]}
              />
              {mayChange && data.payload_scrubbed_at === null && data.status !== "delivering" ? (
                <div className="mt-5">
                  <ActionButton
                    run={async () => {
                      await call(retryDelivery, { params });
                      await refresh(getDelivery, listDeliveries);
                    }}
                  >
                    Retry now
                  </ActionButton>
                </div>
              ) : null}
            </Card>
            <Card title="Attempts">
              {data.attempts.length === 0 ? (
                <Empty>Not tried yet.</Empty>
              ) : (
                <Table
                  caption="Attempts"
                  rows={data.attempts}
                  rowKey={({ id }) => id}
                  columns={[
                    { header: "When", cell: (attempt) => <Time at={attempt.attempted_at} /> },
                    { header: "Answer", cell: (attempt) => outcome(attempt.status_code, attempt.error) },
                    { header: "Took", cell: (attempt) => `${attempt.duration_ms.toLocaleString()} ms` },
                  ]}
                />
              )}
            </Card>
          </>
        )}
      </Loaded>
    </>
  );
}
