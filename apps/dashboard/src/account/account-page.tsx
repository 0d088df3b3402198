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
      <Heading title="Your account" about="Applies to all your organizations." />
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
    <Card title="Name and language">
      <div className="max-w-md">
        <Form
          submit="Save"
          look="plain"
          saved="Saved."
          onSubmit={async (values) => {
            const language = mailLanguages.find((known) => known === values.text("language"));
            await call(updateAccount, {
              body: { name: values.text("name"), ...(language === undefined ? {} : { language }) },
            });
            await refresh(getAccount);
          }}
        >
          <Field
            label="Your name"
            name="name"
            autoComplete="name"
            maxLength={120}
            defaultValue={account.name}
          />
          <Select
            label="Email language"
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
    <Card title="Email">
      <p className="mb-4 flex flex-wrap items-center gap-3">
        <bdi>{account.email}</bdi>
        {account.email_verified ? (
          <Badge look="good">Verified</Badge>
        ) : (
          <Badge look="warn">Not verified</Badge>
        )}
      </p>
      {asked === null ? null : (
        <Notice kind="good">
          We emailed a link to {asked}. Open it while you are signed in to confirm the change.
        </Notice>
      )}
      {mailed ? (
        <Notice kind="good">
          We emailed a link to <bdi>{account.email}</bdi>. It expires in 24 hours.
        </Notice>
      ) : null}
      <div className="flex flex-wrap gap-3">
        <Button onClick={() => setChanging(true)}>Change email</Button>
        {account.email_verified ? null : (
          <ActionButton
            run={async () => {
              await call(requestEmailVerification, {});
              setMailed(true);
            }}
          >
            Send verification link
          </ActionButton>
        )}
      </div>
      {changing ? (
        <Dialog title="Change your email" onClose={() => setChanging(false)}>
          <Form
            submit="Send confirmation link"
            onSubmit={async (values) => {
              const email = values.text("email");
              await call(requestEmailChange, { body: { email, ...proofOf(values) } });
              setAsked(email);
              setChanging(false);
            }}
          >
            <Field label="New email" name="email" type="email" autoComplete="email" />
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
      <Card title="Password">
        <p className="mb-4">Your account has no password. We'll email you a link to set one.</p>
        {mailed ? (
          <Notice kind="good">
            We emailed a link to <bdi>{account.email}</bdi>. It works once and expires in an hour.
          </Notice>
        ) : null}
        <ActionButton
          run={async () => {
            await call(requestPasswordReset, { body: { email: account.email } });
            setMailed(true);
          }}
        >
          Email me a link
        </ActionButton>
      </Card>
    );
  return (
    <Card title="Password">
      <div className="max-w-md">
        <Form
          submit="Change password"
          look="plain"
          done="Password changed. All other sessions were signed out."
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
            label="Current password"
            name="current_password"
            type="password"
            autoComplete="current-password"
          />
          <NewPasswordField label="New password" name="new_password" />
        </Form>
      </div>
    </Card>
  );
}

function SignIns() {
  const sessions = useList(listUserSessions);
  return (
    <Card
      title="Devices"
      actions={
        <ActionButton
          small
          run={async () => {
            await call(revokeOtherUserSessions, {});
            await refresh(listUserSessions);
          }}
        >
          Sign out other devices
        </ActionButton>
      }
    >
      <ListTable
        caption="Devices"
        list={sessions}
        rowKey={({ id }) => id}
        empty="No devices."
        columns={[
          {
            header: "Device",
            phone: "title",
            cell: (session) => {
              const device = deviceName(session.user_agent);
              return (
                <span className="flex items-start gap-3" title={session.user_agent}>
                  <Icon name={device.isPhone ? "phone" : "laptop"} className="mt-0.5 size-5 text-muted" />
                  <span>
                    <span className="font-medium">{device.name}</span>{" "}
                    {session.current ? <Badge look="plain">This device</Badge> : null}
                  </span>
                </span>
              );
            },
          },
          { header: "Signed in", cell: (session) => <Time at={session.created_at} /> },
          { header: "Last used", cell: (session) => <Time at={session.last_seen_at} /> },
          {
            header: "Actions",
            cell: (session) =>
              session.current ? null : (
                <ActionButton
                  small
                  label={`Sign out ${deviceName(session.user_agent).name}`}
                  run={async () => {
                    await call(revokeUserSession, { params: { id: session.id } });
                    await refresh(listUserSessions);
                    toast("Device signed out.");
                  }}
                >
                  Sign out
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
    <Card title="Delete your account">
      <Loaded query={owned}>
        {({ data }) =>
          data.organizations.length > 0 ? (
            <>
              <p>You are the only owner of these organizations. Transfer or delete them first.</p>
              <ul className="mt-2 list-disc pl-6">
                {data.organizations.map(({ id, name }) => (
                  <li key={id}>{name}</li>
                ))}
              </ul>
            </>
          ) : (
            <>
              <p className="mb-4">Your account and memberships are deleted immediately.</p>
              <Button look="danger" onClick={() => setAsking(true)}>
                Delete my account
              </Button>
            </>
          )
        }
      </Loaded>
      {asking ? (
        <Dialog title="Delete your account?" onClose={() => setAsking(false)}>
          <Form
            submit="Delete my account"
            look="danger"
            onSubmit={async (values) => {
              await call(deleteAccount, { body: proofOf(values) });
              leaveSignedOut();
            }}
          >
            <p>This cannot be undone.</p>
            <ProofFields />
          </Form>
        </Dialog>
      ) : null}
    </Card>
  );
}
