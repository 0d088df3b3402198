import {
  changePassword,
  deleteAccount,
  getAccount,
  listOwnedOrganizations,
  listUserSessions,
  requestEmailChange,
  requestEmailVerification,
  requestPasswordReset,
  revokeOtherUserSessions,
  revokeUserSession,
  updateAccount,
} from "@assay/contract/accounts";
import { mailLanguages } from "@assay/contract/facts";
import { useState } from "react";
import { call } from "../api/call.ts";
import { refresh, useData, useList } from "../api/queries.ts";
import { Filled } from "../i18n/filled.tsx";
import { t } from "../i18n/words.ts";
import { useAccount } from "../shell/organization-context.ts";
import { leaveSignedOut } from "../shell/sign-out.ts";
import { NewPasswordField } from "../sign-in/sign-up-form.tsx";
import { ActionButton, Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Field, Select } from "../ui/field.tsx";
import { Form } from "../ui/form.tsx";
import { Icon } from "../ui/icon.tsx";
import { Notice } from "../ui/notice.tsx";
import { Badge, Card, Heading, Loaded } from "../ui/page.tsx";
import { languageName } from "../ui/page-languages.ts";
import { ListTable } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { toast } from "../ui/toasts.tsx";
import { deviceName } from "./device-name.ts";
import { Passkeys } from "./passkeys.tsx";
import { ProofFields, proofOf } from "./proof.tsx";
import { SecondFactor } from "./second-factor.tsx";

export function AccountPage() {
  return (
    <>
      <Heading title={t.shell.yourAccount} about={t.account.about} />
      <div className="items-start gap-x-6 xl:grid xl:grid-cols-2">
        <Name />
        <EmailAddress />
        <Password />
        <SecondFactor />
      </div>
      <Passkeys />
      <SignIns />
      <Deletion />
    </>
  );
}

function Name() {
  const account = useAccount();
  return (
    <Card title={t.account.nameAndLanguage}>
      <div className="max-w-md">
        <Form
          submit={t.ui.save}
          look="plain"
          saved={t.ui.saved}
          onSubmit={async (values) => {
            const language = mailLanguages.find((known) => known === values.text("language"));
            await call(updateAccount, {
              body: { name: values.text("name"), ...(language === undefined ? {} : { language }) },
            });
            await refresh(getAccount);
          }}
        >
          <Field
            label={t.ui.yourName}
            name="name"
            autoComplete="name"
            maxLength={120}
            defaultValue={account.name}
          />
          <Select
            label={t.account.mailLanguage}
            name="language"
            defaultValue={account.language ?? "en"}
            options={mailLanguages.map((value) => ({ value, label: languageName(value) }))}
          />
        </Form>
      </div>
    </Card>
  );
}

function EmailAddress() {
  const account = useAccount();
  const [changing, setChanging] = useState(false);
  const [asked, setAsked] = useState<string | null>(null);
  const [mailed, setMailed] = useState(false);
  return (
    <Card title={t.ui.email}>
      <p className="mb-4 flex flex-wrap items-center gap-3">
        <bdi>{account.email}</bdi>
        {account.email_verified ? (
          <Badge look="good">{t.account.verified}</Badge>
        ) : (
          <Badge look="warn">{t.account.notVerified}</Badge>
        )}
      </p>
      {asked === null ? null : <Notice kind="good">{t.account.changeMailed(asked)}</Notice>}
      {mailed ? (
        <Notice kind="good">
          <Filled text={t.account.verificationMailed} email={<bdi>{account.email}</bdi>} />
        </Notice>
      ) : null}
      <div className="flex flex-wrap gap-3">
        <Button onClick={() => setChanging(true)}>{t.account.changeEmail}</Button>
        {account.email_verified ? null : (
          <ActionButton
            run={async () => {
              await call(requestEmailVerification, {});
              setMailed(true);
            }}
          >
            {t.ui.sendVerification}
          </ActionButton>
        )}
      </div>
      {changing ? (
        <Dialog title={t.account.changeEmailTitle} onClose={() => setChanging(false)}>
          <Form
            submit={t.account.sendConfirmation}
            onSubmit={async (values) => {
              const email = values.text("email");
              await call(requestEmailChange, { body: { email, ...proofOf(values) } });
              setAsked(email);
              setChanging(false);
            }}
          >
            <Field label={t.account.newEmail} name="email" type="email" autoComplete="email" />
            <ProofFields />
          </Form>
        </Dialog>
      ) : null}
    </Card>
  );
}

