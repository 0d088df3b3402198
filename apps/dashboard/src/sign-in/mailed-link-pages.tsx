import {
  confirmEmailChange,
  getAccount,
  resetPassword,
  verifyEmail,
  verifyMagicLink,
} from "@assay/contract/accounts";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { call, hasCode, present } from "../api/call.ts";
import { useMailedToken } from "../api/mailed-token.ts";
import { isSignedOut, queries, refresh, useData } from "../api/queries.ts";
import { LinkButton } from "../ui/button.tsx";
import { Form } from "../ui/form.tsx";
import { Notice } from "../ui/notice.tsx";
import { Loading, ProblemNotice } from "../ui/page.tsx";
import { PublicFrame } from "../ui/public-frame.tsx";
import { CodeField, SignInForm } from "./sign-in-form.tsx";
import { NewPasswordField } from "./sign-up-form.tsx";

function NoToken() {
  return (
    <Notice kind="warn">
      <p className="font-semibold">This page needs the link from the email.</p>
      <p>Open the link in the email again. If it has expired, request a new one.</p>
    </Notice>
  );
}

/** Signing in takes a press of a button: programs that look at links in mails must not use the link up. */
export function MagicLinkPage() {
  const token = useMailedToken();
  const navigate = useNavigate();
  const [needsCode, setNeedsCode] = useState(false);
  return (
    <PublicFrame title="Sign in with your link">
      {token === null ? (
        <NoToken />
      ) : (
        <Form
          wide
          submit="Sign in"
          onSubmit={async (values) => {
            const code = values.text("code").replaceAll(" ", "");
            try {
              await call(verifyMagicLink, { body: { token, ...present({ code }) } });
            } catch (error) {
              if (!hasCode(error, "SECOND_FACTOR_REQUIRED") || needsCode) throw error;
              setNeedsCode(true);
              return;
            }
            await queries.resetQueries();
            await navigate({ to: "/dashboard" });
          }}
        >
          {needsCode ? <CodeField /> : <p>The link works once. Press the button to use it.</p>}
        </Form>
      )}
      <p className="mt-6 border-t border-line pt-4">
        <Link to="/dashboard/sign-in">Sign in another way</Link>
      </p>
    </PublicFrame>
  );
}

export function ResetPasswordPage() {
  const token = useMailedToken();
  const [done, setDone] = useState(false);
  return (
    <PublicFrame title="Set a new password">
      {done ? (
        <>
          <Notice kind="good">Password changed. You are signed out on all devices.</Notice>
          <LinkButton look="primary" wide to="/dashboard/sign-in">
            Sign in
          </LinkButton>
        </>
      ) : token === null ? (
        <>
          <NoToken />
          <Link to="/dashboard/forgot-password">Request a new link</Link>
        </>
      ) : (
        <Form
          wide
          submit="Set password"
          onSubmit={async (values) => {
            await call(resetPassword, { body: { token, password: values.raw("password") } });
            await queries.resetQueries();
            setDone(true);
          }}
        >
          <NewPasswordField label="New password" name="password" />
        </Form>
      )}
    </PublicFrame>
  );
}

/** Links that work only for the signed-in owner of the account. Somebody who is not signed in does that here first. */
function AccountLinkPage(props: {
  title: string;
  explanation: string;
  submit: string;
  done: string;
  run: (token: string) => Promise<unknown>;
  /** Signing in with the link may be all that there is to do. */
  signsIn?: boolean;
}) {
  const token = useMailedToken();
  const account = useData(getAccount, {});
  const [pressed, setDone] = useState(false);
  const done = pressed || (props.signsIn === true && account.data?.data.email_verified === true);
  if (token === null && !done)
    return (
      <PublicFrame title={props.title}>
        <NoToken />
        <Link to="/dashboard/account">Go to your account</Link>
      </PublicFrame>
    );
  return (
    <PublicFrame title={props.title}>
      {done ? (
        <>
          <Notice kind="good">{props.done}</Notice>
          <LinkButton look="primary" wide to="/dashboard">
            Continue
          </LinkButton>
        </>
      ) : isSignedOut(account.error) ? (
        <>
          <Notice kind="info">Sign in to your account first to use this link.</Notice>
          <SignInForm
            {...(props.signsIn && token !== null ? { verificationToken: token } : {})}
            onSignedIn={() => queries.resetQueries()}
          />
        </>
      ) : account.data === undefined ? (
        account.error === null ? (
          <Loading />
        ) : (
          <ProblemNotice error={account.error} retry={account.refetch} />
        )
      ) : (
        <Form
          wide
          submit={props.submit}
          onSubmit={async () => {
            if (token !== null) await props.run(token);
            await refresh(getAccount);
            setDone(true);
          }}
        >
          <p>{props.explanation}</p>
          <p className="text-muted">
            You are signed in as <bdi>{account.data.data.email}</bdi>.
          </p>
        </Form>
      )}
    </PublicFrame>
  );
}

export function VerifyEmailPage() {
  return (
    <AccountLinkPage
      title="Verify your email"
      explanation="Confirm that this address is yours."
      submit="Verify email"
      done="Email verified."
      run={(token) => call(verifyEmail, { body: { token } })}
      signsIn
    />
  );
}

export function ChangeEmailPage() {
  return (
    <AccountLinkPage
      title="Confirm your new email"
      explanation="You will sign in with the address that received this link."
      submit="Confirm email"
      done="Email changed."
      run={(token) => call(confirmEmailChange, { body: { token } })}
    />
  );
}
