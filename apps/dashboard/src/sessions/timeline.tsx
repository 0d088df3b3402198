import type { SessionWithConsent } from "@assay/contract/sessions";
import { listDeliveries, listEvents } from "@assay/contract/webhooks";
import type { ReactNode } from "react";
import type { Static } from "typebox";
import { useList } from "../api/queries.ts";
import { inWords } from "../ui/filters.tsx";
import { Icon, type IconName } from "../ui/icon.tsx";
import { Time } from "../ui/time.tsx";
import { type StepState, sessionSteps } from "./session-steps.ts";

type OneSession = Static<typeof SessionWithConsent>;
type Step = { name: string; state: StepState; at?: string | null; note?: ReactNode };

/** How far a session has come, from what the service tells about it. */
export function Timeline({ session }: { session: OneSession }) {
  const steps = [...stepsOf(session), useDelivery(session)];
  return (
    <ol>
      {steps.map(({ name, state, at, note }, index) => (
        <li key={name} className="relative flex gap-3 pb-5 last:pb-0">
          {index === steps.length - 1 ? null : (
            <span aria-hidden="true" className="absolute start-3 top-7 bottom-0 -ms-px w-0.5 bg-line" />
          )}
          <span
            className={`mt-0.5 inline-flex size-6 flex-none items-center justify-center rounded-full border ${looks[state].circle}`}
          >
            {looks[state].icon === null ? null : <Icon name={looks[state].icon} className="size-3.5" />}
            <span className="sr-only">{looks[state].word}</span>
          </span>
          <span className="min-w-0 flex-1">
            <span className={state === "open" ? "text-muted" : "font-medium"}>{name}</span>
            <span className="block text-small text-muted">
              {at ? <Time exact at={at} /> : null}
              {at && note ? " · " : null}
              {note}
            </span>
          </span>
        </li>
      ))}
    </ol>
  );
}

const looks: Record<StepState, { circle: string; icon: IconName | null; word: string }> = {
  done: { circle: "border-good bg-good-soft text-good", icon: "check", word: "Done:" },
  now: { circle: "border-warn bg-warn-soft text-warn", icon: "clock", word: "Under way:" },
  failed: { circle: "border-bad bg-bad-soft text-bad", icon: "x", word: "Failed:" },
  open: { circle: "border-field", icon: null, word: "Not yet:" },
};

function stepsOf(session: OneSession): Step[] {
  const { status, failure_code } = session;
  const hasEndedOtherwise = status !== "created" && status !== "in_progress" && status !== "succeeded";
  const tried = (tries: number) => (tries === 0 ? null : tries === 1 ? "1 try" : `${tries} tries`);
  return [
    { name: "Created", state: "done", at: session.created_at },
    ...sessionSteps(session).map(({ tries, ...step }) => ({ ...step, note: tried(tries) })),
    ...(hasEndedOtherwise
      ? [
          {
            name: inWords(status),
            state: status === "failed" ? ("failed" as const) : ("done" as const),
            at: session.completed_at,
            note: failure_code === null ? null : inWords(failure_code),
          },
        ]
      : []),
  ];
}

/** Whether somebody's server has the outcome. The page below asks for the same, so this costs no request of its own. */
function useDelivery({ id, status }: OneSession): Step {
  const events = useList(listEvents, { query: { session_id: id } }, { refetchInterval: 4_000 });
  const [event] = events.items;
  const deliveries = useList(
    listDeliveries,
    { query: { event_id: event?.id ?? "" } },
    { enabled: event !== undefined, refetchInterval: 4_000 },
  );
  const name = "Delivered";
  if (status === "created" || status === "in_progress" || event === undefined) return { name, state: "open" };
  const all = deliveries.items;
  const arrived = all.filter((delivery) => delivery.status === "succeeded");
  const failed = all.filter((delivery) => delivery.status === "failed");
  const note = all.length < 2 ? null : `${arrived.length} of ${all.length} endpoints`;
  if (all.length === 0)
    return deliveries.isPending ? { name, state: "open" } : { name, state: "open", note: "No endpoint" };
  if (failed.length > 0) return { name, state: "failed", note };
  return { name, state: arrived.length === all.length ? "done" : "now", note };
}
