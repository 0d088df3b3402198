import { getDelivery, getEvent, listDeliveries, replayEvent } from "@assay/contract/webhooks";
import { Link, useParams } from "@tanstack/react-router";
import { call } from "../api/call.ts";
import { refresh, useData, useList } from "../api/queries.ts";
import { t } from "../i18n/words.ts";
import { useMay } from "../shell/organization-context.ts";
import { ActionButton } from "../ui/button.tsx";
import { CopyId, Id } from "../ui/copy.tsx";
import { inSentence } from "../ui/in-sentence.ts";
import { LoadedObject, ObjectPage, Section } from "../ui/object-page.tsx";
import { Badge } from "../ui/page.tsx";
import { deliveryShown } from "../ui/status.tsx";
import { Time } from "../ui/time.tsx";
import { Entry, Timeline } from "../ui/timeline.tsx";
import { titleTime } from "../ui/times.ts";
import { toast } from "../ui/toasts.tsx";
import { DeliveryEntry } from "./delivery-entry.tsx";
import { SampleEvent } from "./sample-event.tsx";

const crumb = () => ({ label: t.shell.pages.events, to: "/dashboard/events" }) as const;

export function EventPage() {
  const { eventId } = useParams({ from: "/shell/dashboard/events/$eventId" });
  const params = { event_id: eventId };
  const event = useData(getEvent, { params });
  const deliveries = useList(listDeliveries, { query: { event_id: eventId } }, { refetchInterval: 5_000 });
  const mayChange = useMay("admin");
  const isUndelivered = deliveries.items.some(({ status }) => status === "pending" || status === "failed");
  return (
    <LoadedObject kind={t.ui.event} crumb={crumb()} query={event}>
      {(data) => (
        <ObjectPage
          crumb={crumb()}
          title={`${t.webhooks.event[data.type]}, ${titleTime(new Date(data.created_at), new Date())}`}
          status={data.retracted_at === null ? null : <Badge look="plain">{t.webhooks.withdrawn}</Badge>}
          object={data}
          primary={
            mayChange && isUndelivered ? (
              <ActionButton
                look="primary"
                icon="refresh"
                run={async () => {
                  await call(replayEvent, { params });
                  toast(t.webhooks.retryingFailed);
                  await refresh(listDeliveries, getDelivery);
                }}
              >
                {t.webhooks.retryFailed}
              </ActionButton>
            ) : null
          }
          facts={[
            [
              t.webhooks.type,
              <code key="type" className="font-mono text-small break-all">
                {data.type}
              </code>,
            ],
            [t.webhooks.reference, <bdi key="reference">{data.client_reference_id ?? "–"}</bdi>],
            [
              t.ui.session,
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
            [t.ui.environment, t.ui.environments[data.sandbox ? "sandbox" : "live"]],
            [t.ui.created, <Time key="created" full at={data.created_at} />],
            ["ID", <CopyId key="id" value={data.id} />],
          ]}
        >
          <Section title={t.ui.timeline}>
            <Timeline>
              <Entry name={t.ui.created} state="done" at={data.created_at} />
              {data.retracted_at === null ? null : (
                <Entry name={t.ui.withdrawnWithConsent} state="done" at={data.retracted_at} />
              )}
              {deliveries.items.map((delivery) => (
                <DeliveryEntry
                  key={delivery.id}
                  delivery={delivery}
                  name={t.webhooks.deliveryIs(inSentence(deliveryShown(delivery).label))}
                />
              ))}
              {deliveries.isSuccess && deliveries.items.length === 0 ? (
                <Entry name={t.webhooks.delivery} state="open" note={t.webhooks.noSubscriber} />
              ) : null}
            </Timeline>
          </Section>
          <Section title={t.webhooks.example}>
            <SampleEvent type={data.type} />
            <p className="mt-3 text-small text-muted">{t.webhooks.exampleText}</p>
          </Section>
        </ObjectPage>
      )}
    </LoadedObject>
  );
}
