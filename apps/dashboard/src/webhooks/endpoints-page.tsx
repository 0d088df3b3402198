import { eventTypes } from "@assay/contract/events";
import { shownLink } from "@assay/contract/shown-domain";
import {
  createEndpoint,
  defaultPayloadRetentionHours,
  listEndpoints,
  type PayloadRetentionHours,
  payloadRetentionHours,
} from "@assay/contract/webhooks";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { call, type Problem } from "../api/call.ts";
import { refresh, useList } from "../api/queries.ts";
import { useMay } from "../shell/organization-context.ts";
import { Button, LinkButton } from "../ui/button.tsx";
import { Copy } from "../ui/copy.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Checkbox, Field, Group, Select } from "../ui/field.tsx";
import { inWords } from "../ui/filters.tsx";
import { Form, type Values } from "../ui/form.tsx";
import { Badge, Card, Heading } from "../ui/page.tsx";
import { ListTable } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { eventLabels } from "./event-labels.ts";
import { OnYourMachine } from "./on-your-machine.tsx";

type EventTypes = (typeof eventTypes)[number][];

export function EndpointStatus(props: {
  endpoint: { enabled: boolean; has_active_key: boolean; disabled_reason: string | null };
}) {
  const { enabled, has_active_key, disabled_reason } = props.endpoint;
  if (!enabled)
    return disabled_reason === null || disabled_reason === "disabled_by_request" ? (
      <Badge look="plain">Disabled</Badge>
    ) : (
      <Badge look="bad">{inWords(disabled_reason)}</Badge>
    );
  return has_active_key ? <Badge look="good">Enabled</Badge> : <Badge look="warn">No key</Badge>;
}

export function EndpointsPage() {
  const mayChange = useMay("admin");
  const endpoints = useList(listEndpoints);
  const [creating, setCreating] = useState(false);
  const add = (words: string) =>
    mayChange ? (
      <Button look="primary" icon="plus" onClick={() => setCreating(true)}>
        {words}
      </Button>
    ) : null;
  return (
    <>
      <Heading title="Webhooks">{add("Add endpoint")}</Heading>
      <Card>
        <ListTable
          caption="Webhook endpoints"
          list={endpoints}
          rowKey={({ id }) => id}
          emptyIcon="webhook"
          emptyAction={add("Add endpoint")}
          empty="Webhooks send session results to your server, signed and encrypted to your key."
          columns={[
            {
              header: "Endpoint",
              cell: (endpoint) => (
                <Link to="/dashboard/webhooks/$endpointId" params={{ endpointId: endpoint.id }}>
                  {endpoint.name === null ? null : <bdi className="block font-medium">{endpoint.name}</bdi>}
                  <bdi className="break-all">
                    {endpoint.kind === "listener" ? "Local listener (assay listen)" : shownLink(endpoint.url)}
                  </bdi>
                </Link>
              ),
            },
            { header: "Status", phone: "end", cell: (endpoint) => <EndpointStatus endpoint={endpoint} /> },
            {
              header: "Events",
              cell: ({ subscribed_event_types: types }) =>
                types.length === eventTypes.length ? "All" : `${types.length} of ${eventTypes.length}`,
            },
            { header: "Created", cell: (endpoint) => <Time at={endpoint.created_at} /> },
          ]}
        />
      </Card>
      {mayChange ? <OnYourMachine /> : null}
      {creating ? <CreateEndpoint onClose={() => setCreating(false)} /> : null}
    </>
  );
}

const retentionLabels: Record<PayloadRetentionHours, string> = {
  0: "Do not keep",
  24: "1 day",
  72: "3 days",
  168: "7 days",
};

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
        hint="An https:// address on the public internet. Redirects aren't followed."
        maxLength={2048}
        defaultValue={endpoint?.url ?? ""}
      />
      <Field label="Name" name="name" maxLength={120} optional defaultValue={endpoint?.name ?? ""} />
      <Select
        label="Keep failed payloads for"
        name="undelivered_payload_retention_hours"
        hint="So that you can retry them. They stay encrypted to your key."
        defaultValue={String(endpoint?.undelivered_payload_retention_hours ?? defaultPayloadRetentionHours)}
        options={payloadRetentionHours.map((hours) => ({
          value: String(hours),
          label: retentionLabels[hours],
        }))}
      />
      <Group legend="Events">
        {eventTypes.map((type) => (
          <Checkbox
            key={type}
            name="subscribed_event_types"
            value={type}
            defaultChecked={endpoint?.subscribed_event_types.includes(type) ?? true}
            label={eventLabels[type]}
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

/** The address that everybody tries first is the one that a service elsewhere cannot reach. */
export function RefusedAddress({ problem }: { problem: Problem }) {
  if (problem.code !== "WEBHOOK_URL_REJECTED") return null;
  return (
    <p className="text-small">
      Your own machine cannot be reached from here. To receive events there, see “Local development” on the
      webhooks page, or use the public https address of a tunnel.
    </p>
  );
}

type Created = { id: string; secret: string };

function CreateEndpoint({ onClose }: { onClose: () => void }) {
  const [created, setCreated] = useState<Created | null>(null);
  if (created !== null)
    return (
      <Dialog title="Endpoint added" onClose={onClose}>
        <p className="mb-3">
          Verify the signature of every delivery with this secret. An owner can reveal it again.
        </p>
        <Copy label="Signing secret" value={created.secret} />
        <p className="mt-3">Next, register an encryption key. Nothing is sent without one.</p>
        <div className="mt-4">
          <LinkButton look="primary" to="/dashboard/webhooks/$endpointId" params={{ endpointId: created.id }}>
            Register key
          </LinkButton>
        </div>
      </Dialog>
    );
  return (
    <Dialog title="Add endpoint" onClose={onClose}>
      <Form
        submit="Add"
        onSubmit={async (values) => {
          const { data } = await call(createEndpoint, { body: endpointBody(values) });
          setCreated({ id: data.endpoint.id, secret: data.signing_secret });
          await refresh(listEndpoints);
        }}
        onProblem={(problem) => <RefusedAddress problem={problem} />}
      >
        <EndpointFields />
      </Form>
    </Dialog>
  );
}
