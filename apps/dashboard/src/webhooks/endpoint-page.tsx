import type { BodyOf } from "@assay/contract/route";
import {
  deactivateKey,
  deleteEndpoint,
  getEndpoint,
  listDeliveries,
  listEndpoints,
  listEvents,
  listKeys,
  reactivateKey,
  registerKey,
  revealSecret,
  rotateSecret,
  testEndpoint,
  updateEndpoint,
} from "@assay/contract/webhooks";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { call } from "../api/call.ts";
import { refresh, useData, useList } from "../api/queries.ts";
import { useMay } from "../shell/organization-context.ts";
import { ActionButton, Button, LinkButton } from "../ui/button.tsx";
import { Copy } from "../ui/copy.tsx";
import { ConfirmButton, Dialog } from "../ui/dialog.tsx";
import { TextArea } from "../ui/field.tsx";
import { Form } from "../ui/form.tsx";
import { Notice } from "../ui/notice.tsx";
import { Badge, Card, Facts, Heading, Loaded, Time } from "../ui/page.tsx";
import { ListTable } from "../ui/table.tsx";
import { DeliveriesTable } from "./deliveries-page.tsx";
import { EndpointFields, EndpointStatus, endpointBody } from "./endpoints-page.tsx";

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
  const [tested, setTested] = useState<string | null>(null);
  const reread = () => refresh(getEndpoint, listEndpoints);
  return (
    <>
      <Heading title="Webhook endpoint">
        <LinkButton to="/dashboard/webhooks">All endpoints</LinkButton>
      </Heading>
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
                      : data.subscribed_event_types.join(", "),
                  ],
                  [
                    "Undelivered payloads",
                    data.undelivered_payload_retention_hours === 0
                      ? "are not kept"
                      : `are kept for ${data.undelivered_payload_retention_hours} hours`,
                  ],
                  ["Created", <Time key="created" at={data.created_at} />],
                  [
                    "Identifier",
                    <code key="id" className="font-mono text-sm break-all">
                      {data.id}
                    </code>,
                  ],
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
                  <ActionButton
                    run={async () => {
                      setTested(null);
                      const { data: sent } = await call(testEndpoint, { params });
                      setTested(sent.deliveries[0]?.id ?? null);
                      await refresh(listDeliveries, listEvents);
                    }}
                  >
                    Send a test event
                  </ActionButton>
                  <ConfirmButton
                    title="Delete this endpoint?"
                    explanation="Nothing more is sent to it and what waits is scrubbed. Past deliveries stay listed. This cannot be taken back."
                    confirm="Delete the endpoint"
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
              {tested === null ? null : (
                <Notice kind="good">
                  A test event is on its way.{" "}
                  <Link to="/dashboard/deliveries/$deliveryId" params={{ deliveryId: tested }}>
                    See how it went
                  </Link>
                </Notice>
              )}
            </Card>

            <Keys endpointId={endpointId} mayChange={mayChange} />

            <Card title="Signing secret">
              <p className="mb-4 text-muted">
                Every delivery is signed with it. Replacing it takes effect with the next send, retries
                included.
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
                    explanation="The old secret stops at once. Until your server knows the new one it will refuse what we send."
                    confirm="Replace it"
                    run={async () => setSecret((await call(rotateSecret, { params })).data.signing_secret)}
                  >
                    Replace
                  </ConfirmButton>
                ) : null}
              </div>
              {mayReveal ? null : <p className="mt-3 text-sm text-muted">Only an owner can reveal it.</p>}
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

type Jwk = BodyOf<typeof registerKey>["jwk"];

/** What people paste is checked here only as far as the service could not say it better. */
function readJwk(text: string): Jwk {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error("`jwk` is not JSON. Paste the whole public key, from { to }.");
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new Error("`jwk` must be one JSON object, a public RSA key.");
  if ("d" in value || "p" in value || "q" in value)
    throw new Error(
      "`jwk` is a private key. It was not sent. Paste the public key only, without d, p and q.",
    );
  return value as Jwk;
}

function Keys({ endpointId, mayChange }: { endpointId: string; mayChange: boolean }) {
  const params = { endpoint_id: endpointId };
  const keys = useList(listKeys, { params });
  const [adding, setAdding] = useState(false);
  const reread = () => refresh(listKeys, getEndpoint, listEndpoints);
  return (
    <Card
      title="Encryption keys"
      actions={
        mayChange ? (
          <Button small onClick={() => setAdding(true)}>
            Register a key
          </Button>
        ) : null
      }
    >
      <ListTable
        caption="Encryption keys"
        list={keys}
        rowKey={({ id }) => id}
        empty="Nothing is sent until you register a public key. The private key stays with you: only you can read what is delivered."
        columns={[
          { header: "Key", cell: (key) => <code className="font-mono text-sm">{key.key_id}</code> },
          {
            header: "State",
            cell: (key) =>
              key.is_active ? <Badge look="good">Active</Badge> : <Badge look="plain">Inactive</Badge>,
          },
          { header: "Registered", cell: (key) => <Time at={key.created_at} /> },
          {
            header: "Actions",
            cell: (key) =>
              !mayChange ? null : key.is_active ? (
                <ConfirmButton
                  small
                  look="plain"
                  label={`Deactivate ${key.key_id}`}
                  title={`Deactivate “${key.key_id}”?`}
                  explanation="New events are no longer encrypted to this key. Without another active key nothing is sent."
                  confirm="Deactivate"
                  run={async () => {
                    await call(deactivateKey, { params: { key_id: key.id } });
                    await reread();
                  }}
                >
                  Deactivate
                </ConfirmButton>
              ) : (
                <ActionButton
                  small
                  label={`Activate ${key.key_id}`}
                  run={async () => {
                    await call(reactivateKey, { params: { key_id: key.id } });
                    await reread();
                  }}
                >
                  Activate
                </ActionButton>
              ),
          },
        ]}
      />
      {adding ? (
        <Dialog title="Register a key" onClose={() => setAdding(false)} wide>
          <Form
            submit="Register key"
            onSubmit={async (values) => {
              const jwk = readJwk(values.raw("jwk"));
              await call(registerKey, {
                params,
                body: { key_id: jwk.kid, algorithm: "RSA-OAEP-256", key_type: "RSA", jwk },
              });
              await reread();
              setAdding(false);
            }}
          >
            <TextArea
              label="Public key (JWK)"
              name="jwk"
              rows={9}
              hint={
                <>
                  A public RSA key of at least 2048 bits with <code>kty</code>, <code>n</code>, <code>e</code>
                  , <code>alg</code> RSA-OAEP-256, <code>use</code> enc and a <code>kid</code> of your choice.
                  Never paste a private key.
                </>
              }
            />
          </Form>
        </Dialog>
      ) : null}
    </Card>
  );
}
