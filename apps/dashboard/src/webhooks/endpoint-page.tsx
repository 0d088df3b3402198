import type { BodyOf } from "@assay/contract/route";
import { shownLink } from "@assay/contract/shown-domain";
import {
  deleteEndpoint,
  getEndpoint,
  listDeliveries,
  listEndpoints,
  listKeys,
  revealSecret,
  rotateSecret,
  updateEndpoint,
  type WebhookEndpoint,
} from "@assay/contract/webhooks";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import type { Static } from "typebox";
import { call, problemOf } from "../api/call.ts";
import { refresh, useData, useList } from "../api/queries.ts";
import { t } from "../i18n/words.ts";
import { useMay } from "../shell/organization-context.ts";
import { ActionButton, Button, LinkButton } from "../ui/button.tsx";
import { Copy, CopyId } from "../ui/copy.tsx";
import { ConfirmButton, ConfirmDialog, Dialog } from "../ui/dialog.tsx";
import { Form } from "../ui/form.tsx";
import type { MenuItem } from "../ui/menu.tsx";
import { LoadedObject, ObjectPage, Section } from "../ui/object-page.tsx";
import { Time } from "../ui/time.tsx";
import { Entry, Timeline } from "../ui/timeline.tsx";
import { toast } from "../ui/toasts.tsx";
import { DeliveriesTable } from "./deliveries-page.tsx";
import { EndpointKeys } from "./endpoint-keys.tsx";
import { EndpointFields, EndpointStatus, endpointBody, RefusedAddress } from "./endpoints-page.tsx";
import { RetryFailedDialog } from "./retry-failed.tsx";
import { TestEvent } from "./test-event.tsx";

type Endpoint = Static<typeof WebhookEndpoint>;

const crumb = () => ({ label: t.shell.pages.webhooks, to: "/dashboard/webhooks" }) as const;

export function EndpointPage() {
  const { endpointId } = useParams({ from: "/shell/dashboard/webhooks/$endpointId" });
  const endpoint = useData(getEndpoint, { params: { endpoint_id: endpointId } });
  return (
    <LoadedObject kind={t.ui.endpoint} crumb={crumb()} query={endpoint}>
      {(data) => <OneEndpoint endpoint={data} />}
    </LoadedObject>
  );
}

function OneEndpoint({ endpoint }: { endpoint: Endpoint }) {
  const mayChange = useMay("admin");
  const deliveries = useList(listDeliveries, { query: { endpoint_id: endpoint.id, limit: 10 } });
  const { items, dialog } = useEndpointMenu(endpoint);
  return (
    <ObjectPage
      crumb={crumb()}
      title={endpoint.name ?? shownLink(endpoint.url)}
      status={<EndpointStatus endpoint={endpoint} />}
      about={endpoint.name === null ? undefined : <bdi className="break-all">{shownLink(endpoint.url)}</bdi>}
      object={endpoint}
      facts={factsOf(endpoint)}
      menu={mayChange ? items : []}
      primary={
        mayChange ? (
          <LinkButton look="primary" to="." search={{ view: "test" }} resetScroll={false}>
            {t.webhooks.sendTest}
          </LinkButton>
        ) : null
      }
      views={
        mayChange
          ? [
              {
                value: "test",
                label: t.webhooks.test,
                content: <TestEvent endpointId={endpoint.id} enabled={endpoint.enabled} />,
              },
            ]
          : []
      }
    >
      <EndpointKeys endpointId={endpoint.id} mayChange={mayChange} />
      <SigningSecret endpointId={endpoint.id} />
      <Section
        title={t.webhooks.latest}
        actions={
          <LinkButton small to="/dashboard/deliveries" search={{ endpoint: endpoint.id }}>
            {t.webhooks.viewAll}
          </LinkButton>
        }
      >
        <DeliveriesTable list={deliveries} empty={t.webhooks.latestEmpty} />
      </Section>
      <Section title={t.ui.timeline}>
        <EndpointTimeline endpoint={endpoint} />
      </Section>
      {dialog}
    </ObjectPage>
  );
}

