import type { WebhookEvent } from "@assay/contract/events";
import type { DataOf } from "@assay/contract/route";
import type { readTimeline, SessionWithConsent } from "@assay/contract/sessions";
import { listDeliveries, listEvents } from "@assay/contract/webhooks";
import { Link } from "@tanstack/react-router";
import type { Static } from "typebox";
import { useList } from "../api/queries.ts";
import { inWords } from "../ui/filters.tsx";
import { Entry, Timeline } from "../ui/timeline.tsx";
import { DeliveryEntry } from "../webhooks/delivery-entry.tsx";
import { eventLabels } from "../webhooks/event-labels.ts";
import { sessionSteps } from "./session-steps.ts";

type OneSession = Static<typeof SessionWithConsent>;

/** A session changes while somebody holds a phone to a document; one that has ended, only by its webhooks. */
export const followMs = 4_000;

/** What happened to a session, from its creation to the webhooks. */
export function SessionTimeline(props: { session: OneSession; times: DataOf<typeof readTimeline> | null }) {
  const { session } = props;
  const { status, failure_code: failure } = session;
  const isOpen = status === "created" || status === "in_progress";
  const attempted = (tries: number) => (tries === 0 ? null : tries === 1 ? "1 attempt" : `${tries} attempts`);
  return (
    <Timeline>
      <Entry name="Created" state="done" at={session.created_at} />
      {sessionSteps(session, props.times).map(({ name, state, at, tries }) => (
        <Entry key={name} name={name} state={state} at={at} note={attempted(tries)} />
      ))}
      {isOpen || status === "succeeded" ? null : (
        <Entry
          name={inWords(status)}
          state={status === "failed" ? "failed" : "done"}
          at={session.completed_at}
          note={failure === null ? null : inWords(failure)}
        />
      )}
      <Webhooks sessionId={session.id} isOpen={isOpen} />
    </Timeline>
  );
}

function Webhooks({ sessionId, isOpen }: { sessionId: string; isOpen: boolean }) {
  const events = useList(listEvents, { query: { session_id: sessionId } }, { refetchInterval: followMs });
  if (events.items.length === 0)
    return (
      <Entry name="Webhook" state="open" note={isOpen ? "Sent when the session ends" : "No event was sent"} />
    );
  return [...events.items].reverse().map((event) => <EventEntries key={event.id} event={event} />);
}

function EventEntries({ event }: { event: Static<typeof WebhookEvent> }) {
  const deliveries = useList(
    listDeliveries,
    { query: { event_id: event.id } },
    { refetchInterval: followMs },
  );
  const name = (
    <Link to="/dashboard/events/$eventId" params={{ eventId: event.id }} className="text-ink">
      Webhook: {eventLabels[event.type]}
    </Link>
  );
  if (event.retracted_at !== null)
    return <Entry name={name} state="done" at={event.retracted_at} note="Withdrawn with the consent" />;
  if (deliveries.items.length === 0)
    return (
      <Entry
        name={name}
        state="open"
        at={event.created_at}
        note={deliveries.isPending ? null : "No endpoint is subscribed to it"}
      />
    );
  return deliveries.items.map((delivery) => (
    <DeliveryEntry key={delivery.id} delivery={delivery} name={name} />
  ));
}
