import {
  getDelivery,
  getEndpoint,
  getEvent,
  listDeliveries,
  retryDelivery,
  type WebhookDeliveryWithAttempts,
} from "@assay/contract/webhooks";
import { Link, useParams } from "@tanstack/react-router";
import type { Static } from "typebox";
import { call, hasCode } from "../api/call.ts";
import { refresh, useData } from "../api/queries.ts";
import { useMay } from "../shell/organization-context.ts";
import { ActionButton } from "../ui/button.tsx";
import { CopyId, Id } from "../ui/copy.tsx";
import { Card, Facts, Heading, Loaded } from "../ui/page.tsx";
import { shortId } from "../ui/short-id.ts";
import { Empty } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { DeliveryStatus } from "./deliveries-page.tsx";
import { errorText } from "./delivery-words.ts";
import { eventLabels } from "./event-labels.ts";
import { PastedBody, SealedBodyView } from "./sealed-body.tsx";
import { TryList } from "./try-list.tsx";
import { useFollowing } from "./use-following.ts";

type Delivery = Static<typeof WebhookDeliveryWithAttempts>;

export function DeliveryPage() {
  const { deliveryId } = useParams({ from: "/shell/dashboard/deliveries/$deliveryId" });
  const params = { delivery_id: deliveryId };
  const { everyMs, follow } = useFollowing(false);
  const delivery = useData(getDelivery, { params }, { refetchInterval: everyMs || 5_000 });
  return (
    <>
      <Heading
        title={`Delivery ${shortId(deliveryId)}`}
        crumbs={[{ label: "Deliveries", to: "/dashboard/deliveries" }]}
      />
      <Loaded query={delivery}>
        {({ data }) => (
          <>
            <AboutDelivery delivery={data} onSent={follow} />
            <Card title="Tries">
              {data.attempts.length === 0 ? (
                <Empty>{data.last_error === null ? "Not tried yet." : errorText(data.last_error)}</Empty>
              ) : (
                <TryList attempts={data.attempts} />
              )}
            </Card>
            <Card title="What is in it">
              {data.sealed_body === null ? (
                <div className="space-y-4">
                  <p>{withoutBody(data)}</p>
                  <PastedBody />
                </div>
              ) : (
                <SealedBodyView body={data.sealed_body} />
              )}
            </Card>
          </>
        )}
      </Loaded>
    </>
  );
}

function withoutBody({ status, webhook_encryption_key_id: keyId }: Delivery): string {
  if (status === "succeeded")
    return "The encrypted body was erased when your server accepted it. Only your server has it now.";
  if (keyId === null) return "There was no key to encrypt it to, so nothing was made or kept.";
  return "The encrypted body was erased: its time is over.";
}

function AboutDelivery({ delivery, onSent }: { delivery: Delivery; onSent: () => void }) {
  const mayChange = useMay("admin");
  return (
    <Card>
      <Facts
        facts={[
          [
            "State",
            <span key="state">
              <DeliveryStatus status={delivery.status} />
              {delivery.status === "pending" && delivery.next_attempt_at !== null ? (
                <>
                  {" "}
                  next try <Time exact at={delivery.next_attempt_at} />
                </>
              ) : null}
            </span>,
          ],
          [
            "Event",
            <Link key="event" to="/dashboard/events/$eventId" params={{ eventId: delivery.event_id }}>
              {eventLabels[delivery.event_type]}
            </Link>,
          ],
          ["Session", <SessionLink key="session" eventId={delivery.event_id} />],
          ["Endpoint", <EndpointLink key="endpoint" endpointId={delivery.webhook_endpoint_id} />],
          ["Created", <Time key="created" full at={delivery.created_at} />],
          ["Encrypted body", <Kept key="kept" delivery={delivery} />],
          ["Identifier", <CopyId key="id" value={delivery.id} />],
        ]}
      />
      {mayChange && delivery.sealed_body !== null && delivery.status !== "delivering" ? (
        <div className="mt-5">
          <ActionButton
            run={async () => {
              await call(retryDelivery, { params: { delivery_id: delivery.id } });
              onSent();
              await refresh(getDelivery, listDeliveries);
            }}
          >
            Send again now
          </ActionButton>
        </div>
      ) : null}
    </Card>
  );
}

function Kept({ delivery }: { delivery: Delivery }) {
  if (delivery.payload_scrubbed_at !== null)
    return (
      <>
        erased <Time at={delivery.payload_scrubbed_at} />
      </>
    );
  if (delivery.sealed_body === null) return "none";
  return delivery.payload_expires_at === null ? (
    "kept until it is delivered"
  ) : (
    <>
      kept until <Time ahead at={delivery.payload_expires_at} />
    </>
  );
}

function SessionLink({ eventId }: { eventId: string }) {
  const event = useData(getEvent, { params: { event_id: eventId } });
  const sessionId = event.data?.data.session_id ?? null;
  if (sessionId === null) return "–";
  return (
    <Link to="/dashboard/sessions/$sessionId" params={{ sessionId }}>
      <Id value={sessionId} />
    </Link>
  );
}

/** An endpoint by the name that people gave it. */
export function EndpointLink({ endpointId }: { endpointId: string }) {
  const endpoint = useData(getEndpoint, { params: { endpoint_id: endpointId } });
  if (hasCode(endpoint.error, "NOT_FOUND")) return <span className="text-muted">deleted</span>;
  return (
    <Link to="/dashboard/webhooks/$endpointId" params={{ endpointId }}>
      {endpoint.data === undefined ? (
        <Id value={endpointId} />
      ) : (
        <bdi className="break-all">{endpoint.data.data.name ?? endpoint.data.data.url}</bdi>
      )}
    </Link>
  );
}