function Password() {
  const account = useAccount();
  const [mailed, setMailed] = useState(false);
  if (!account.has_password)
    return (
      <Card title={t.ui.password}>
        <p className="mb-4">{t.account.noPassword}</p>
        {mailed ? (
          <Notice kind="good">
            <Filled text={t.account.passwordMailed} email={<bdi>{account.email}</bdi>} />
          </Notice>
        ) : null}
        <ActionButton
          run={async () => {
            await call(requestPasswordReset, { body: { email: account.email } });
            setMailed(true);
          }}
        >
          {t.ui.mailLink}
        </ActionButton>
      </Card>
    );
  return (
    <Card title={t.ui.password}>
      <div className="max-w-md">
        <Form
          submit={t.account.changePassword}
          look="plain"
          done={t.account.passwordChanged}
          resetWhenDone
          onSubmit={async (values) => {
            await call(changePassword, {
              body: {
                current_password: values.raw("current_password"),
                new_password: values.raw("new_password"),
              },
            });
            await refresh(listUserSessions);
          }}
        >
          <Field
            label={t.account.currentPassword}
            name="current_password"
            type="password"
            autoComplete="current-password"
          />
          <NewPasswordField label={t.ui.newPassword} name="new_password" />
        </Form>
      </div>
    </Card>
  );
}

function SignIns() {
  const sessions = useList(listUserSessions);
  return (
    <Card
      title={t.account.devices}
      actions={
        <ActionButton
          small
          run={async () => {
            await call(revokeOtherUserSessions, {});
            await refresh(listUserSessions);
          }}
        >
          {t.account.signOutOthers}
        </ActionButton>
      }
    >
      <ListTable
        caption={t.account.devices}
        list={sessions}
        rowKey={({ id }) => id}
        empty={t.account.noDevices}
        columns={[
          {
            header: t.account.device,
            phone: "title",
            cell: (session) => {
              const device = deviceName(session.user_agent);
              return (
                <span className="flex items-start gap-3" title={session.user_agent}>
                  <Icon name={device.isPhone ? "phone" : "laptop"} className="mt-0.5 size-5 text-muted" />
                  <span>
                    <span className="font-medium">{device.name}</span>{" "}
                    {session.current ? <Badge look="plain">{t.account.thisDevice}</Badge> : null}
                  </span>
                </span>
              );
            },
          },
          { header: t.account.signedIn, cell: (session) => <Time at={session.created_at} /> },
          { header: t.ui.lastUsed, cell: (session) => <Time at={session.last_seen_at} /> },
          {
            header: t.ui.actions,
            cell: (session) =>
              session.current ? null : (
                <ActionButton
                  small
                  label={t.account.signOutDevice(deviceName(session.user_agent).name)}
                  run={async () => {
                    await call(revokeUserSession, { params: { id: session.id } });
                    await refresh(listUserSessions);
                    toast(t.account.deviceSignedOut);
                  }}
                >
                  {t.ui.signOut}
                </ActionButton>
              ),
          },
        ]}
      />
    </Card>
  );
}

function Deletion() {
  const owned = useData(listOwnedOrganizations, {});
  const [asking, setAsking] = useState(false);
  return (
    <Card title={t.account.deletion.title}>
      <Loaded query={owned}>
        {({ data }) =>
          data.organizations.length > 0 ? (
            <>
              <p>{t.account.deletion.soleOwner}</p>
              <ul className="mt-2 list-disc pl-6">
                {data.organizations.map(({ id, name }) => (
                  <li key={id}>{name}</li>
                ))}
              </ul>
            </>
          ) : (
            <>
              <p className="mb-4">{t.account.deletion.text}</p>
              <Button look="danger" onClick={() => setAsking(true)}>
                {t.account.deletion.submit}
              </Button>
            </>
          )
        }
      </Loaded>
      {asking ? (
        <Dialog title={t.account.deletion.ask} onClose={() => setAsking(false)}>
          <Form
            submit={t.account.deletion.submit}
            look="danger"
            onSubmit={async (values) => {
              await call(deleteAccount, { body: proofOf(values) });
              leaveSignedOut();
            }}
          >
            <p>{t.account.deletion.final}</p>
            <ProofFields />
          </Form>
        </Dialog>
      ) : null}
    </Card>
  );
}
