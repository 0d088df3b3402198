import { eventTypes } from "@assay/contract/events";
import { shownLink } from "@assay/contract/shown-domain";
import {
  createEndpoint,
  type DisabledReason,
  defaultPayloadRetentionHours,
  listEndpoints,
  type PayloadRetentionHours,
  payloadRetentionHours,
} from "@assay/contract/webhooks";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { call, type Problem } from "../api/call.ts";
import { refresh, useList } from "../api/queries.ts";
import { t } from "../i18n/words.ts";
import { useMay } from "../shell/organization-context.ts";
import { Button, LinkButton } from "../ui/button.tsx";
import { Copy } from "../ui/copy.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Checkbox, Field, Group, Select } from "../ui/field.tsx";
import { Form, type Values } from "../ui/form.tsx";
import { Badge, Card, Heading } from "../ui/page.tsx";
import { ListTable } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { OnYourMachine } from "./on-your-machine.tsx";

type EventTypes = (typeof eventTypes)[number][];

export function EndpointStatus(props: {
  endpoint: { enabled: boolean; has_active_key: boolean; disabled_reason: DisabledReason | null };
}) {
  const { enabled, has_active_key, disabled_reason } = props.endpoint;
  if (!enabled)
    return disabled_reason === null || disabled_reason === "disabled_by_request" ? (
      <Badge look="plain">{t.ui.disabled}</Badge>
    ) : (
      <Badge look="bad">{t.webhooks.disabledReason[disabled_reason]}</Badge>
    );
  return has_active_key ? (
    <Badge look="good">{t.webhooks.enabled}</Badge>
  ) : (
    <Badge look="warn">{t.webhooks.noKey}</Badge>
  );
}

export function EndpointsPage() {
  const mayChange = useMay("admin");
  const endpoints = useList(listEndpoints);
  const [creating, setCreating] = useState(false);
  const add = mayChange ? (
    <Button look="primary" icon="plus" onClick={() => setCreating(true)}>
      {t.webhooks.add}
    </Button>
  ) : null;
  return (
    <>
      <Heading title={t.shell.pages.webhooks}>{add}</Heading>
      <Card>
        <ListTable
          caption={t.webhooks.endpoints}
          list={endpoints}
          rowKey={({ id }) => id}
          emptyIcon="webhook"
          emptyAction={add}
          empty={t.webhooks.endpointsEmpty}
          columns={[
            {
              header: t.ui.endpoint,
              cell: (endpoint) => (
                <Link to="/dashboard/webhooks/$endpointId" params={{ endpointId: endpoint.id }}>
                  {endpoint.name === null ? null : <bdi className="block font-medium">{endpoint.name}</bdi>}
                  <bdi className="break-all">
                    {endpoint.kind === "listener" ? t.webhooks.listener : shownLink(endpoint.url)}
                  </bdi>
                </Link>
              ),
            },
            { header: t.ui.status, phone: "end", cell: (endpoint) => <EndpointStatus endpoint={endpoint} /> },
            {
              header: t.shell.pages.events,
              cell: ({ subscribed_event_types: types }) =>
                types.length === eventTypes.length
                  ? t.webhooks.allEvents
                  : t.webhooks.someEvents({ some: types.length, all: eventTypes.length }),
            },
            { header: t.ui.created, cell: (endpoint) => <Time at={endpoint.created_at} /> },
          ]}
        />
      </Card>
      {mayChange ? <OnYourMachine /> : null}
      {creating ? (
        <CreateEndpoint
          title={t.webhooks.add}
          onCreated={() => refresh(listEndpoints)}
          onClose={() => setCreating(false)}
          next={(endpointId) => (
            <LinkButton look="primary" to="/dashboard/webhooks/$endpointId" params={{ endpointId }}>
              {t.ui.registerKey}
            </LinkButton>
          )}
        />
      ) : null}
    </>
  );
}

export function EndpointFields(props: {
  endpoint?: {
    url: string;
    name: string | null;
    undelivered_payload_retention_hours: PayloadRetentionHours;
    subscribed_event_types: readonly string[];
  };
}) {
  const { endpoint } = props;
  return (
    <>
      <Field
        label="URL"
        name="url"
        type="url"
        hint={t.webhooks.urlHint}
        maxLength={2048}
        defaultValue={endpoint?.url ?? ""}
      />
      <Field label={t.ui.name} name="name" maxLength={120} optional defaultValue={endpoint?.name ?? ""} />
      <Select
        label={t.webhooks.keepFor}
        name="undelivered_payload_retention_hours"
        hint={t.webhooks.keepHint}
        defaultValue={String(endpoint?.undelivered_payload_retention_hours ?? defaultPayloadRetentionHours)}
        options={payloadRetentionHours.map((hours) => ({
          value: String(hours),
          label: hours === 0 ? t.webhooks.dontKeep : t.webhooks.days(hours / 24),
        }))}
      />
      <Group legend={t.shell.pages.events}>
        {eventTypes.map((type) => (
          <Checkbox
            key={type}
            name="subscribed_event_types"
            value={type}
            defaultChecked={endpoint?.subscribed_event_types.includes(type) ?? true}
            label={t.webhooks.event[type]}
          />
        ))}
      </Group>
    </>
  );
}

export function endpointBody(values: Values) {
  return {
    url: values.text("url"),
    name: values.text("name") || null,
    undelivered_payload_retention_hours: Number(
      values.raw("undelivered_payload_retention_hours"),
    ) as PayloadRetentionHours,
    subscribed_event_types: values.all("subscribed_event_types") as EventTypes,
  };
}

/** Many users first try a local address, which a service elsewhere cannot reach. */
export function RefusedAddress({ problem }: { problem: Problem }) {
  if (problem.code !== "WEBHOOK_URL_REJECTED") return null;
  return <p className="text-small">{t.webhooks.refusedAddress}</p>;
}

/** Adds an endpoint, then shows its secret and what comes next. */
export function CreateEndpoint(props: {
  title: string;
  /** `callInLive` for an endpoint of live, on a page of the sandbox. */
  send?: typeof call;
  onCreated: () => Promise<unknown>;
  onClose: () => void;
  /** Leads to the registration of a key. */
  next: (endpointId: string) => ReactNode;
}) {
  const [created, setCreated] = useState<{ id: string; secret: string } | null>(null);
  if (created !== null)
    return (
      <Dialog title={t.webhooks.added} onClose={props.onClose}>
        <p className="mb-3">{t.webhooks.addedSecret}</p>
        <Copy label={t.ui.signingSecret} value={created.secret} />
        <p className="mt-3">{t.webhooks.addedNext}</p>
        <div className="mt-4">{props.next(created.id)}</div>
      </Dialog>
    );
  return (
    <Dialog title={props.title} onClose={props.onClose}>
      <Form
        submit={t.ui.add}
        onSubmit={async (values) => {
          const { data } = await (props.send ?? call)(createEndpoint, { body: endpointBody(values) });
          setCreated({ id: data.endpoint.id, secret: data.signing_secret });
          await props.onCreated();
        }}
        onProblem={(problem) => <RefusedAddress problem={problem} />}
      >
        <EndpointFields />
      </Form>
    </Dialog>
  );
}
