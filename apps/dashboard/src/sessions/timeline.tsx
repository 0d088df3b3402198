import type { WebhookEvent } from "@assay/contract/events";
import type { DataOf } from "@assay/contract/route";
import type { readTimeline, SessionWithConsent } from "@assay/contract/sessions";
import { listDeliveries, listEvents } from "@assay/contract/webhooks";
import { Link } from "@tanstack/react-router";
import type { Static } from "typebox";
import { useList } from "../api/queries.ts";
import { t } from "../i18n/words.ts";
import { Entry, Timeline } from "../ui/timeline.tsx";
import { DeliveryEntry } from "../webhooks/delivery-entry.tsx";
import { sessionSteps } from "./session-steps.ts";

type OneSession = Static<typeof SessionWithConsent>;

/** An open session changes while a person scans a document; an ended one changes only by its webhooks. */
export const pollIntervalMs = 4_000;

/** The events of a session, from its creation to the webhooks. */
export function SessionTimeline(props: { session: OneSession; times: DataOf<typeof readTimeline> | null }) {
  const { session } = props;
  const { status, failure_code: failure } = session;
  const isOpen = status === "created" || status === "in_progress";

  return (
    <Timeline>
      <Entry name={t.sessions.step.created} state="done" at={session.created_at} />
      {sessionSteps(session, props.times).map(({ name, state, at, tries }) => (
        <Entry
          key={name}
          name={t.sessions.step[name]}
          state={state}
          at={at}
          note={tries === 0 ? null : t.sessions.tries(tries)}
        />
      ))}
      {isOpen || status === "succeeded" ? null : (
        <Entry
          name={t.ui.sessionStatus[status]}
          state={status === "failed" ? "failed" : "done"}
          at={session.completed_at}
          note={failure === null ? null : t.sessions.failure[failure]}
        />
      )}
      <Webhooks sessionId={session.id} isOpen={isOpen} />
    </Timeline>
  );
}

function Webhooks({ sessionId, isOpen }: { sessionId: string; isOpen: boolean }) {
  const events = useList(
    listEvents,
    { query: { session_id: sessionId } },
    { refetchInterval: pollIntervalMs },
  );
  if (events.items.length === 0)
    return (
      <Entry
        name={t.sessions.webhook}
        state="open"
        note={isOpen ? t.sessions.webhookWhenEnded : t.sessions.noEvent}
      />
    );
  return [...events.items].reverse().map((event) => <EventEntries key={event.id} event={event} />);
}

function EventEntries({ event }: { event: Static<typeof WebhookEvent> }) {
  const deliveries = useList(
    listDeliveries,
    { query: { event_id: event.id } },
    { refetchInterval: pollIntervalMs },
  );
  const name = (
    <Link to="/dashboard/events/$eventId" params={{ eventId: event.id }} className="text-ink">
      {t.sessions.webhookOf(t.webhooks.event[event.type])}
    </Link>
  );
  if (event.retracted_at !== null)
    return <Entry name={name} state="done" at={event.retracted_at} note={t.ui.withdrawnWithConsent} />;
  if (deliveries.items.length === 0)
    return (
      <Entry
        name={name}
        state="open"
        at={event.created_at}
        note={deliveries.isPending ? null : t.sessions.noSubscriber}
      />
    );
  return deliveries.items.map((delivery) => (
    <DeliveryEntry key={delivery.id} delivery={delivery} name={name} />
  ));
}
