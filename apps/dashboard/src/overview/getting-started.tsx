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
import { Filled } from "../i18n/filled.tsx";
import { t } from "../i18n/words.ts";
import { withTranslations } from "../sessions/preset-reasons.ts";
import { presetBody, presetShares } from "../sessions/session-body.ts";
import { useWorkspace } from "../shell/organization-context.ts";
import { ActionButton } from "../ui/button.tsx";
import { Code } from "../ui/code.tsx";
import { CopyAs } from "../ui/copy-as.tsx";
import { Disclosure } from "../ui/disclosure.tsx";
import { Icon } from "../ui/icon.tsx";
import { keyVariable } from "../ui/request-code.ts";
import { useOpenedHere } from "../webhooks/opened-here.ts";

// A tick appears while the user looks at another window. Half the interval would double the requests of an
// idle page without benefit.
const pollIntervalMs = 4_000;

/** Polls a list until `isDone` accepts it: a finished step stays finished. */
function usePolledList<const R extends RouteDefinition>(
  route: R,
  query: Record<string, unknown>,
  isDone: (items: ReturnType<typeof useList<R>>["items"]) => boolean,
) {
  const [done, setDone] = useState(false);
  const list = useList(route, { query }, { refetchInterval: done ? false : pollIntervalMs });
  const isDoneNow = isDone(list.items);
  useEffect(() => setDone(isDoneNow), [isDoneNow]);
  return list;
}

/** The progress towards the first event that a user can read. Null while it loads. */
export function useSteps() {
  const { organization } = useWorkspace();
  const some = (items: readonly unknown[]) => items.length > 0;
  const verified = usePolledList(listSessions, { limit: 1, status: "succeeded" }, some);
  const sessions = usePolledList(listSessions, { limit: 1 }, () => verified.items.length > 0);
  const keys = usePolledList(listApiKeys, { limit: 1 }, some);
  const endpoints = usePolledList(listEndpoints, { limit: 100, enabled: true }, (items) =>
    items.some(({ has_active_key }) => has_active_key),
  );
  const accepted = usePolledList(listDeliveries, { limit: 1, status: "succeeded" }, some);
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

/** The first steps, ticked as they are done. Hidden when all are done; folded before going live. */
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
      <span aria-hidden="true" className="mb-3 block h-1.5 rounded-full bg-code forced-color-adjust-none">
        <span className={`block h-full rounded-full bg-accent ${widths[count]}`} />
      </span>
      <Disclosure
        open={!isTried}
        title={
          <span className="flex flex-wrap items-baseline gap-x-3">
            <h2 id="getting-started" className="text-part font-semibold">
              {t.overview.start.title}
            </h2>
            <span className="text-small font-normal text-muted">
              {t.overview.start.progress({ done: count, all: done.length })}
            </span>
          </span>
        }
      >
        <ol className="divide-y divide-line">
          <StepList steps={steps} done={done} next={next} />
        </ol>
      </Disclosure>
    </section>
  );
}

// The content security policy forbids inline styles.
const widths = ["w-0", "w-1/6", "w-2/6", "w-3/6", "w-4/6", "w-5/6", "w-full"] as const;

function StepList({ steps, done, next }: { steps: Steps; done: readonly boolean[]; next: number }) {
  const step = (at: number) => ({ done: done[at] === true, open: at === next });
  return (
    <>
      <Step {...step(0)} title={t.overview.start.create}>
        <CreateStep />
      </Step>
      <Step {...step(1)} title={t.overview.start.complete}>
        <VerifyStep steps={steps} />
      </Step>
      <Step {...step(2)} title={t.overview.start.key}>
        <KeyStep apiKey={steps.key} />
      </Step>
      <Step {...step(3)} title={t.overview.start.endpoint}>
        <p>
          {steps.endpoint === undefined ? (
            <Filled
              text={t.overview.start.endpointText}
              link={<Link to="/dashboard/webhooks">{t.overview.start.endpointLink}</Link>}
            />
          ) : (
            <Filled
              text={t.overview.start.pairText}
              link={
                <Link to="/dashboard/webhooks/$endpointId" params={{ endpointId: steps.endpoint.id }}>
                  {t.overview.start.pairLink}
                </Link>
              }
            />
          )}
        </p>
      </Step>
      <Step {...step(4)} title={t.overview.start.read} note={readNote(steps)}>
        <p>
          {steps.endpoint === undefined ? (
            t.overview.start.readFirst
          ) : (
            <Filled
              text={t.overview.start.readText}
              link={
                <Link to="/dashboard/webhooks/$endpointId" params={{ endpointId: steps.endpoint.id }}>
                  {t.overview.start.readLink}
                </Link>
              }
            />
          )}
        </p>
      </Step>
      <Step {...step(5)} title={t.ui.goLive}>
        <p>
          <Filled
            text={t.overview.start.liveText}
            link={<Link to="/dashboard/go-live">{t.overview.start.liveLink}</Link>}
          />
        </p>
      </Step>
    </>
  );
}

