import { type EventType, eventTypes } from "@assay/contract/events";
import {
  getDelivery,
  listDeliveries,
  listEvents,
  retryDelivery,
  type SealedBody,
  testEndpoint,
} from "@assay/contract/webhooks";
import { Link } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import type { Static } from "typebox";
import { call } from "../api/call.ts";
import { refresh, useData } from "../api/queries.ts";
import { t } from "../i18n/words.ts";
import { useWorkspace } from "../shell/organization-context.ts";
import { ActionButton, Button } from "../ui/button.tsx";
import { Disclosure } from "../ui/disclosure.tsx";
import { Select } from "../ui/field.tsx";
import { Section } from "../ui/object-page.tsx";
import { Facts } from "../ui/page.tsx";
import { DeliveryStatus } from "../ui/status.tsx";
import { Time } from "../ui/time.tsx";
import { errorText } from "./delivery-words.ts";
import { SampleEvent } from "./sample-event.tsx";
import { OpenHere } from "./sealed-body.tsx";
import { useFollowing } from "./use-following.ts";

type Sent = { deliveryId: string; sealed: Static<typeof SealedBody> | null };

/** Sends a sample event and follows its delivery. */
export function TestEvent({ endpointId, enabled }: { endpointId: string; enabled: boolean }) {
  const { environment } = useWorkspace();
  const [type, setType] = useState<EventType>("webhook.endpoint.test");
  const [sent, setSent] = useState<Sent | null>(null);
  // A live receiver acts on every event, so the service sends no samples there.
  const types = environment === "sandbox" ? eventTypes : (["webhook.endpoint.test"] as const);
  const send = async () => {
    const { data } = await call(testEndpoint, {
      params: { endpoint_id: endpointId },
      body: type === "webhook.endpoint.test" ? {} : { event_type: type },
    });
    const [delivery] = data.deliveries;
    setSent(delivery === undefined ? null : { deliveryId: delivery.id, sealed: data.sealed_body });
    await refresh(listDeliveries, listEvents);
  };
  return (
    <Section title={t.webhooks.sendTestTitle}>
      <div className="space-y-4">
        <div className="max-w-md">
          <Select
            label={t.webhooks.eventType}
            name="event_type"
            value={type}
            onChange={(value) => setType(value as EventType)}
            options={types.map((value) => ({ value, label: t.webhooks.event[value] }))}
            hint={type === "webhook.endpoint.test" ? t.webhooks.testHint : t.webhooks.sampleHint}
          />
        </div>
        <Disclosure small title={t.webhooks.example}>
          <div className="mt-3">
            <SampleEvent type={type} />
          </div>
        </Disclosure>
        {enabled ? (
          <ActionButton look="primary" run={send}>
            {t.webhooks.send}
          </ActionButton>
        ) : (
          <p className="text-muted">{t.webhooks.enableFirst}</p>
        )}
        {sent === null ? null : <Followed key={sent.deliveryId} sent={sent} />}
      </div>
    </Section>
  );
}

function Followed({ sent }: { sent: Sent }) {
  const params = { delivery_id: sent.deliveryId };
  const { following, everyMs, follow, stop } = useFollowing(true);
  const delivery = useData(getDelivery, { params }, { refetchInterval: everyMs });
  const data = delivery.data?.data;
  const ended = data?.status === "succeeded" || data?.status === "failed";
  // Lists of deliveries show the sample, too.
  const stage = data === undefined ? "" : `${data.status} ${data.attempt_count}`;
  useEffect(() => {
    if (stage !== "") void refresh(listDeliveries);
  }, [stage]);
  useEffect(() => {
    if (ended) stop();
  }, [ended, stop]);
  if (data === undefined) return null;
  const [latest] = data.attempts;
  return (
    <div className="space-y-4 rounded-control border border-line p-4">
      <output className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <DeliveryStatus of={data} />
        <span>
          {latest === undefined
            ? data.last_error === null
              ? t.webhooks.sending
              : errorText(data.last_error)
            : latest.error === null
              ? t.webhooks.answered({ status: String(latest.status_code), ms: latest.duration_ms })
              : errorText(latest.error)}
        </span>
      </output>
      {latest === undefined || latest.error === null ? null : (
        <Facts
          facts={[
            [
              t.webhooks.response,
              <bdi key="answer">{latest.receiver_answer?.status_line ?? t.webhooks.noneResponse}</bdi>,
            ],
            ...(latest.receiver_answer?.text
              ? ([
                  [
                    t.webhooks.responseBody,
                    <bdi key="text">{latest.receiver_answer.text.slice(0, 200)}</bdi>,
                  ],
                ] as const)
              : []),
            [
              t.ui.nextAttempt,
              <Time exact key="next" at={data.next_attempt_at} never={t.webhooks.noneAttempt} />,
            ],
          ]}
        />
      )}
      <div className="flex flex-wrap items-center gap-3">
        {data.sealed_body !== null && data.status !== "delivering" && latest !== undefined ? (
          <ActionButton
            small
            run={async () => {
              await call(retryDelivery, { params });
              follow();
              await refresh(getDelivery);
            }}
          >
            {t.webhooks.retry}
          </ActionButton>
        ) : null}
        {following || ended ? null : (
          <Button small onClick={follow}>
            {t.webhooks.refresh}
          </Button>
        )}
        <Link to="/dashboard/deliveries/$deliveryId" params={{ deliveryId: sent.deliveryId }}>
          {t.webhooks.viewDelivery}
        </Link>
      </div>
      {sent.sealed === null ? null : <OpenHere jwe={sent.sealed.jwe} />}
    </div>
  );
}
