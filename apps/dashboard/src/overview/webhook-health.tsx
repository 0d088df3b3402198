import { webhooksOverview } from "@assay/contract/analytics";
import { listEndpoints } from "@assay/contract/webhooks";
import { Link } from "@tanstack/react-router";
import { useData, useList } from "../api/queries.ts";
import { Id } from "../ui/copy.tsx";
import { countText, percentText } from "../ui/numbers.ts";
import { Card, Loaded } from "../ui/page.tsx";
import { Empty, Table } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { durationText } from "../ui/times.ts";
import { Bars } from "./bars.tsx";

/** Whether the partner's servers get what they are sent. */
export function WebhookHealth(period: { from: string; to: string }) {
  const health = useData(webhooksOverview, { query: period });
  // Asked for their names only, so not where nothing was sent.
  const enabled = (health.data?.data.counted ?? 0) > 0;
  const endpoints = useList(listEndpoints, { query: { limit: 100 } }, { enabled });
  const nameOf = (id: string) => {
    const endpoint = endpoints.items.find((each) => each.id === id);
    return endpoint?.name ?? endpoint?.url;
  };
  return (
    <Card title="Webhook health">
      <Loaded query={health}>
        {({ data }) =>
          data.counted === 0 ? (
            <Empty>No webhooks in this period.</Empty>
          ) : (
            <>
              <Bars
                of={data.counted}
                rows={[
                  {
                    name: "Delivered",
                    look: "good",
                    count: data.delivered,
                    note: `${percentText(data.delivered === 0 ? 0 : data.delivered_at_first_try / data.delivered)} on the first attempt`,
                  },
                  { name: "Retrying", count: data.waiting, look: "warn" },
                  { name: "Failed", count: data.failed, look: "bad" },
                ]}
              />
              <p className="my-4 text-small text-muted">
                {data.median_seconds_to_deliver === null
                  ? null
                  : `Median delivery time: ${data.median_seconds_to_deliver < 1 ? `${Math.round(data.median_seconds_to_deliver * 1000)} ms` : durationText(data.median_seconds_to_deliver)}. `}
                {data.is_capped ? (
                  <>
                    Latest {countText(data.counted)} only, since <Time at={data.since} />.
                  </>
                ) : null}
              </p>
              <Table
                caption="Deliveries by endpoint"
                rows={data.endpoints}
                rowKey={(endpoint) => endpoint.webhook_endpoint_id}
                columns={[
                  {
                    header: "Endpoint",
                    phone: "title",
                    cell: ({ webhook_endpoint_id: endpointId }) => (
                      <Link to="/dashboard/webhooks/$endpointId" params={{ endpointId }}>
                        <bdi>{nameOf(endpointId) ?? <Id value={endpointId} />}</bdi>
                      </Link>
                    ),
                  },
                  { header: "Delivered", cell: ({ delivered }) => countText(delivered) },
                  { header: "Retrying", cell: ({ waiting }) => countText(waiting) },
                  { header: "Failed", cell: ({ failed }) => countText(failed) },
                ]}
              />
            </>
          )
        }
      </Loaded>
    </Card>
  );
}
