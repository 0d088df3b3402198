import { maxCounted } from "@assay/contract/sessions";
import {
  countDeliveries,
  deliveryStatuses,
  listDeliveries,
  listEndpoints,
  type WebhookDelivery,
} from "@assay/contract/webhooks";
import { Link } from "@tanstack/react-router";
import type { ComponentProps, ReactNode } from "react";
import type { Static } from "typebox";
import { present } from "../api/call.ts";
import { useData, useList } from "../api/queries.ts";
import { useMay } from "../shell/organization-context.ts";
import { LinkButton } from "../ui/button.tsx";
import { anyOption, endOfDay, FilterSelect, Filters, startOfDay, useFilters } from "../ui/filters.tsx";
import { Card, Heading } from "../ui/page.tsx";
import { DeliveryStatus } from "../ui/status.tsx";
import { ListTable } from "../ui/table.tsx";
import { Tabs } from "../ui/tabs.tsx";
import { Time } from "../ui/time.tsx";
import { answerText } from "./delivery-words.ts";
import { eventLabels } from "./event-labels.ts";
import { RetryFailed } from "./retry-failed.tsx";

type Delivery = Static<typeof WebhookDelivery>;

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
        { header: "Status", phone: "end", cell: (delivery) => <DeliveryStatus of={delivery} /> },
        { header: "Attempts", cell: (delivery) => delivery.attempt_count },
        {
          header: "Last response",
          cell: (delivery) => answerText(delivery.last_status_code, delivery.last_error),
        },
        { header: "Created", cell: (delivery) => <Time at={delivery.created_at} /> },
      ]}
    />
  );
}

const tabs = [
  { value: "", label: "All", counted: "all" },
  { value: "pending", label: "Pending", counted: "pending" },
  { value: "succeeded", label: "Delivered", counted: "succeeded" },
  { value: "failed", label: "Failed", counted: "failed" },
] as const;

export function DeliveriesPage() {
  const filters = useFilters(["status", "endpoint", "from", "to"]);
  const mayChange = useMay("admin");
  const { status = "", endpoint, from, to } = filters.values;
  const endpoints = useList(listEndpoints, { query: { limit: 100 } });
  const where = present({ endpoint_id: endpoint, created_from: startOfDay(from), created_to: endOfDay(to) });
  const known = deliveryStatuses.find((each) => each === status);
  const deliveries = useList(listDeliveries, { query: { ...where, ...present({ status: known }) } });
  const counts = useData(countDeliveries, { query: where }).data?.data;
  return (
    <>
      <Heading title="Deliveries" about="Every webhook that was sent, or is waiting to be sent.">
        {mayChange && endpoint !== undefined ? <RetryFailed endpointId={endpoint} /> : null}
      </Heading>
      <Tabs
        label="Status"
        value={tabs.find(({ value }) => value === status)?.value ?? ""}
        maxCount={maxCounted}
        tabs={tabs.map(({ value, label, counted }) => ({ value, label, count: counts?.[counted] }))}
        onChange={(value) => filters.set({ status: value })}
      />
      <Filters filters={filters} dates="Created">
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
          emptyAction={<LinkButton to="/dashboard/webhooks">View endpoints</LinkButton>}
        />
      </Card>
    </>
  );
}
