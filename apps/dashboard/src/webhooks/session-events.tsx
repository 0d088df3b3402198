import type { WebhookEvent } from "@assay/contract/events";
import { listDeliveries, listEvents } from "@assay/contract/webhooks";
import { Link } from "@tanstack/react-router";
import type { Static } from "typebox";
import { useList } from "../api/queries.ts";
import { Card, Loading, ProblemNotice } from "../ui/page.tsx";
import { Empty } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { DeliveryStatus } from "./deliveries-page.tsx";
import { EndpointLink } from "./delivery-page.tsx";
import { answerText } from "./delivery-words.ts";
import { eventLabels } from "./event-labels.ts";

/** What a session told the servers of the partner, and how that went. */
export function SessionEvents({ sessionId }: { sessionId: string }) {
  const events = useList(listEvents, { query: { session_id: sessionId } }, { refetchInterval: 4_000 });
  return (
    <Card title="What your servers were told">
      {events.isPending ? (
        <Loading />
      ) : events.error !== null && events.items.length === 0 ? (
        <ProblemNotice error={events.error} retry={events.refetch} />
      ) : events.items.length === 0 ? (
        <Empty icon="webhook">Nothing yet. An event is sent when the session ends.</Empty>
      ) : (
        <ul className="space-y-4">
          {events.items.map((event) => (
            <OneEvent key={event.id} event={event} />
          ))}
        </ul>
      )}
    </Card>
  );
}

function OneEvent({ event }: { event: Static<typeof WebhookEvent> }) {
  const deliveries = useList(listDeliveries, { query: { event_id: event.id } }, { refetchInterval: 4_000 });
  return (
    <li>
      <p>
        <Link to="/dashboard/events/$eventId" params={{ eventId: event.id }} className="font-medium">
          {eventLabels[event.type]}
        </Link>{" "}
        <span className="text-small text-muted">
          <Time at={event.created_at} />
          {event.retracted_at === null ? "" : ", taken back because consent was withdrawn"}
        </span>
      </p>
      {deliveries.isPending ? null : deliveries.items.length === 0 ? (
        <p className="mt-1 text-small text-muted">No endpoint was there to get it.</p>
      ) : (
        <ul className="mt-2 space-y-2 border-l-2 border-line pl-4">
          {deliveries.items.map((delivery) => (
            <li key={delivery.id} className="flex flex-wrap items-center gap-x-3 gap-y-1">
              <DeliveryStatus status={delivery.status} />
              <span className="min-w-0">
                to <EndpointLink endpointId={delivery.webhook_endpoint_id} />
              </span>
              <span className="text-small text-muted">
                {answerText(delivery.last_status_code, delivery.last_error)}
              </span>
              <Link
                to="/dashboard/deliveries/$deliveryId"
                params={{ deliveryId: delivery.id }}
                className="text-small"
              >
                Look at the delivery
              </Link>
            </li>
          ))}
        </ul>
      )}
    </li>
  );
}
