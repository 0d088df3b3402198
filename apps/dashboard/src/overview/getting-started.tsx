import { listApiKeys } from "@assay/contract/api-keys";
import { apiKeyForm } from "@assay/contract/facts";
import { presets } from "@assay/contract/presets";
import type { RouteDefinition } from "@assay/contract/route";
import { createSession, listSessions } from "@assay/contract/sessions";
import { listDeliveries, listEndpoints } from "@assay/contract/webhooks";
import { Link, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useEffect, useState } from "react";
import { call } from "../api/call.ts";
import { refresh, useList } from "../api/queries.ts";
import { withTranslations } from "../sessions/preset-reasons.ts";
import { presetBody, presetShares } from "../sessions/session-body.ts";
import { usePlace } from "../shell/organization-context.ts";
import { ActionButton } from "../ui/button.tsx";
import { Code } from "../ui/code.tsx";
import { CopyAs } from "../ui/copy-as.tsx";
import { FoldMark } from "../ui/disclosure.tsx";
import { Icon } from "../ui/icon.tsx";
import { keyVariable } from "../ui/request-code.ts";
import { useOpenedHere } from "../webhooks/opened-here.ts";

// A tick appears while somebody looks at another window. Half of it, and an idle page asks twice as often for nothing.
const lookAgainMs = 4_000;

/** A list that is asked for again until it has what is waited for: what is done stays done. */
function useUntil<const R extends RouteDefinition>(
  route: R,
  query: Record<string, unknown>,
  isDone: (items: ReturnType<typeof useList<R>>["items"]) => boolean,
) {
  const [done, setDone] = useState(false);
  const list = useList(route, { query }, { refetchInterval: done ? false : lookAgainMs });
  const isDoneNow = isDone(list.items);
  useEffect(() => setDone(isDoneNow), [isDoneNow]);
  return list;
}

/** What is done of the way from nothing to the first event that somebody can read. Null while it is not known. */
export function useSteps() {
  const { organization } = usePlace();
  const some = (items: readonly unknown[]) => items.length > 0;
  const verified = useUntil(listSessions, { limit: 1, status: "succeeded" }, some);
  const sessions = useUntil(listSessions, { limit: 1 }, () => verified.items.length > 0);
  const keys = useUntil(listApiKeys, { limit: 1 }, some);
  const endpoints = useUntil(listEndpoints, { limit: 100, enabled: true }, (items) =>
    items.some(({ has_active_key }) => has_active_key),
  );
  const accepted = useUntil(listDeliveries, { limit: 1, status: "succeeded" }, some);
  const openedHere = useOpenedHere(organization.id);
  const [endpoint] = endpoints.items;
  const keyed = endpoints.items.find(({ has_active_key }) => has_active_key);
  if ([sessions, verified, keys, endpoints, accepted].some(({ isPending }) => isPending)) return null;
  return {
    latest: sessions.items[0],
    hasSession: sessions.items.length > 0,
    hasVerified: verified.items.length > 0,
    key: keys.items[0] ?? null,
    endpoint: keyed ?? endpoint,
    hasEndpoint: keyed !== undefined,
    isAccepted: accepted.items.length > 0,
    openedHere,
    isLive: organization.environment === "live",
  };
}

type Steps = NonNullable<ReturnType<typeof useSteps>>;

/** The way to go, ticked by what has happened. Shown until all of it has, and folded when nothing but going live is left. */
export function GettingStarted({ steps }: { steps: Steps }) {
  const done = [
    steps.hasSession,
    steps.hasVerified,
    steps.key !== null,
    steps.hasEndpoint,
    steps.isAccepted || steps.openedHere,
    steps.isLive,
  ];
  const count = done.filter(Boolean).length;
  if (count === done.length) return null;
  const next = done.indexOf(false);
  const isTried = done.slice(0, -1).every(Boolean) || steps.isLive;
  return (
    <section
      aria-labelledby="getting-started"
      className="mb-6 rounded-card border border-line bg-card p-4 shadow-raised sm:p-6 dark:shadow-none"
    >
      <details open={!isTried} className="group/all">
        <summary className="list-none">
          <span className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1">
            <h2 id="getting-started" className="text-part font-semibold">
              Getting started
            </h2>
            <span className="flex items-center gap-3 text-small text-muted">
              {count} of {done.length} complete
              <FoldMark className="group-open/all:rotate-180" />
            </span>
          </span>
          <span aria-hidden="true" className="mt-3 block h-1.5 rounded-full bg-code forced-color-adjust-none">
            <span className={`block h-full rounded-full bg-accent ${widths[count]}`} />
          </span>
        </summary>
        <ol className="mt-4 divide-y divide-line">
          <StepList steps={steps} done={done} next={next} />
        </ol>
      </details>
    </section>
  );
}

// The content security policy allows no style of an element's own.
const widths = ["w-0", "w-1/6", "w-2/6", "w-3/6", "w-4/6", "w-5/6", "w-full"] as const;

