import {
  deliveryStatuses,
  listDeliveries,
  listEndpoints,
  type DeliveryStatus as Status,
  type WebhookDelivery,
} from "@assay/contract/webhooks";
import { Link } from "@tanstack/react-router";
import type { ComponentProps, ReactNode } from "react";
import type { Static } from "typebox";
import { present } from "../api/call.ts";
import { useList } from "../api/queries.ts";
import { LinkButton } from "../ui/button.tsx";
import { anyOption, endOfDay, FilterSelect, Filters, startOfDay, useFilters } from "../ui/filters.tsx";
import { Badge, Card, Heading } from "../ui/page.tsx";
import { ListTable } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
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
  emptyAction?: ReactNode;
  isFiltered?: boolean;
}) {
  return (
    <ListTable
      caption="Deliveries, the latest first"
      list={props.list}
      rowKey={({ id }) => id}
      empty={props.empty}
      emptyIcon="deliveries"
      emptyAction={props.emptyAction}
      isFiltered={props.isFiltered}
      columns={[
        {
          header: "Event",
          cell: (delivery) => (
            <Link to="/dashboard/deliveries/$deliveryId" params={{ deliveryId: delivery.id }}>
              {eventLabels[delivery.event_type]}
            </Link>
          ),
        },
        { header: "State", phone: "end", cell: (delivery) => <DeliveryStatus status={delivery.status} /> },
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
  const filters = useFilters(["status", "endpoint", "from", "to"]);
  const { status, endpoint, from, to } = filters.values;
  const endpoints = useList(listEndpoints, { query: { limit: 100 } });
  const deliveries = useList(listDeliveries, {
    query: present({
      status: deliveryStatuses.find((each) => each === status),
      endpoint_id: endpoint,
      created_from: startOfDay(from),
      created_to: endOfDay(to),
    }),
  });
  return (
    <>
      <Heading title="Deliveries" about="Every event that was sent, or tried, to one of your endpoints." />
      <Filters filters={filters} dates="Created">
        <FilterSelect
          label="State"
          value={status}
          options={[anyOption, ...deliveryStatuses.map((value) => ({ value, label: stateText(value) }))]}
          onChange={(value) => filters.set({ status: value })}
        />
        <FilterSelect
          label="Endpoint"
          value={endpoint}
          options={[
            anyOption,
            ...endpoints.items.map(({ id, name, url }) => ({ value: id, label: name ?? url })),
          ]}
          onChange={(value) => filters.set({ endpoint: value })}
        />
      </Filters>
      <Card>
        <DeliveriesTable
          list={deliveries}
          empty="Nothing has been sent yet. Add an endpoint and send it a test event."
          isFiltered={filters.count > 0}
          emptyAction={<LinkButton to="/dashboard/webhooks">Go to the endpoints</LinkButton>}
        />
      </Card>
    </>
  );
}
