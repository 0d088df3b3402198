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
import { Filled } from "../i18n/filled.tsx";
import { t } from "../i18n/words.ts";
import { useMay } from "../shell/organization-context.ts";
import { ActionButton } from "../ui/button.tsx";
import { CopyId, Id } from "../ui/copy.tsx";
import { LoadedObject, ObjectPage, Section } from "../ui/object-page.tsx";
import { DeliveryStatus } from "../ui/status.tsx";
import { Time } from "../ui/time.tsx";
import { Entry, Timeline } from "../ui/timeline.tsx";
import { titleTime } from "../ui/times.ts";
import { AttemptEntry } from "./attempt-entry.tsx";
import { errorText } from "./delivery-words.ts";
import { PastedBody, SealedBodyView } from "./sealed-body.tsx";
import { useFollowing } from "./use-following.ts";

type Delivery = Static<typeof WebhookDeliveryWithAttempts>;

const crumb = () => ({ label: t.shell.pages.deliveries, to: "/dashboard/deliveries" }) as const;

export function DeliveryPage() {
  const { deliveryId } = useParams({ from: "/shell/dashboard/deliveries/$deliveryId" });
  const params = { delivery_id: deliveryId };
  const { everyMs, follow } = useFollowing(false);
  const mayChange = useMay("admin");
  const delivery = useData(getDelivery, { params }, { refetchInterval: everyMs || 5_000 });
  return (
    <LoadedObject kind={t.webhooks.delivery} crumb={crumb()} query={delivery}>
      {(data) => (
        <ObjectPage
          crumb={crumb()}
          title={`${t.webhooks.event[data.event_type]}, ${titleTime(new Date(data.created_at), new Date())}`}
          status={<DeliveryStatus of={data} />}
          object={data}
          facts={factsOf(data)}
          primary={
            mayChange && data.sealed_body !== null && data.status !== "delivering" ? (
              <ActionButton
                look="primary"
                icon="refresh"
                run={async () => {
                  await call(retryDelivery, { params });
                  follow();
                  await refresh(getDelivery, listDeliveries);
                }}
              >
                {t.webhooks.retryNow}
              </ActionButton>
            ) : null
          }
        >
          <Section title={t.ui.timeline}>
            <DeliveryTimeline delivery={data} />
          </Section>
          <Section title={t.webhooks.payload}>
            {data.sealed_body === null ? (
              <div className="space-y-4">
                <p>{withoutBody(data)}</p>
                <PastedBody />
              </div>
            ) : (
              <SealedBodyView body={data.sealed_body} />
            )}
          </Section>
        </ObjectPage>
      )}
    </LoadedObject>
  );
}

function DeliveryTimeline({ delivery }: { delivery: Delivery }) {
  const { attempts, last_error: error } = delivery;
  // The service lists the latest first, but the numbers count from the oldest.
  const ordered = attempts.map((attempt, index) => ({ attempt, number: attempts.length - index })).reverse();
  return (
    <Timeline>
      <Entry name={t.ui.created} state="done" at={delivery.created_at} />
      {ordered.map(({ attempt, number }) => (
        <AttemptEntry key={attempt.id} attempt={attempt} number={number} open={number === attempts.length} />
      ))}
      {delivery.status === "pending" && delivery.next_attempt_at !== null ? (
        <Entry name={t.ui.nextAttempt} state="open" at={delivery.next_attempt_at} />
      ) : null}
      {attempts.length === 0 && error !== null ? (
        <Entry name={t.webhooks.notSent} state="failed" note={errorText(error)} />
      ) : null}
    </Timeline>
  );
}

function withoutBody({ status, webhook_encryption_key_id: keyId }: Delivery): string {
  if (status === "succeeded") return t.webhooks.acceptedBody;
  if (keyId === null) return t.webhooks.noKeyBody;
  return t.webhooks.expiredBody;
}

function factsOf(delivery: Delivery) {
  return [
    [
      t.ui.event,
      <Link key="event" to="/dashboard/events/$eventId" params={{ eventId: delivery.event_id }}>
        {t.webhooks.event[delivery.event_type]}
      </Link>,
    ],
    [t.ui.endpoint, <EndpointLink key="endpoint" endpointId={delivery.webhook_endpoint_id} />],
    [t.ui.session, <SessionLink key="session" eventId={delivery.event_id} />],
    [t.ui.attempts, String(delivery.attempt_count)],
    [t.webhooks.payload, <Kept key="kept" delivery={delivery} />],
    [t.ui.created, <Time key="created" full at={delivery.created_at} />],
    ["ID", <CopyId key="id" value={delivery.id} />],
  ] as const;
}

function Kept({ delivery }: { delivery: Delivery }) {
  if (delivery.payload_scrubbed_at !== null)
    return <Filled text={t.webhooks.payloadDeleted} time={<Time at={delivery.payload_scrubbed_at} />} />;
  if (delivery.sealed_body === null) return t.webhooks.payloadNone;
  return delivery.payload_expires_at === null ? (
    t.webhooks.keptUntilDelivered
  ) : (
    <Filled text={t.webhooks.keptUntil} time={<Time full ahead at={delivery.payload_expires_at} />} />
  );
}

function SessionLink({ eventId }: { eventId: string }) {
  const event = useData(getEvent, { params: { event_id: eventId } });
  const sessionId = event.data?.data.session_id ?? null;
  if (sessionId === null) return "–";
  return (
    <Link to="/dashboard/sessions/$sessionId" params={{ sessionId }}>
      {event.data?.data.client_reference_id ?? <Id value={sessionId} />}
    </Link>
  );
}

/** An endpoint by its name. */
export function EndpointLink({ endpointId }: { endpointId: string }) {
  const endpoint = useData(getEndpoint, { params: { endpoint_id: endpointId } });
  if (hasCode(endpoint.error, "NOT_FOUND"))
    return <span className="text-muted">{t.webhooks.deletedEndpoint}</span>;
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
