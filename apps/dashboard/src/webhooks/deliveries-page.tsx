import {
  deliveryStatuses,
  listDeliveries,
  listEndpoints,
  type DeliveryStatus as Status,
  type WebhookDelivery,
} from "@assay/contract/webhooks";
import { Link } from "@tanstack/react-router";
import { type ComponentProps, type ReactNode, useState } from "react";
import type { Static } from "typebox";
import { present } from "../api/call.ts";
import { useList } from "../api/queries.ts";
import { Field, Select } from "../ui/field.tsx";
import { anyOption, endOfDay, Filters, startOfDay } from "../ui/filters.tsx";
import { Badge, Card, Heading, Time } from "../ui/page.tsx";
import { ListTable } from "../ui/table.tsx";
import { answerText, stateText } from "./delivery-words.ts";
import { eventLabels } from "./event-labels.ts";

type Delivery = Static<typeof WebhookDelivery>;

const looks = { pending: "warn", delivering: "warn", succeeded: "good", failed: "bad" } as const;

export function DeliveryStatus({ status }: { status: Status }) {
  return <Badge look={looks[status]}>{stateText(status)}</Badge>;
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
              {eventLabels[delivery.event_type]}
            </Link>
          ),
        },
        { header: "State", cell: (delivery) => <DeliveryStatus status={delivery.status} /> },
        { header: "Tries", cell: (delivery) => delivery.attempt_count },
        {
          header: "Last answer",
          cell: (delivery) => answerText(delivery.last_status_code, delivery.last_error),
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
        <Select
          label="State"
          name="status"
          options={[anyOption, ...deliveryStatuses.map((value) => ({ value, label: stateText(value) }))]}
        />
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
