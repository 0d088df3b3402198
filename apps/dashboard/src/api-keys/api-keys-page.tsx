import { type ApiKey, createApiKey, deleteApiKey, listApiKeys, updateApiKey } from "@assay/contract/api-keys";
import type { Environment } from "@assay/contract/facts";
import { type Scope, scopes } from "@assay/contract/route";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { Static } from "typebox";
import { call } from "../api/call.ts";
import { refresh, useList } from "../api/queries.ts";
import { useMay, usePlace } from "../shell/organization-context.ts";
import { ActionButton, Button } from "../ui/button.tsx";
import { Copy } from "../ui/copy.tsx";
import { ConfirmButton, Dialog } from "../ui/dialog.tsx";
import { Checkbox, Field, Group, Select } from "../ui/field.tsx";
import { Form } from "../ui/form.tsx";
import { Notice } from "../ui/notice.tsx";
import { Badge, Card, Heading } from "../ui/page.tsx";
import { ListTable } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";

type Key = Static<typeof ApiKey>;

const explanations: Record<Scope, string> = {
  "sessions:read": "read sessions and attempts",
  "sessions:write": "create and cancel sessions",
  "webhooks:read": "read endpoints, events and deliveries",
  "webhooks:write": "manage endpoints and keys, retry deliveries",
  "analytics:read": "read statistics",
};

export function ApiKeysPage() {
  const { organization, environment } = usePlace();
  const mayChange = useMay("admin");
  const keys = useList(listApiKeys);
  const [creating, setCreating] = useState(false);
  return (
    <>
      <Heading title="API keys">
        {mayChange ? (
          <Button look="primary" onClick={() => setCreating(true)}>
            Create API key
          </Button>
        ) : null}
      </Heading>
      <p className="mb-4 max-w-3xl text-muted">
        {environment === "sandbox"
          ? "Sandbox keys create test sessions and can't access live data."
          : "Live keys create sessions for real people and can't access sandbox data."}
      </p>
      <Card>
        <ListTable
          caption="API keys"
          list={keys}
          rowKey={({ id }) => id}
          empty={`Your servers use API keys to call the API. ${organization.name} has none in ${environment === "sandbox" ? "the sandbox" : "live"} yet.`}
          columns={[
            {
              header: "Name",
              cell: (key) => (
                <>
                  <bdi className="font-medium">{key.name}</bdi>{" "}
                  {key.enabled ? null : <Badge look="plain">Disabled</Badge>}
                  {key.key_prefix === null ? null : (
                    <code className="block font-mono text-small text-muted">{key.key_prefix}…</code>
                  )}
                </>
              ),
            },
            {
              header: "Scopes",
              cell: (key) =>
                key.scopes.length === 0 ? (
                  <span className="text-muted">None</span>
                ) : (
                  <ul className="font-mono text-small">
                    {key.scopes.map((scope) => (
                      <li key={scope}>{scope}</li>
                    ))}
                  </ul>
                ),
            },
            { header: "Last used", cell: (key) => <Time at={key.last_used_at} never="Never" /> },
            {
              header: "Requests",
              cell: (key) => (
                <>
                  {key.request_count.toLocaleString("en")}{" "}
                  <Link
                    to="/dashboard/api-log"
                    search={{ key: key.id } as never}
                    aria-label={`API log of ${key.name}`}
                  >
                    API log
                  </Link>
                </>
              ),
            },
            {
              header: "Created by",
              cell: (key) =>
                key.created_by === null ? (
                  <span className="text-muted">Deleted account</span>
                ) : (
                  <bdi>{key.created_by.name}</bdi>
                ),
            },
            { header: "Created", cell: (key) => <Time at={key.created_at} /> },
            { header: "Actions", cell: (key) => (mayChange ? <KeyActions apiKey={key} /> : null) },
          ]}
        />
      </Card>
      {creating ? <CreateKey onClose={() => setCreating(false)} /> : null}
    </>
  );
}

