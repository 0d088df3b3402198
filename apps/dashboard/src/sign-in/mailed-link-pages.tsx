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
import { Filled } from "../i18n/filled.tsx";
import { t } from "../i18n/words.ts";
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
      <p className="font-semibold">{t.signIn.noToken}</p>
      <p>{t.signIn.noTokenHint}</p>
    </Notice>
  );
}

/** Signing in takes a press of a button: programs that scan links in mails must not use up the link. */
export function MagicLinkPage() {
  const token = useMailedToken();
  const navigate = useNavigate();
  const [needsCode, setNeedsCode] = useState(false);
  return (
    <PublicFrame title={t.signIn.byLink}>
      {token === null ? (
        <NoToken />
      ) : (
        <Form
          wide
          submit={t.ui.signIn}
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
          {needsCode ? <CodeField /> : <p>{t.signIn.byLinkHint}</p>}
        </Form>
      )}
      <p className="mt-6 border-t border-line pt-4">
        <Link to="/dashboard/sign-in">{t.signIn.otherWay}</Link>
      </p>
    </PublicFrame>
  );
}

export function ResetPasswordPage() {
  const token = useMailedToken();
  const [done, setDone] = useState(false);
  return (
    <PublicFrame title={t.signIn.reset}>
      {done ? (
        <>
          <Notice kind="good">{t.signIn.resetDone}</Notice>
          <LinkButton look="primary" wide to="/dashboard/sign-in">
            {t.ui.signIn}
          </LinkButton>
        </>
      ) : token === null ? (
        <>
          <NoToken />
          <Link to="/dashboard/forgot-password">{t.signIn.newLink}</Link>
        </>
      ) : (
        <Form
          wide
          submit={t.signIn.setPassword}
          onSubmit={async (values) => {
            await call(resetPassword, { body: { token, password: values.raw("password") } });
            await queries.resetQueries();
            setDone(true);
          }}
        >
          <NewPasswordField label={t.ui.newPassword} name="password" />
        </Form>
      )}
    </PublicFrame>
  );
}

/** Links that work only for the signed-in owner of the account. Other visitors sign in here first. */
function AccountLinkPage(props: {
  title: string;
  explanation: string;
  submit: string;
  done: string;
  run: (token: string) => Promise<unknown>;
  /** Signing in with the link may be all that is needed. */
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
        <Link to="/dashboard/account">{t.signIn.goToAccount}</Link>
      </PublicFrame>
    );
  return (
    <PublicFrame title={props.title}>
      {done ? (
        <>
          <Notice kind="good">{props.done}</Notice>
          <LinkButton look="primary" wide to="/dashboard">
            {t.ui.continue}
          </LinkButton>
        </>
      ) : isSignedOut(account.error) ? (
        <>
          <Notice kind="info">{t.signIn.signInFirst}</Notice>
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
            <Filled text={t.signIn.asUser} email={<bdi>{account.data.data.email}</bdi>} />
          </p>
        </Form>
      )}
    </PublicFrame>
  );
}

export function VerifyEmailPage() {
  return (
    <AccountLinkPage
      title={t.signIn.verify.title}
      explanation={t.signIn.verify.explanation}
      submit={t.signIn.verify.submit}
      done={t.signIn.verify.done}
      run={(token) => call(verifyEmail, { body: { token } })}
      signsIn
    />
  );
}

export function ChangeEmailPage() {
  return (
    <AccountLinkPage
      title={t.signIn.change.title}
      explanation={t.signIn.change.explanation}
      submit={t.signIn.change.submit}
      done={t.signIn.change.done}
      run={(token) => call(confirmEmailChange, { body: { token } })}
    />
  );
}
