import {
  deletePasskey,
  getAccount,
  listPasskeys,
  registerPasskey,
  renamePasskey,
  startPasskeyRegistration,
} from "@assay/contract/accounts";
import { useState } from "react";
import { call } from "../api/call.ts";
import { refresh, useList } from "../api/queries.ts";
import { createCredential, passkeysAreSupported } from "../sign-in/passkey-ceremony.ts";
import { Button } from "../ui/button.tsx";
import { ConfirmButton, Dialog } from "../ui/dialog.tsx";
import { Field } from "../ui/field.tsx";
import { Form } from "../ui/form.tsx";
import { Card } from "../ui/page.tsx";
import { ListTable } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { ProofFields, proofOf } from "./proof.tsx";

function NameField({ value }: { value?: string }) {
  return (
    <Field
      label="Name"
      name="name"
      hint="For example, “Work laptop”."
      maxLength={80}
      defaultValue={value ?? ""}
    />
  );
}

export function Passkeys() {
  const passkeys = useList(listPasskeys);
  const [adding, setAdding] = useState(false);
  const [renaming, setRenaming] = useState<{ id: string; name: string } | null>(null);
  return (
    <Card
      title="Passkeys"
      actions={
        passkeysAreSupported() ? (
          <Button small onClick={() => setAdding(true)}>
            Add passkey
          </Button>
        ) : null
      }
    >
      <ListTable
        caption="Passkeys"
        list={passkeys}
        rowKey={({ id }) => id}
        empty={
          passkeysAreSupported()
            ? "A passkey signs you in with your fingerprint, face or device PIN, without a password or code."
            : "This browser does not support passkeys."
        }
        columns={[
          { header: "Name", cell: (passkey) => passkey.name },
          { header: "Storage", cell: (passkey) => (passkey.synced ? "Synced" : "This device only") },
          { header: "Added", cell: (passkey) => <Time at={passkey.created_at} /> },
          { header: "Last used", cell: (passkey) => <Time at={passkey.last_used_at} never="Never" /> },
          {
            header: "Actions",
            cell: (passkey) => (
              <div className="flex flex-wrap gap-2">
                <Button small label={`Rename ${passkey.name}`} onClick={() => setRenaming(passkey)}>
                  Rename
                </Button>
                <ConfirmButton
                  small
                  label={`Delete ${passkey.name}`}
                  title={`Delete “${passkey.name}”?`}
                  explanation="It no longer signs you in. Remove it from the device as well."
                  confirm="Delete passkey"
                  done="Passkey deleted."
                  run={async () => {
                    await call(deletePasskey, { params: { id: passkey.id } });
                    await refresh(listPasskeys, getAccount);
                  }}
                >
                  Delete
                </ConfirmButton>
              </div>
            ),
          },
        ]}
      />
      {adding ? (
        <Dialog title="Add passkey" onClose={() => setAdding(false)}>
          <Form
            submit="Create passkey"
            onSubmit={async (values) => {
              const { data } = await call(startPasskeyRegistration, { body: proofOf(values) });
              const response = await createCredential(data.options);
              await call(registerPasskey, { body: { name: values.text("name"), response } });
              await refresh(listPasskeys, getAccount);
              setAdding(false);
            }}
          >
            <NameField />
            <ProofFields />
          </Form>
        </Dialog>
      ) : null}
      {renaming === null ? null : (
        <Dialog title="Rename passkey" onClose={() => setRenaming(null)}>
          <Form
            submit="Save"
            onSubmit={async (values) => {
              await call(renamePasskey, { params: { id: renaming.id }, body: { name: values.text("name") } });
              await refresh(listPasskeys);
              setRenaming(null);
            }}
          >
            <NameField value={renaming.name} />
          </Form>
        </Dialog>
      )}
    </Card>
  );
}
