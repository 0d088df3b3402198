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
import { t } from "../i18n/words.ts";
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
      label={t.ui.name}
      name="name"
      hint={t.account.passkeys.nameHint}
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
      title={t.account.passkeys.title}
      actions={
        passkeysAreSupported() ? (
          <Button small onClick={() => setAdding(true)}>
            {t.account.passkeys.add}
          </Button>
        ) : null
      }
    >
      <ListTable
        caption={t.account.passkeys.title}
        list={passkeys}
        rowKey={({ id }) => id}
        empty={passkeysAreSupported() ? t.account.passkeys.empty : t.account.passkeys.unsupported}
        columns={[
          { header: t.ui.name, cell: (passkey) => passkey.name },
          {
            header: t.account.passkeys.storage,
            cell: (passkey) => (passkey.synced ? t.account.passkeys.synced : t.account.passkeys.deviceOnly),
          },
          { header: t.ui.added, cell: (passkey) => <Time at={passkey.created_at} /> },
          { header: t.ui.lastUsed, cell: (passkey) => <Time at={passkey.last_used_at} never={t.ui.never} /> },
          {
            header: t.ui.actions,
            cell: (passkey) => (
              <div className="flex flex-wrap gap-2">
                <Button
                  small
                  label={t.account.passkeys.renameOne(passkey.name)}
                  onClick={() => setRenaming(passkey)}
                >
                  {t.account.passkeys.rename}
                </Button>
                <ConfirmButton
                  small
                  label={t.ui.deleteNamed(passkey.name)}
                  title={t.ui.deleteQuestion(passkey.name)}
                  explanation={t.account.passkeys.deleteText}
                  confirm={t.account.passkeys.deleteSubmit}
                  done={t.account.passkeys.deleted}
                  run={async () => {
                    await call(deletePasskey, { params: { id: passkey.id } });
                    await refresh(listPasskeys, getAccount);
                  }}
                >
                  {t.ui.delete}
                </ConfirmButton>
              </div>
            ),
          },
        ]}
      />
      {adding ? (
        <Dialog title={t.account.passkeys.add} onClose={() => setAdding(false)}>
          <Form
            submit={t.account.passkeys.create}
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
        <Dialog title={t.account.passkeys.renameTitle} onClose={() => setRenaming(null)}>
          <Form
            submit={t.ui.save}
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
