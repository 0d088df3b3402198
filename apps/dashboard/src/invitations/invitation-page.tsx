import { getAccount, requestEmailVerification, signOut } from "@assay/contract/accounts";
import { isSameEmail } from "@assay/contract/email";
import { acceptInvitation, declineInvitation, readInvitation } from "@assay/contract/organizations";
import { useParams } from "@tanstack/react-router";
import { useState } from "react";
import { call } from "../api/call.ts";
import { isSignedOut, queries, useData } from "../api/queries.ts";
import { Filled } from "../i18n/filled.tsx";
import { t } from "../i18n/words.ts";
import { rememberOrganization } from "../shell/chosen-organization.ts";
import { tellOtherTabs } from "../shell/sign-out.ts";
import { SignInForm } from "../sign-in/sign-in-form.tsx";
import { SignUpForm } from "../sign-in/sign-up-form.tsx";
import { ActionButton, Button, LinkButton } from "../ui/button.tsx";
import { ConfirmButton } from "../ui/dialog.tsx";
import { Form } from "../ui/form.tsx";
import { Notice } from "../ui/notice.tsx";
import { Facts, Loaded } from "../ui/page.tsx";
import { PublicFrame } from "../ui/public-frame.tsx";
import { Time } from "../ui/time.tsx";

export function InvitationPage() {
  const { token } = useParams({ from: "/invitations/$token" });
  const invitation = useData(readInvitation, { params: { token } });
  const [declined, setDeclined] = useState(false);
  if (declined)
    return (
      <PublicFrame title={t.invitations.declinedTitle}>
        <p>{t.invitations.closePage}</p>
      </PublicFrame>
    );
  return (
    <PublicFrame title={t.invitations.title}>
      <Loaded query={invitation}>
        {({ data }) => (
          <div className="space-y-5">
            <Facts
              facts={[
                [t.ui.organization, <strong key="name">{data.organization_name}</strong>],
                [t.invitations.yourRole, t.ui.roles[data.role]],
                [t.invitations.forWhom, data.email],
                [t.ui.expires, <Time key="until" ahead at={data.expires_at} />],
              ]}
            />
            <Answer token={token} email={data.email} organization={data.organization_name} />
            <div className="border-t border-line pt-4">
              <ConfirmButton
                wide
                title={t.invitations.declineTitle}
                explanation={t.invitations.declineText(data.organization_name)}
                confirm={t.invitations.decline}
                run={async () => {
                  await call(declineInvitation, { params: { token } });
                  setDeclined(true);
                }}
              >
                {t.invitations.decline}
              </ConfirmButton>
            </div>
          </div>
        )}
      </Loaded>
    </PublicFrame>
  );
}

function Answer({ token, email, organization }: { token: string; email: string; organization: string }) {
  const account = useData(getAccount, {});
  const [hasAccount, setHasAccount] = useState(false);
  const [mailed, setMailed] = useState(false);

  const accept = async () => {
    const { data } = await call(acceptInvitation, { params: { token } });
    rememberOrganization(data.id);
    window.location.assign("/dashboard");
  };

  if (isSignedOut(account.error))
    return (
      <section>
        <h2 className="mb-3 text-lg font-semibold">
          {hasAccount ? t.ui.signIn : t.invitations.createAccount}
        </h2>
        {hasAccount ? (
          <SignInForm email={email} onSignedIn={() => queries.resetQueries()} />
        ) : (
          <SignUpForm
            email={email}
            onSignedIn={() => queries.resetQueries()}
            afterMail={t.invitations.afterMail}
          />
        )}
        <p className="mt-4">
          <Button wide onClick={() => setHasAccount(!hasAccount)}>
            {hasAccount ? t.invitations.noAccount : t.invitations.haveAccount}
          </Button>
        </p>
      </section>
    );
  return (
    <Loaded query={account}>
      {({ data }) =>
        isSameEmail(data.email, email) ? (
          <Form
            wide
            submit={t.invitations.join(organization)}
            onSubmit={accept}
            onProblem={({ code }) =>
              code === "EMAIL_NOT_VERIFIED" ? (
                mailed ? (
                  <p>
                    <Filled text={t.invitations.mailed} email={<bdi>{email}</bdi>} />
                  </p>
                ) : (
                  <ActionButton
                    run={async () => {
                      await call(requestEmailVerification, {});
                      setMailed(true);
                    }}
                  >
                    {t.ui.sendVerification}
                  </ActionButton>
                )
              ) : code === "ALREADY_MEMBER" ? (
                <LinkButton small to="/dashboard">
                  {t.invitations.open}
                </LinkButton>
              ) : null
            }
          >
            <p>
              <Filled text={t.signIn.asUser} email={<bdi>{data.email}</bdi>} />
            </p>
          </Form>
        ) : (
          <>
            <Notice kind="warn">
              <Filled
                text={t.invitations.otherEmail}
                own={<bdi>{data.email}</bdi>}
                invited={<bdi>{email}</bdi>}
              />
            </Notice>
            <ActionButton
              wide
              run={async () => {
                await call(signOut, {});
                tellOtherTabs();
                await queries.resetQueries();
              }}
            >
              <Filled text={t.invitations.continueAs} email={<bdi>{email}</bdi>} />
            </ActionButton>
          </>
        )
      }
    </Loaded>
  );
}
