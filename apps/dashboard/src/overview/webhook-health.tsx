import { webhooksOverview } from "@assay/contract/analytics";
import { listEndpoints } from "@assay/contract/webhooks";
import { Link } from "@tanstack/react-router";
import { useData, useList } from "../api/queries.ts";
import { Filled } from "../i18n/filled.tsx";
import { t } from "../i18n/words.ts";
import { Id } from "../ui/copy.tsx";
import { countText, percentText } from "../ui/numbers.ts";
import { Card, Loaded } from "../ui/page.tsx";
import { Empty, Table } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { durationText } from "../ui/times.ts";
import { Bars } from "./bars.tsx";

function shortTime(seconds: number): string {
  return seconds < 1 ? `${Math.round(seconds * 1000)} ms` : durationText(seconds);
}

/** Whether the partner's servers receive their deliveries. */
export function WebhookHealth(period: { from: string; to: string }) {
  const health = useData(webhooksOverview, { query: period });
  // Requested only for their names, so not if nothing was sent.
  const enabled = (health.data?.data.counted ?? 0) > 0;
  const endpoints = useList(listEndpoints, { query: { limit: 100 } }, { enabled });
  const nameOf = (id: string) => {
    const endpoint = endpoints.items.find((each) => each.id === id);
    return endpoint?.name ?? endpoint?.url;
  };
  return (
    <Card title={t.overview.health}>
      <Loaded query={health}>
        {({ data }) =>
          data.counted === 0 ? (
            <Empty>{t.overview.noWebhooks}</Empty>
          ) : (
            <>
              <Bars
                of={data.counted}
                rows={[
                  {
                    name: t.ui.deliveryStatus.delivered,
                    look: "good",
                    count: data.delivered,
                    note: t.overview.atFirst(
                      percentText(data.delivered === 0 ? 0 : data.delivered_at_first_try / data.delivered),
                    ),
                  },
                  { name: t.ui.deliveryStatus.retrying, count: data.waiting, look: "warn" },
                  { name: t.ui.deliveryStatus.failed, count: data.failed, look: "bad" },
                ]}
              />
              <p className="my-4 text-small text-muted">
                {data.median_seconds_to_deliver === null
                  ? null
                  : `${t.overview.deliveryTime(shortTime(data.median_seconds_to_deliver))} `}
                {data.is_capped ? (
                  <Filled
                    text={t.overview.latestOnly}
                    count={countText(data.counted)}
                    time={<Time at={data.since} />}
                  />
                ) : null}
              </p>
              <Table
                caption={t.overview.byEndpoint}
                rows={data.endpoints}
                rowKey={(endpoint) => endpoint.webhook_endpoint_id}
                columns={[
                  {
                    header: t.ui.endpoint,
                    phone: "title",
                    cell: ({ webhook_endpoint_id: endpointId }) => (
                      <Link to="/dashboard/webhooks/$endpointId" params={{ endpointId }}>
                        <bdi>{nameOf(endpointId) ?? <Id value={endpointId} />}</bdi>
                      </Link>
                    ),
                  },
                  { header: t.ui.deliveryStatus.delivered, cell: ({ delivered }) => countText(delivered) },
                  { header: t.ui.deliveryStatus.retrying, cell: ({ waiting }) => countText(waiting) },
                  { header: t.ui.deliveryStatus.failed, cell: ({ failed }) => countText(failed) },
                ]}
              />
            </>
          )
        }
      </Loaded>
    </Card>
  );
}
