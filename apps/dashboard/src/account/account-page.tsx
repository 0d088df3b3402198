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
import { pageLanguageNames } from "../ui/page-languages.ts";
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
      <Heading title="Your account" about="It is yours in every organization that you are a member of." />
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
            label="Language of mails to you"
            name="language"
            defaultValue={account.language ?? "en"}
            options={mailLanguages.map((value) => ({ value, label: pageLanguageNames[value] }))}
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
    <Card title="E-mail">
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
          A link was mailed to {asked}. Open it while you are signed in. Until then nothing changes.
        </Notice>
      )}
      {mailed ? (
        <Notice kind="good">
          A link was mailed to <bdi>{account.email}</bdi>. It works for a day.
        </Notice>
      ) : null}
      <div className="flex flex-wrap gap-3">
        <Button onClick={() => setChanging(true)}>Change e-mail</Button>
        {account.email_verified ? null : (
          <ActionButton
            run={async () => {
              await call(requestEmailVerification, {});
              setMailed(true);
            }}
          >
            Mail a link to verify it
          </ActionButton>
        )}
      </div>
      {changing ? (
        <Dialog title="Change your e-mail" onClose={() => setChanging(false)}>
          <Form
            submit="Mail a link to the new address"
            onSubmit={async (values) => {
              const email = values.text("email");
              await call(requestEmailChange, { body: { email, ...proofOf(values) } });
              setAsked(email);
              setChanging(false);
            }}
          >
            <Field label="New e-mail" name="email" type="email" autoComplete="email" />
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
        <p className="mb-4">Your account has no password. You can set one with a mailed link.</p>
        {mailed ? (
          <Notice kind="good">
            A link was mailed to <bdi>{account.email}</bdi>. It works once, for an hour.
          </Notice>
        ) : null}
        <ActionButton
          run={async () => {
            await call(requestPasswordReset, { body: { email: account.email } });
            setMailed(true);
          }}
        >
          Mail me a link
        </ActionButton>
      </Card>
    );
  return (
    <Card title="Password">
      <div className="max-w-md">
        <Form
          submit="Change password"
          look="plain"
          done="Your password is changed. Every other session was signed out."
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
      title="Where you are signed in"
      actions={
        <ActionButton
          small
          run={async () => {
            await call(revokeOtherUserSessions, {});
            await refresh(listUserSessions);
          }}
        >
          Sign out everywhere else
        </ActionButton>
      }
    >
      <ListTable
        caption="Where you are signed in"
        list={sessions}
        rowKey={({ id }) => id}
        empty="Nowhere."
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
                    {session.current ? <Badge look="good">This one</Badge> : null}
                  </span>
                </span>
              );
            },
          },
          { header: "Since", cell: (session) => <Time at={session.created_at} /> },
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
                    toast("That device is signed out.");
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
              <p>
                You are the only owner of the following. Hand each over to another owner, or delete it, first.
              </p>
              <ul className="mt-2 list-disc pl-6">
                {data.organizations.map(({ id, name }) => (
                  <li key={id}>{name}</li>
                ))}
              </ul>
            </>
          ) : (
            <>
              <p className="mb-4">Your account and your memberships end at once.</p>
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
            <p>This cannot be taken back.</p>
            <ProofFields />
          </Form>
        </Dialog>
      ) : null}
    </Card>
  );
}