function StepList({ steps, done, next }: { steps: Steps; done: readonly boolean[]; next: number }) {
  const step = (at: number) => ({ done: done[at] === true, open: at === next });
  return (
    <>
      <Step {...step(0)} title="Create a test session">
        <CreateStep />
      </Step>
      <Step {...step(1)} title="Complete it with a test passport">
        <VerifyStep steps={steps} />
      </Step>
      <Step {...step(2)} title="Create an API key">
        <KeyStep apiKey={steps.key} />
      </Step>
      <Step {...step(3)} title="Add a webhook endpoint">
        <p>
          {steps.endpoint === undefined ? (
            <>
              <Link to="/dashboard/webhooks">Add an endpoint</Link>: the https address of your server. Then
              generate a key pair for it, so that only you can read what arrives.
            </>
          ) : (
            <>
              <Link to="/dashboard/webhooks/$endpointId" params={{ endpointId: steps.endpoint.id }}>
                Generate a key pair
              </Link>{" "}
              for your endpoint. Nothing is sent without one.
            </>
          )}
        </p>
      </Step>
      <Step {...step(4)} title="Read your first event" note={readNote(steps)}>
        <p>
          {steps.endpoint === undefined ? (
            "Add an endpoint first, then send it a test event."
          ) : (
            <>
              <Link to="/dashboard/webhooks/$endpointId" params={{ endpointId: steps.endpoint.id }}>
                Send a test event
              </Link>{" "}
              and decrypt it, in the page or on your server.
            </>
          )}
        </p>
      </Step>
      <Step {...step(5)} title="Go live">
        <p>
          Accept the terms, verify a domain and add your business details.{" "}
          <Link to="/dashboard/go-live">View the checklist</Link>
        </p>
      </Step>
    </>
  );
}

/** The service cannot know who could read what, and says only what it knows. */
function readNote({ isAccepted, openedHere }: Steps): string | null {
  if (openedHere) return "You decrypted one in this browser.";
  return isAccepted ? "Your server accepted one." : null;
}

function Step(props: {
  title: string;
  done: boolean;
  open: boolean;
  note?: string | null;
  children: ReactNode;
}) {
  // A folded part is not drawn.
  const [seen, setSeen] = useState(false);
  return (
    <li className="py-3">
      <details open={props.open} className="group" onToggle={() => setSeen(true)}>
        <summary className="flex list-none items-start gap-3">
          <span
            className={`mt-0.5 inline-flex size-6 shrink-0 items-center justify-center rounded-full border ${props.done ? "border-good bg-good-soft text-good" : "border-field"}`}
          >
            {props.done ? <Icon name="check" className="size-4" /> : null}
            <span className="sr-only">{props.done ? "Done:" : "To do:"}</span>
          </span>
          <span className={`flex-1 ${props.done ? "text-muted" : "font-medium"}`}>
            {props.title}
            {props.note ? (
              <span className="block text-small font-normal text-muted">{props.note}</span>
            ) : null}
          </span>
          <FoldMark className="mt-1 group-open:rotate-180" />
        </summary>
        <div className="mt-3 space-y-4 sm:pl-9">{props.open || seen ? props.children : null}</div>
      </details>
    </li>
  );
}

/** One press: what a newcomer does not have yet, such as a key, is not needed for it. */
function CreateStep() {
  const navigate = useNavigate();
  const [ageCheck] = presets;
  if (ageCheck === undefined) return null;
  return (
    <>
      <p>It checks that a person is over 18. You complete it yourself, in a new tab, with a test passport.</p>
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <ActionButton
          look="primary"
          icon="plus"
          run={async () => {
            // Opened by the press itself: a browser blocks a tab that opens after an answer.
            const tab = window.open("", "_blank");
            try {
              const shareFields = await withTranslations(presetShares(ageCheck));
              const idempotencyKey = crypto.randomUUID();
              const { data } = await call(createSession, {
                idempotencyKey,
                body: { share_fields: shareFields },
              });
              if (tab !== null) {
                tab.opener = null;
                tab.location.replace(data.verification_url);
              }
              await refresh(listSessions);
              await navigate({ to: "/dashboard/sessions/$sessionId", params: { sessionId: data.id } });
            } catch (error) {
              tab?.close();
              throw error;
            }
          }}
        >
          Create a test session
        </ActionButton>
        <Link to="/dashboard/sessions/new">Choose what it asks for</Link>
      </div>
    </>
  );
}

function VerifyStep({ steps: { latest } }: { steps: Steps }) {
  if (latest === undefined) return <p>Create a session first, then complete it with a test passport.</p>;
  return (
    <>
      <p>
        <a href={latest.verification_url} target="_blank" rel="noreferrer">
          Open the latest session
        </a>
        , agree, and choose a test passport. Or run the simulator:
      </p>
      <Code label="Command" text={`npm run assay -- simulate ${latest.verification_url} --passport valid`} />
    </>
  );
}

/** Code is shown once there is a key to run it with. Of the key it has the beginning: the rest is not stored. */
function KeyStep({ apiKey }: { apiKey: Steps["key"] }) {
  const [ageCheck] = presets;
  if (apiKey === null || ageCheck === undefined)
    return (
      <p>
        <Link to="/dashboard/api-keys">Create a key</Link> for your server and keep it secret. Sample code for
        it then appears here.
      </p>
    );
  return (
    <>
      <p>
        Set the key <bdi>“{apiKey.name}”</bdi> in your environment, then create a session from your server:
      </p>
      <Code label="Command" text={`export ${keyVariable}='${apiKey.key_prefix ?? apiKeyForm.prefix}…'`} />
      <CopyAs request={{ url: `${window.location.origin}/v1/sessions`, body: presetBody(ageCheck) }} />
    </>
  );
}