/** The occasional actions of an endpoint, with their confirmations. */
function useEndpointMenu(endpoint: Endpoint) {
  const params = { endpoint_id: endpoint.id };
  const navigate = useNavigate();
  const [asked, setAsked] = useState<"edit" | "retry" | "delete" | null>(null);
  const onClose = () => setAsked(null);
  const change = async (body: BodyOf<typeof updateEndpoint>) => {
    await call(updateEndpoint, { params, body });
    await refresh(getEndpoint, listEndpoints);
  };
  const items: MenuItem[] = [
    { label: t.ui.edit, icon: "settings", run: () => setAsked("edit") },
    { label: t.webhooks.retryFailedAsk, icon: "refresh", run: () => setAsked("retry") },
    {
      label: endpoint.enabled ? t.ui.disable : t.ui.enable,
      icon: endpoint.enabled ? "x" : "check",
      run: () =>
        void change({ enabled: !endpoint.enabled }).then(
          () => toast(endpoint.enabled ? t.webhooks.endpointDisabled : t.webhooks.endpointEnabled),
          (error) => toast(problemOf(error).message, "warn"),
        ),
    },
    { label: t.ui.delete, icon: "trash", danger: true, run: () => setAsked("delete") },
  ];
  const dialog =
    asked === "edit" ? (
      <Dialog title={t.webhooks.editEndpoint} onClose={onClose}>
        <Form
          submit={t.ui.save}
          onSubmit={async (values) => {
            await change(endpointBody(values));
            onClose();
          }}
          onProblem={(problem) => <RefusedAddress problem={problem} />}
        >
          <EndpointFields endpoint={endpoint} />
        </Form>
      </Dialog>
    ) : asked === "retry" ? (
      <RetryFailedDialog endpointId={endpoint.id} onClose={onClose} />
    ) : asked === "delete" ? (
      <ConfirmDialog
        title={t.webhooks.deleteTitle}
        explanation={t.webhooks.deleteText}
        confirm={t.webhooks.deleteEndpoint}
        done={t.webhooks.deleted}
        onClose={onClose}
        run={async () => {
          await call(deleteEndpoint, { params });
          await navigate({ to: "/dashboard/webhooks" });
          await refresh(listEndpoints);
        }}
      />
    ) : null;
  return { items, dialog };
}

function SigningSecret({ endpointId }: { endpointId: string }) {
  const params = { endpoint_id: endpointId };
  const mayChange = useMay("admin");
  const mayReveal = useMay("owner");
  const [secret, setSecret] = useState<string | null>(null);
  const rotate = async (overlap_hours: number) =>
    setSecret((await call(rotateSecret, { params, body: { overlap_hours } })).data.signing_secret);
  return (
    <Section title={t.ui.signingSecret}>
      <p className="mb-4 text-muted">{t.webhooks.secretText}</p>
      {secret === null ? null : <Copy label={t.ui.signingSecret} value={secret} />}
      <div className="flex flex-wrap gap-3">
        {mayReveal && secret === null ? (
          <ActionButton
            run={async () => setSecret((await call(revealSecret, { params })).data.signing_secret)}
          >
            {t.webhooks.reveal}
          </ActionButton>
        ) : null}
        {secret === null ? null : <Button onClick={() => setSecret(null)}>{t.ui.hide}</Button>}
        {mayChange ? (
          <>
            <ConfirmButton
              look="plain"
              title={t.webhooks.rollTitle}
              explanation={t.webhooks.rollText}
              confirm={t.webhooks.roll}
              run={() => rotate(24)}
            >
              {t.webhooks.roll}
            </ConfirmButton>
            <ConfirmButton
              title={t.webhooks.rollNowTitle}
              explanation={t.webhooks.rollNowText}
              confirm={t.webhooks.rollNow}
              run={() => rotate(0)}
            >
              {t.webhooks.rollNow}
            </ConfirmButton>
          </>
        ) : null}
      </div>
      {mayReveal ? null : <p className="mt-3 text-small text-muted">{t.webhooks.ownerReveals}</p>}
    </Section>
  );
}

/** The events are derived from the endpoint and its keys. */
function EndpointTimeline({ endpoint }: { endpoint: Endpoint }) {
  const keys = useList(listKeys, { params: { endpoint_id: endpoint.id } });
  const entries = [
    { at: endpoint.created_at, name: t.ui.created, state: "done" as const },
    ...keys.items.flatMap((key) => [
      { at: key.created_at, name: t.webhooks.keyRegistered(key.key_id), state: "done" as const },
      ...(key.deactivated_at === null
        ? []
        : [{ at: key.deactivated_at, name: t.webhooks.keyDeactivated(key.key_id), state: "done" as const }]),
    ]),
    ...(endpoint.disabled_at === null
      ? []
      : [
          {
            at: endpoint.disabled_at,
            name:
              endpoint.disabled_reason === null
                ? t.ui.disabled
                : t.webhooks.disabledReason[endpoint.disabled_reason],
            state:
              endpoint.disabled_reason === "disabled_by_request" ? ("done" as const) : ("failed" as const),
          },
        ]),
  ].sort((a, b) => (a.at < b.at ? -1 : 1));
  return (
    <Timeline>
      {entries.map(({ at, name, state }) => (
        <Entry key={`${at} ${name}`} name={<bdi>{name}</bdi>} state={state} at={at} />
      ))}
    </Timeline>
  );
}

function factsOf(endpoint: Endpoint) {
  return [
    [
      "URL",
      <bdi key="url" className="break-all">
        {endpoint.url}
      </bdi>,
    ],
    [
      t.shell.pages.events,
      endpoint.subscribed_event_types.length === 0
        ? t.ui.none
        : endpoint.subscribed_event_types.map((type) => t.webhooks.event[type]).join(", "),
    ],
    [
      t.webhooks.retention,
      endpoint.undelivered_payload_retention_hours === 0
        ? t.webhooks.notKept
        : t.webhooks.keptHours(endpoint.undelivered_payload_retention_hours),
    ],
    [t.ui.created, <Time key="created" full at={endpoint.created_at} />],
    ["ID", <CopyId key="id" value={endpoint.id} />],
  ] as const;
}
