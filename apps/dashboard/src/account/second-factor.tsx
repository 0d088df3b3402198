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
import { t } from "../i18n/words.ts";
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
    <Field
      label={t.signIn.code}
      name="code"
      hint={hint}
      autoComplete="one-time-code"
      minLength={6}
      maxLength={40}
    />
  );
}

export function SecondFactor() {
  const account = useAccount();
  const [starting, setStarting] = useState(false);
  const [secret, setSecret] = useState<{ secret: string; uri: string } | null>(null);
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const [asking, setAsking] = useState<"disable" | "renew" | null>(null);
  return (
    <Card title={t.account.twoSteps.title}>
      <p className="mb-4 flex flex-wrap items-center gap-3">
        {account.totp_enabled ? (
          <Badge look="good">{t.account.twoSteps.on}</Badge>
        ) : (
          <Badge look="plain">{t.account.twoSteps.off}</Badge>
        )}
        <span>
          {account.totp_enabled
            ? t.account.twoSteps.codesLeft(account.backup_codes_left)
            : t.account.twoSteps.about}
        </span>
      </p>
      {account.totp_enabled && account.backup_codes_left < 3 ? (
        <Notice kind="warn">{t.account.twoSteps.few}</Notice>
      ) : null}
      {account.totp_enabled ? (
        <div className="flex flex-wrap gap-3">
          <Button onClick={() => setAsking("renew")}>{t.account.twoSteps.newCodes}</Button>
          <Button look="danger" onClick={() => setAsking("disable")}>
            {t.account.twoSteps.turnOff}
          </Button>
        </div>
      ) : (
        <Button onClick={() => setStarting(true)}>{t.account.twoSteps.turnOn}</Button>
      )}
      {starting ? (
        <Dialog title={t.account.twoSteps.turnOnTitle} onClose={() => setStarting(false)}>
          <Form
            submit={t.ui.continue}
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
        <Dialog title={t.account.twoSteps.turnOnTitle} onClose={() => setSecret(null)}>
          <p className="mb-3">{t.account.twoSteps.scan}</p>
          <QrCode value={secret.uri} label={t.account.twoSteps.qrCode} />
          <div className="my-3">
            <Copy label={t.account.twoSteps.secret} value={secret.secret} />
          </div>
          <Form
            submit={t.account.twoSteps.turnOn}
            onSubmit={async (values) => {
              const { data } = await call(confirmTotp, {
                body: { code: values.text("code").replaceAll(" ", "") },
              });
              setSecret(null);
              setCodes(data.backup_codes);
              await refresh(getAccount);
            }}
          >
            <AppCodeField hint={t.account.twoSteps.sixDigits} />
          </Form>
        </Dialog>
      )}
      {asking === null ? null : (
        <Dialog
          title={asking === "disable" ? t.account.twoSteps.turnOffTitle : t.account.twoSteps.newCodesTitle}
          onClose={() => setAsking(null)}
        >
          <Form
            submit={asking === "disable" ? t.account.twoSteps.turnOff : t.account.twoSteps.generate}
            look={asking === "disable" ? "danger" : "primary"}
            onSubmit={async (values) => {
              const body = { code: values.text("code").replaceAll(" ", "") };
              if (asking === "disable") await call(disableTotp, { body });
              else setCodes((await call(regenerateBackupCodes, { body })).data.backup_codes);
              setAsking(null);
              await refresh(getAccount);
            }}
          >
            <AppCodeField hint={t.account.twoSteps.codeHint} />
          </Form>
        </Dialog>
      )}
      {codes === null ? null : (
        <Dialog title={t.account.twoSteps.yourCodes} onClose={() => setCodes(null)}>
          <Notice kind="warn">{t.account.twoSteps.onlyNow}</Notice>
          <Copy label={t.account.twoSteps.codes} value={codes.join(" ")} />
          <Button look="primary" onClick={() => setCodes(null)}>
            {t.account.twoSteps.saved}
          </Button>
        </Dialog>
      )}
    </Card>
  );
}