/** The service cannot see whether a user has read an event, so the note says only what is known. */
function readNote({ isAccepted, openedHere }: Steps): string | null {
  if (openedHere) return t.overview.start.decrypted;
  return isAccepted ? t.overview.start.accepted : null;
}

function Step(props: {
  title: string;
  done: boolean;
  open: boolean;
  note?: string | null;
  children: ReactNode;
}) {
  return (
    <li className="py-2">
      <Disclosure
        open={props.open}
        title={
          <span className="flex items-start gap-3">
            <span
              className={`mt-0.5 inline-flex size-6 shrink-0 items-center justify-center rounded-full border ${props.done ? "border-good bg-good-soft text-good" : "border-field"}`}
            >
              {props.done ? <Icon name="check" className="size-4" /> : null}
              <span className="sr-only">{props.done ? t.ui.entry.done : t.overview.start.toDo}</span>
            </span>
            <span className={props.done ? "font-normal text-muted" : ""}>
              {props.title}
              {props.note ? (
                <span className="block text-small font-normal text-muted">{props.note}</span>
              ) : null}
            </span>
          </span>
        }
      >
        <div className="mb-2 space-y-4 sm:pl-9">{props.children}</div>
      </Disclosure>
    </li>
  );
}

/** One press creates the session. It needs no API key, which a new user does not have yet. */
function CreateStep() {
  const navigate = useNavigate();
  const [ageCheck] = presets;
  if (ageCheck === undefined) return null;
  return (
    <>
      <p>{t.overview.start.createText}</p>
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <ActionButton
          look="primary"
          icon="plus"
          run={async () => {
            // Opened by the press itself: a browser blocks a tab that opens after a response.
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
          {t.overview.start.create}
        </ActionButton>
        <Link to="/dashboard/sessions/new">{t.overview.start.chooseFields}</Link>
      </div>
    </>
  );
}

function VerifyStep({ steps: { latest } }: { steps: Steps }) {
  if (latest === undefined) return <p>{t.overview.start.createFirst}</p>;
  return (
    <>
      <p>
        <Filled
          text={t.overview.start.openLatest}
          link={
            <a href={latest.verification_url} target="_blank" rel="noreferrer">
              {t.overview.start.openLatestLink}
            </a>
          }
        />
      </p>
      <Code
        label={t.ui.command}
        text={`npm run assay -- simulate ${latest.verification_url} --passport valid`}
      />
    </>
  );
}

/** The code appears once there is a key to run it with. It shows the key's prefix: the rest is not stored. */
function KeyStep({ apiKey }: { apiKey: Steps["key"] }) {
  const [ageCheck] = presets;
  if (apiKey === null || ageCheck === undefined)
    return (
      <p>
        <Filled
          text={t.overview.start.keyText}
          link={<Link to="/dashboard/api-keys">{t.overview.start.keyLink}</Link>}
        />
      </p>
    );
  return (
    <>
      <p>
        <Filled text={t.overview.start.setKey} name={<bdi>{t.ui.quoted(apiKey.name)}</bdi>} />
      </p>
      <Code
        label={t.ui.command}
        text={`export ${keyVariable}='${apiKey.key_prefix ?? apiKeyForm.prefix}…'`}
      />
      <CopyAs request={{ url: `${window.location.origin}/v1/sessions`, body: presetBody(ageCheck) }} />
    </>
  );
}
