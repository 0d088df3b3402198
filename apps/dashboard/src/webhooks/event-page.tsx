import { getDelivery, getEvent, listDeliveries, replayEvent } from "@assay/contract/webhooks";
import { Link, useParams } from "@tanstack/react-router";
import { call } from "../api/call.ts";
import { refresh, useData, useList } from "../api/queries.ts";
import { useMay } from "../shell/organization-context.ts";
import { ActionButton } from "../ui/button.tsx";
import { CopyId, Id } from "../ui/copy.tsx";
import { LoadedObject, ObjectPage, Section } from "../ui/object-page.tsx";
import { Badge } from "../ui/page.tsx";
import { deliveryShown } from "../ui/status.tsx";
import { Time } from "../ui/time.tsx";
import { Entry, Timeline } from "../ui/timeline.tsx";
import { titleTime } from "../ui/times.ts";
import { toast } from "../ui/toasts.tsx";
import { DeliveryEntry } from "./delivery-entry.tsx";
import { eventLabels } from "./event-labels.ts";
import { SampleEvent } from "./sample-event.tsx";

const crumb = { label: "Events", to: "/dashboard/events" } as const;

export function EventPage() {
  const { eventId } = useParams({ from: "/shell/dashboard/events/$eventId" });
  const params = { event_id: eventId };
  const event = useData(getEvent, { params });
  const deliveries = useList(listDeliveries, { query: { event_id: eventId } }, { refetchInterval: 5_000 });
  const mayChange = useMay("admin");
  const isUndelivered = deliveries.items.some(({ status }) => status === "pending" || status === "failed");
  return (
    <LoadedObject kind="Event" crumb={crumb} query={event}>
      {(data) => (
        <ObjectPage
          crumb={crumb}
          title={`${eventLabels[data.type]}, ${titleTime(new Date(data.created_at), new Date())}`}
          status={data.retracted_at === null ? null : <Badge look="plain">Withdrawn</Badge>}
          object={data}
          primary={
            mayChange && isUndelivered ? (
              <ActionButton
                look="primary"
                icon="refresh"
                run={async () => {
                  await call(replayEvent, { params });
                  toast("Retrying failed deliveries.");
                  await refresh(listDeliveries, getDelivery);
                }}
              >
                Retry failed deliveries
              </ActionButton>
            ) : null
          }
          facts={[
            [
              "Type",
              <code key="type" className="font-mono text-small break-all">
                {data.type}
              </code>,
            ],
            ["Reference", <bdi key="reference">{data.client_reference_id ?? "–"}</bdi>],
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
                  {data.client_reference_id ?? <Id value={data.session_id} />}
                </Link>
              ),
            ],
            ["Environment", data.sandbox ? "Sandbox" : "Live"],
            ["Created", <Time key="created" full at={data.created_at} />],
            ["ID", <CopyId key="id" value={data.id} />],
          ]}
        >
          <Section title="Timeline">
            <Timeline>
              <Entry name="Created" state="done" at={data.created_at} />
              {data.retracted_at === null ? null : (
                <Entry name="Withdrawn with the consent" state="done" at={data.retracted_at} />
              )}
              {deliveries.items.map((delivery) => (
                <DeliveryEntry
                  key={delivery.id}
                  delivery={delivery}
                  name={`Delivery: ${deliveryShown(delivery).label.toLowerCase()}`}
                />
              ))}
              {deliveries.isSuccess && deliveries.items.length === 0 ? (
                <Entry name="Delivery" state="open" note="No endpoint was subscribed to this event." />
              ) : null}
            </Timeline>
          </Section>
          <Section title="Example payload">
            <SampleEvent type={data.type} />
            <p className="mt-3 text-small text-muted">
              The actual payload is in each delivery, encrypted to your key. This service keeps no readable
              copy.
            </p>
          </Section>
        </ObjectPage>
      )}
    </LoadedObject>
  );
}