function KeyActions({ apiKey }: { apiKey: Key }) {
  const [editing, setEditing] = useState(false);
  const change = async (body: { enabled: boolean }) => {
    await call(updateApiKey, { params: { id: apiKey.id }, body });
    await refresh(listApiKeys);
  };
  return (
    <div className="flex flex-wrap gap-2">
      <Button small label={`Edit ${apiKey.name}`} onClick={() => setEditing(true)}>
        Edit
      </Button>
      <ActionButton
        small
        label={`${apiKey.enabled ? "Disable" : "Enable"} ${apiKey.name}`}
        run={() => change({ enabled: !apiKey.enabled })}
      >
        {apiKey.enabled ? "Disable" : "Enable"}
      </ActionButton>
      <ConfirmButton
        small
        label={`Delete ${apiKey.name}`}
        title={`Delete “${apiKey.name}”?`}
        explanation="Requests with this key fail immediately. This cannot be undone. To stop a key temporarily, disable it."
        confirm="Delete key"
        done="Key deleted."
        run={async () => {
          await call(deleteApiKey, { params: { id: apiKey.id } });
          await refresh(listApiKeys);
        }}
      >
        Delete
      </ConfirmButton>
      {editing ? (
        <Dialog title={`Edit “${apiKey.name}”`} onClose={() => setEditing(false)}>
          <Form
            submit="Save"
            onSubmit={async (values) => {
              await call(updateApiKey, {
                params: { id: apiKey.id },
                body: { name: values.text("name"), scopes: values.all("scopes") as Scope[] },
              });
              await refresh(listApiKeys);
              setEditing(false);
            }}
          >
            <KeyFields name={apiKey.name} chosen={apiKey.scopes} />
          </Form>
        </Dialog>
      ) : null}
    </div>
  );
}

function KeyFields({ name, chosen }: { name: string; chosen: readonly Scope[] }) {
  return (
    <>
      <Field label="Name" name="name" hint="What the key is for." maxLength={120} defaultValue={name} />
      <Group legend="Scopes" hint="Grant only what the key needs.">
        {scopes.map((scope) => (
          <Checkbox
            key={scope}
            name="scopes"
            value={scope}
            defaultChecked={chosen.includes(scope)}
            label={
              <>
                <code className="font-mono text-small">{scope}</code>{" "}
                <span className="text-muted">{explanations[scope]}</span>
              </>
            }
          />
        ))}
      </Group>
    </>
  );
}

function CreateKey({ onClose }: { onClose: () => void }) {
  const { organization, environment } = usePlace();
  const [created, setCreated] = useState<{ key: string; environment: Environment } | null>(null);
  if (created !== null)
    return (
      <Dialog title="Your new key" onClose={onClose}>
        <Notice kind="warn">
          The key is shown only once. Store it somewhere safe, never in client-side code.
        </Notice>
        <p className="mb-3">
          It belongs to {created.environment === "sandbox" ? "the sandbox" : "live"}
          {created.environment === environment ? "." : ", so it is not in the current list."}
        </p>
        <Copy label="API key" value={created.key} />
        <div className="mt-4">
          <Button look="primary" onClick={onClose}>
            I've saved it
          </Button>
        </div>
      </Dialog>
    );
  return (
    <Dialog title="Create API key" onClose={onClose}>
      <Form
        submit="Create key"
        onSubmit={async (values) => {
          const { data } = await call(createApiKey, {
            body: {
              name: values.text("name"),
              scopes: values.all("scopes") as Scope[],
              environment: values.raw("environment") as Environment,
            },
          });
          setCreated(data);
          await refresh(listApiKeys);
        }}
      >
        <Select
          label="Environment"
          name="environment"
          hint={
            organization.environment === "live"
              ? "It cannot be changed later."
              : "Live keys are available once you go live."
          }
          defaultValue={environment}
          options={[
            { value: "sandbox", label: "Sandbox (test documents)" },
            ...(organization.environment === "live" ? [{ value: "live", label: "Live (real people)" }] : []),
          ]}
        />
        <KeyFields name="" chosen={["sessions:read", "sessions:write"]} />
      </Form>
    </Dialog>
  );
}
