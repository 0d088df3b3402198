import {
  confirmTotp,
  disableTotp,
  getAccount,
  regenerateBackupCodes,
  startTotp,
} from "@assay/contract/accounts";
import { useState } from "react";
import { call } from "../api/call.ts";
import { refresh } from "../api/queries.ts";
import { useAccount } from "../shell/organization-context.ts";
import { Button } from "../ui/button.tsx";
import { Copy } from "../ui/copy.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Field } from "../ui/field.tsx";
import { Form } from "../ui/form.tsx";
import { Notice } from "../ui/notice.tsx";
import { Badge, Card } from "../ui/page.tsx";
import { QrCode } from "../ui/qr-code.tsx";
import { ProofFields, proofOf } from "./proof.tsx";

function AppCodeField({ hint }: { hint: string }) {
  return (
    <Field label="Code" name="code" hint={hint} autoComplete="one-time-code" minLength={6} maxLength={40} />
  );
}

export function SecondFactor() {
  const account = useAccount();
  const [starting, setStarting] = useState(false);
  const [secret, setSecret] = useState<{ secret: string; uri: string } | null>(null);
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const [asking, setAsking] = useState<"disable" | "renew" | null>(null);
  return (
    <Card title="Two-step sign-in">
      <p className="mb-4 flex flex-wrap items-center gap-3">
        {account.totp_enabled ? <Badge look="good">On</Badge> : <Badge look="plain">Off</Badge>}
        <span>
          {account.totp_enabled
            ? `${account.backup_codes_left} backup codes left.`
            : "Require a code from your authenticator app."}
        </span>
      </p>
      {account.totp_enabled && account.backup_codes_left < 3 ? (
        <Notice kind="warn">Few backup codes left. Generate new ones before you run out.</Notice>
      ) : null}
      {account.totp_enabled ? (
        <div className="flex flex-wrap gap-3">
          <Button onClick={() => setAsking("renew")}>New backup codes</Button>
          <Button look="danger" onClick={() => setAsking("disable")}>
            Turn off
          </Button>
        </div>
      ) : (
        <Button onClick={() => setStarting(true)}>Turn on</Button>
      )}
      {starting ? (
        <Dialog title="Turn on two-step sign-in" onClose={() => setStarting(false)}>
          <Form
            submit="Continue"
            onSubmit={async (values) => {
              const { data } = await call(startTotp, { body: proofOf(values) });
              setSecret({ secret: data.secret, uri: data.otpauth_uri });
              setStarting(false);
            }}
          >
            <ProofFields />
          </Form>
        </Dialog>
      ) : null}
      {secret === null ? null : (
        <Dialog title="Turn on two-step sign-in" onClose={() => setSecret(null)}>
          <p className="mb-3">
            Scan this with your authenticator app or enter the secret. Then type the code it shows.
          </p>
          <QrCode value={secret.uri} label="QR code for the authenticator app" />
          <div className="my-3">
            <Copy label="Secret" value={secret.secret} />
          </div>
          <Form
            submit="Turn on"
            onSubmit={async (values) => {
              const { data } = await call(confirmTotp, {
                body: { code: values.text("code").replaceAll(" ", "") },
              });
              setSecret(null);
              setCodes(data.backup_codes);
              await refresh(getAccount);
            }}
          >
            <AppCodeField hint="Six digits." />
          </Form>
        </Dialog>
      )}
      {asking === null ? null : (
        <Dialog
          title={asking === "disable" ? "Turn off two-step sign-in" : "Generate new backup codes"}
          onClose={() => setAsking(null)}
        >
          <Form
            submit={asking === "disable" ? "Turn off" : "Generate codes"}
            look={asking === "disable" ? "danger" : "primary"}
            onSubmit={async (values) => {
              const body = { code: values.text("code").replaceAll(" ", "") };
              if (asking === "disable") await call(disableTotp, { body });
              else setCodes((await call(regenerateBackupCodes, { body })).data.backup_codes);
              setAsking(null);
              await refresh(getAccount);
            }}
          >
            <AppCodeField hint="Six digits from your app, or a backup code." />
          </Form>
        </Dialog>
      )}
      {codes === null ? null : (
        <Dialog title="Your backup codes" onClose={() => setCodes(null)}>
          <Notice kind="warn">Each code works once if you lose your app. They are shown only now.</Notice>
          <Copy label="Backup codes" value={codes.join(" ")} />
          <Button look="primary" onClick={() => setCodes(null)}>
            I've saved them
          </Button>
        </Dialog>
      )}
    </Card>
  );
}
