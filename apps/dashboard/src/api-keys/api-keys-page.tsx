import { type ApiKey, createApiKey, deleteApiKey, listApiKeys, updateApiKey } from "@assay/contract/api-keys";
import type { Environment } from "@assay/contract/facts";
import { type Scope, scopes } from "@assay/contract/route";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { Static } from "typebox";
import { call } from "../api/call.ts";
import { refresh, useList } from "../api/queries.ts";
import { t } from "../i18n/words.ts";
import { useMay, useWorkspace } from "../shell/organization-context.ts";
import { ActionButton, Button } from "../ui/button.tsx";
import { Copy } from "../ui/copy.tsx";
import { ConfirmButton, Dialog } from "../ui/dialog.tsx";
import { Checkbox, Field, Group, Select } from "../ui/field.tsx";
import { Form } from "../ui/form.tsx";
import { Notice } from "../ui/notice.tsx";
import { countText } from "../ui/numbers.ts";
import { Badge, Card, Heading } from "../ui/page.tsx";
import { ListTable } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";

type Key = Static<typeof ApiKey>;

export function ApiKeysPage() {
  const { organization, environment } = useWorkspace();
  const mayChange = useMay("admin");
  const keys = useList(listApiKeys);
  const [creating, setCreating] = useState(false);
  return (
    <>
      <Heading title={t.ui.apiKeys}>
        {mayChange ? (
          <Button look="primary" onClick={() => setCreating(true)}>
            {t.apiKeys.create}
          </Button>
        ) : null}
      </Heading>
      <p className="mb-4 max-w-3xl text-muted">{t.apiKeys.about[environment]}</p>
      <Card>
        <ListTable
          caption={t.ui.apiKeys}
          list={keys}
          rowKey={({ id }) => id}
          empty={t.apiKeys.empty[environment](organization.name)}
          columns={[
            {
              header: t.ui.name,
              cell: (key) => (
                <>
                  <bdi className="font-medium">{key.name}</bdi>{" "}
                  {key.enabled ? null : <Badge look="plain">{t.ui.disabled}</Badge>}
                  {key.key_prefix === null ? null : (
                    <code className="block font-mono text-small text-muted">{key.key_prefix}…</code>
                  )}
                </>
              ),
            },
            {
              header: t.apiKeys.scopes,
              cell: (key) =>
                key.scopes.length === 0 ? (
                  <span className="text-muted">{t.apiKeys.noScopes}</span>
                ) : (
                  <ul className="font-mono text-small">
                    {key.scopes.map((scope) => (
                      <li key={scope}>{scope}</li>
                    ))}
                  </ul>
                ),
            },
            { header: t.ui.lastUsed, cell: (key) => <Time at={key.last_used_at} never={t.ui.never} /> },
            {
              header: t.apiKeys.requests,
              cell: (key) => (
                <>
                  {countText(key.request_count)}{" "}
                  <Link
                    to="/dashboard/api-log"
                    search={{ key: key.id }}
                    aria-label={t.apiKeys.logOf(key.name)}
                  >
                    {t.shell.pages.apiLog}
                  </Link>
                </>
              ),
            },
            {
              header: t.apiKeys.createdBy,
              cell: (key) =>
                key.created_by === null ? (
                  <span className="text-muted">{t.apiKeys.deletedAccount}</span>
                ) : (
                  <bdi>{key.created_by.name}</bdi>
                ),
            },
            { header: t.ui.created, cell: (key) => <Time at={key.created_at} /> },
            { header: t.ui.actions, cell: (key) => (mayChange ? <KeyActions apiKey={key} /> : null) },
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
      <Button small label={t.apiKeys.editKey(apiKey.name)} onClick={() => setEditing(true)}>
        {t.ui.edit}
      </Button>
      <ActionButton
        small
        label={apiKey.enabled ? t.apiKeys.disableKey(apiKey.name) : t.apiKeys.enableKey(apiKey.name)}
        run={() => change({ enabled: !apiKey.enabled })}
      >
        {apiKey.enabled ? t.ui.disable : t.ui.enable}
      </ActionButton>
      <ConfirmButton
        small
        label={t.ui.deleteNamed(apiKey.name)}
        title={t.ui.deleteQuestion(apiKey.name)}
        explanation={t.apiKeys.deleteText}
        confirm={t.apiKeys.deleteIt}
        done={t.apiKeys.deleted}
        run={async () => {
          await call(deleteApiKey, { params: { id: apiKey.id } });
          await refresh(listApiKeys);
        }}
      >
        {t.ui.delete}
      </ConfirmButton>
      {editing ? (
        <Dialog title={t.apiKeys.editTitle(apiKey.name)} onClose={() => setEditing(false)}>
          <Form
            submit={t.ui.save}
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
      <Field label={t.ui.name} name="name" hint={t.apiKeys.nameHint} maxLength={120} defaultValue={name} />
      <Group legend={t.apiKeys.scopes} hint={t.apiKeys.scopesHint}>
        {scopes.map((scope) => (
          <Checkbox
            key={scope}
            name="scopes"
            value={scope}
            defaultChecked={chosen.includes(scope)}
            label={
              <>
                <code className="font-mono text-small">{scope}</code>{" "}
                <span className="text-muted">{t.apiKeys.scope[scope]}</span>
              </>
            }
          />
        ))}
      </Group>
    </>
  );
}

function CreateKey({ onClose }: { onClose: () => void }) {
  const { organization, environment } = useWorkspace();
  const [created, setCreated] = useState<{ key: string; environment: Environment } | null>(null);
  if (created !== null)
    return (
      <Dialog title={t.apiKeys.newKey} onClose={onClose}>
        <Notice kind="warn">{t.apiKeys.shownOnce}</Notice>
        <p className="mb-3">
          {created.environment === environment
            ? t.apiKeys.belongs[created.environment]
            : t.apiKeys.belongsElsewhere[created.environment]}
        </p>
        <Copy label={t.apiKeys.key} value={created.key} />
        <div className="mt-4">
          <Button look="primary" onClick={onClose}>
            {t.apiKeys.haveSaved}
          </Button>
        </div>
      </Dialog>
    );
  return (
    <Dialog title={t.apiKeys.create} onClose={onClose}>
      <Form
        submit={t.apiKeys.createSubmit}
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
          label={t.ui.environment}
          name="environment"
          hint={organization.environment === "live" ? t.apiKeys.notLater : t.apiKeys.onceLive}
          defaultValue={environment}
          options={[
            { value: "sandbox", label: t.apiKeys.sandboxOption },
            ...(organization.environment === "live" ? [{ value: "live", label: t.apiKeys.liveOption }] : []),
          ]}
        />
        <KeyFields name="" chosen={["sessions:read", "sessions:write"]} />
      </Form>
    </Dialog>
  );
}
