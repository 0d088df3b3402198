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
import { t } from "../i18n/words.ts";
import { useMay } from "../shell/organization-context.ts";
import { LinkButton } from "../ui/button.tsx";
import { anyOption, FilterSelect, Filters, useFilters } from "../ui/filters.tsx";
import { Card, Heading } from "../ui/page.tsx";
import { DeliveryStatus } from "../ui/status.tsx";
import { ListTable } from "../ui/table.tsx";
import { Tabs } from "../ui/tabs.tsx";
import { Time } from "../ui/time.tsx";
import { answerText } from "./delivery-words.ts";
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
      caption={t.webhooks.deliveriesCaption}
      list={props.list}
      rowKey={({ id }) => id}
      empty={props.empty}
      emptyIcon="deliveries"
      emptyAction={props.emptyAction}
      isFiltered={props.isFiltered}
      columns={[
        {
          header: t.ui.event,
          cell: (delivery) => (
            <Link to="/dashboard/deliveries/$deliveryId" params={{ deliveryId: delivery.id }}>
              {t.webhooks.event[delivery.event_type]}
            </Link>
          ),
        },
        { header: t.ui.status, phone: "end", cell: (delivery) => <DeliveryStatus of={delivery} /> },
        { header: t.ui.attempts, cell: (delivery) => delivery.attempt_count },
        {
          header: t.webhooks.lastResponse,
          cell: (delivery) => answerText(delivery.last_status_code, delivery.last_error),
        },
        { header: t.ui.created, cell: (delivery) => <Time at={delivery.created_at} /> },
      ]}
    />
  );
}

const tabs = ["all", "pending", "succeeded", "failed"] as const;

export function DeliveriesPage() {
  const filters = useFilters(["status", "endpoint", "from", "to"]);
  const mayChange = useMay("admin");
  const { status = "", endpoint } = filters.values;
  const endpoints = useList(listEndpoints, { query: { limit: 100 } });
  const where = { ...filters.period, ...present({ endpoint_id: endpoint }) };
  const known = deliveryStatuses.find((each) => each === status);
  const deliveries = useList(listDeliveries, { query: { ...where, ...present({ status: known }) } });
  const counts = useData(countDeliveries, { query: where }).data?.data;
  return (
    <>
      <Heading title={t.shell.pages.deliveries} about={t.webhooks.deliveriesAbout}>
        {mayChange && endpoint !== undefined ? <RetryFailed endpointId={endpoint} /> : null}
      </Heading>
      <Tabs
        label={t.ui.status}
        value={tabs.find((tab) => tab === status) ?? "all"}
        maxCount={maxCounted}
        tabs={tabs.map((tab) => ({ value: tab, label: t.webhooks.tabs[tab], count: counts?.[tab] }))}
        onChange={(tab) => filters.set({ status: tab === "all" ? "" : tab })}
      />
      <Filters filters={filters} dates={t.ui.created}>
        <FilterSelect
          label={t.ui.endpoint}
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
          empty={t.webhooks.deliveriesEmpty}
          isFiltered={filters.count > 0}
          emptyAction={<LinkButton to="/dashboard/webhooks">{t.webhooks.viewEndpoints}</LinkButton>}
        />
      </Card>
    </>
  );
}
