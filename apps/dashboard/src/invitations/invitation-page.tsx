import { getAccount, requestEmailVerification, signOut } from "@assay/contract/accounts";
import { isSameEmail } from "@assay/contract/email";
import { acceptInvitation, declineInvitation, readInvitation } from "@assay/contract/organizations";
import { useParams } from "@tanstack/react-router";
import { useState } from "react";
import { call } from "../api/call.ts";
import { isSignedOut, queries, useData } from "../api/queries.ts";
import { rememberOrganization } from "../shell/chosen-organization.ts";
import { tellOtherTabs } from "../shell/sign-out.ts";
import { SignInForm } from "../sign-in/sign-in-form.tsx";
import { SignUpForm } from "../sign-in/sign-up-form.tsx";
import { ActionButton, Button, LinkButton } from "../ui/button.tsx";
import { ConfirmButton } from "../ui/dialog.tsx";
import { inWords } from "../ui/filters.tsx";
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
      <PublicFrame title="Invitation declined">
        <p>You can close this page.</p>
      </PublicFrame>
    );
  return (
    <PublicFrame title="Invitation">
      <Loaded query={invitation}>
        {({ data }) => (
          <div className="space-y-5">
            <Facts
              facts={[
                ["Organization", <strong key="name">{data.organization_name}</strong>],
                ["Your role", inWords(data.role)],
                ["For", data.email],
                ["Expires", <Time key="until" ahead at={data.expires_at} />],
              ]}
            />
            <Answer token={token} email={data.email} organization={data.organization_name} />
            <div className="border-t border-line pt-4">
              <ConfirmButton
                wide
                title="Decline invitation?"
                explanation={`You will not join ${data.organization_name}. The link stops working.`}
                confirm="Decline"
                run={async () => {
                  await call(declineInvitation, { params: { token } });
                  setDeclined(true);
                }}
              >
                Decline
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
        <h2 className="mb-3 text-lg font-semibold">{hasAccount ? "Sign in" : "Create your account"}</h2>
        {hasAccount ? (
          <SignInForm email={email} onSignedIn={() => queries.resetQueries()} />
        ) : (
          <SignUpForm
            email={email}
            onSignedIn={() => queries.resetQueries()}
            afterMail="Then open this invitation again."
          />
        )}
        <p className="mt-4">
          <Button wide onClick={() => setHasAccount(!hasAccount)}>
            {hasAccount ? "I have no account yet" : "I have an account"}
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
            submit={`Join ${organization}`}
            onSubmit={accept}
            onProblem={({ code }) =>
              code === "EMAIL_NOT_VERIFIED" ? (
                mailed ? (
                  <p>
                    We emailed a link to <bdi>{email}</bdi>. Open it, then come back to this page.
                  </p>
                ) : (
                  <ActionButton
                    run={async () => {
                      await call(requestEmailVerification, {});
                      setMailed(true);
                    }}
                  >
                    Send verification link
                  </ActionButton>
                )
              ) : code === "ALREADY_MEMBER" ? (
                <LinkButton small to="/dashboard">
                  Open the dashboard
                </LinkButton>
              ) : null
            }
          >
            <p>
              You are signed in as <bdi>{data.email}</bdi>.
            </p>
          </Form>
        ) : (
          <>
            <Notice kind="warn">
              You are signed in as <bdi>{data.email}</bdi>. This invitation is for <bdi>{email}</bdi>.
            </Notice>
            <ActionButton
              wide
              run={async () => {
                await call(signOut, {});
                tellOtherTabs();
                await queries.resetQueries();
              }}
            >
              Sign out and continue as <bdi>{email}</bdi>
            </ActionButton>
          </>
        )
      }
    </Loaded>
  );
}
