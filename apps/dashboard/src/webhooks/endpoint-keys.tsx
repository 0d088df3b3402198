import { deactivateKey, getEndpoint, listEndpoints, listKeys, reactivateKey } from "@assay/contract/webhooks";
import { useState } from "react";
import { call } from "../api/call.ts";
import { refresh, useList } from "../api/queries.ts";
import { t } from "../i18n/words.ts";
import { ActionButton, Button } from "../ui/button.tsx";
import { ConfirmButton } from "../ui/dialog.tsx";
import { Section } from "../ui/object-page.tsx";
import { Badge } from "../ui/page.tsx";
import { ListTable } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { RegisterKey } from "./register-key.tsx";

export function EndpointKeys({ endpointId, mayChange }: { endpointId: string; mayChange: boolean }) {
  const keys = useList(listKeys, { params: { endpoint_id: endpointId } });
  const [adding, setAdding] = useState(false);
  const reread = () => refresh(listKeys, getEndpoint, listEndpoints);
  return (
    <Section
      id="keys"
      title={t.webhooks.keys}
      actions={
        mayChange ? (
          <Button small onClick={() => setAdding(true)}>
            {t.ui.registerKey}
          </Button>
        ) : null
      }
    >
      <ListTable
        caption={t.webhooks.keys}
        list={keys}
        rowKey={({ id }) => id}
        emptyIcon="key"
        empty={t.webhooks.keysEmpty}
        columns={[
          { header: t.webhooks.key, cell: (key) => <bdi className="font-mono text-small">{key.key_id}</bdi> },
          {
            header: t.ui.status,
            cell: (key) =>
              key.is_active ? (
                <Badge look="good">{t.webhooks.active}</Badge>
              ) : (
                <Badge look="plain">{t.webhooks.inactive}</Badge>
              ),
          },
          { header: t.webhooks.registered, cell: (key) => <Time at={key.created_at} /> },
          {
            header: t.ui.actions,
            cell: (key) =>
              !mayChange ? null : key.is_active ? (
                <ConfirmButton
                  small
                  look="plain"
                  label={t.webhooks.deactivateKey(key.key_id)}
                  title={t.webhooks.deactivateTitle(key.key_id)}
                  explanation={t.webhooks.deactivateText}
                  confirm={t.webhooks.deactivate}
                  run={async () => {
                    await call(deactivateKey, { params: { key_id: key.id } });
                    await reread();
                  }}
                >
                  {t.webhooks.deactivate}
                </ConfirmButton>
              ) : (
                <ActionButton
                  small
                  label={t.webhooks.activateKey(key.key_id)}
                  run={async () => {
                    await call(reactivateKey, { params: { key_id: key.id } });
                    await reread();
                  }}
                >
                  {t.webhooks.activate}
                </ActionButton>
              ),
          },
        ]}
      />
      {adding ? <RegisterKey endpointId={endpointId} onClose={() => setAdding(false)} /> : null}
    </Section>
  );
}
