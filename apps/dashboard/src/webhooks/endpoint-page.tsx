import {
  deleteEndpoint,
  getEndpoint,
  listDeliveries,
  listEndpoints,
  revealSecret,
  rotateSecret,
  updateEndpoint,
} from "@assay/contract/webhooks";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { call } from "../api/call.ts";
import { refresh, useData, useList } from "../api/queries.ts";
import { useMay } from "../shell/organization-context.ts";
import { ActionButton, Button } from "../ui/button.tsx";
import { Copy, CopyId } from "../ui/copy.tsx";
import { ConfirmButton, Dialog } from "../ui/dialog.tsx";
import { Form } from "../ui/form.tsx";
import { Card, Facts, Heading, Loaded } from "../ui/page.tsx";
import { shortId } from "../ui/short-id.ts";
import { Time } from "../ui/time.tsx";
import { DeliveriesTable } from "./deliveries-page.tsx";
import { EndpointKeys } from "./endpoint-keys.tsx";
import { EndpointFields, EndpointStatus, endpointBody, RefusedAddress } from "./endpoints-page.tsx";
import { eventLabels } from "./event-labels.ts";
import { TestEvent } from "./test-event.tsx";

export function EndpointPage() {
  const { endpointId } = useParams({ from: "/shell/dashboard/webhooks/$endpointId" });
  const params = { endpoint_id: endpointId };
  const endpoint = useData(getEndpoint, { params });
  const deliveries = useList(listDeliveries, { query: { endpoint_id: endpointId, limit: 10 } });
  const mayChange = useMay("admin");
  const mayReveal = useMay("owner");
  const navigate = useNavigate();
  const [editing, setEditing] = useState(false);
  const [secret, setSecret] = useState<string | null>(null);
  const reread = () => refresh(getEndpoint, listEndpoints);
  const rotate = async (overlap_hours: number) =>
    setSecret((await call(rotateSecret, { params, body: { overlap_hours } })).data.signing_secret);
  return (
    <>
      <Heading
        title={`Webhook endpoint ${shortId(endpointId)}`}
        crumbs={[{ label: "Webhooks", to: "/dashboard/webhooks" }]}
      />
      <Loaded query={endpoint}>
        {({ data }) => (
          <>
            <Card>
              <Facts
                facts={[
                  [
                    "Address",
                    <bdi key="url" className="break-all">
                      {data.url}
                    </bdi>,
                  ],
                  ["Name", <bdi key="name">{data.name ?? "–"}</bdi>],
                  ["State", <EndpointStatus key="state" endpoint={data} />],
                  [
                    "Events",
                    data.subscribed_event_types.length === 0
                      ? "none"
                      : data.subscribed_event_types.map((type) => eventLabels[type]).join(", "),
                  ],
                  [
                    "Undelivered payloads",
                    data.undelivered_payload_retention_hours === 0
                      ? "are not kept"
                      : `are kept for ${data.undelivered_payload_retention_hours} hours`,
                  ],
                  ["Created", <Time key="created" full at={data.created_at} />],
                  ["Identifier", <CopyId key="id" value={data.id} />],
                ]}
              />
              {mayChange ? (
                <div className="mt-5 flex flex-wrap gap-3">
                  <Button onClick={() => setEditing(true)}>Edit</Button>
                  <ActionButton
                    run={async () => {
                      await call(updateEndpoint, { params, body: { enabled: !data.enabled } });
                      await reread();
                    }}
                  >
                    {data.enabled ? "Disable" : "Enable"}
                  </ActionButton>
                  <ConfirmButton
                    title="Delete this endpoint?"
                    explanation="Nothing more is sent to it and what waits is scrubbed. Past deliveries stay listed. This cannot be taken back."
                    confirm="Delete the endpoint"
                    done="The endpoint is deleted."
                    run={async () => {
                      await call(deleteEndpoint, { params });
                      await navigate({ to: "/dashboard/webhooks" });
                      await refresh(listEndpoints);
                    }}
                  >
                    Delete
                  </ConfirmButton>
                </div>
              ) : null}
            </Card>

            <EndpointKeys endpointId={endpointId} mayChange={mayChange} />

            {mayChange ? <TestEvent endpointId={endpointId} enabled={data.enabled} /> : null}

            <Card title="Signing secret">
              <p className="mb-4 text-muted">
                Every delivery is signed with it. After you replace it, deliveries carry both signatures for a
                day, so that your server has time to change.
              </p>
              {secret === null ? null : <Copy label="Signing secret" value={secret} />}
              <div className="flex flex-wrap gap-3">
                {mayReveal && secret === null ? (
                  <ActionButton
                    run={async () => setSecret((await call(revealSecret, { params })).data.signing_secret)}
                  >
                    Reveal
                  </ActionButton>
                ) : null}
                {secret === null ? null : <Button onClick={() => setSecret(null)}>Hide</Button>}
                {mayChange ? (
                  <ConfirmButton
                    title="Replace the signing secret?"
                    explanation="For 24 hours each delivery carries the signatures of both secrets. Give your server the new one in that time."
                    confirm="Replace it"
                    run={() => rotate(24)}
                  >
                    Replace
                  </ConfirmButton>
                ) : null}
                {mayChange ? (
                  <ConfirmButton
                    title="Replace the signing secret at once?"
                    explanation="For a secret that somebody else has seen. The old one stops with the next send: until your server knows the new one, it refuses what we send."
                    confirm="Replace it at once"
                    run={() => rotate(0)}
                  >
                    Replace at once
                  </ConfirmButton>
                ) : null}
              </div>
              {mayReveal ? null : <p className="mt-3 text-small text-muted">Only an owner can reveal it.</p>}
            </Card>

            <Card title="Latest deliveries">
              <DeliveriesTable
                list={deliveries}
                empty="Nothing has been sent here yet. Send a test event to see that it arrives."
              />
            </Card>

            {editing ? (
              <Dialog title="Edit the endpoint" onClose={() => setEditing(false)}>
                <Form
                  submit="Save"
                  onSubmit={async (values) => {
                    await call(updateEndpoint, { params, body: endpointBody(values) });
                    await reread();
                    setEditing(false);
                  }}
                  onProblem={(problem) => <RefusedAddress problem={problem} />}
                >
                  <EndpointFields endpoint={data} />
                </Form>
              </Dialog>
            ) : null}
          </>
        )}
      </Loaded>
    </>
  );
}
