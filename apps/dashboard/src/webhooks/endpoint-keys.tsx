import { deactivateKey, getEndpoint, listEndpoints, listKeys, reactivateKey } from "@assay/contract/webhooks";
import { useState } from "react";
import { call } from "../api/call.ts";
import { refresh, useList } from "../api/queries.ts";
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
      title="Encryption keys"
      actions={
        mayChange ? (
          <Button small onClick={() => setAdding(true)}>
            Register key
          </Button>
        ) : null
      }
    >
      <ListTable
        caption="Encryption keys"
        list={keys}
        rowKey={({ id }) => id}
        emptyIcon="key"
        empty="Register a public key to start receiving webhooks. The private key stays with you, so only you can read them."
        columns={[
          { header: "Key", cell: (key) => <bdi className="font-mono text-small">{key.key_id}</bdi> },
          {
            header: "Status",
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
                  explanation="New events are no longer encrypted to this key. Without another active key, nothing is sent."
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
      {adding ? <RegisterKey endpointId={endpointId} onClose={() => setAdding(false)} /> : null}
    </Section>
  );
}
