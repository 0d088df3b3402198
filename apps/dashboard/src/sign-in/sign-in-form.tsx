import { finishPasskeySignIn, signIn, startPasskeySignIn } from "@assay/contract/accounts";
import { useState } from "react";
import { call, hasCode, present } from "../api/call.ts";
import { t } from "../i18n/words.ts";
import { ActionButton } from "../ui/button.tsx";
import { Field } from "../ui/field.tsx";
import { Form } from "../ui/form.tsx";
import { Notice } from "../ui/notice.tsx";
import { getAssertion, passkeysAreSupported } from "./passkey-ceremony.ts";

/** Password, then the second factor when the account has one; or a passkey, which is both. */
export function SignInForm(props: {
  onSignedIn: () => unknown;
  email?: string;
  /** Receives every change, for a page that keeps the address. */
  onEmail?: (email: string) => void;
  /** The token of the mailed link with which a new account signs in for the first time. */
  verificationToken?: string;
}) {
  const [needsCode, setNeedsCode] = useState(false);
  return (
    <div className="space-y-4">
      <Form
        wide
        submit={t.ui.signIn}
        onSubmit={async (values) => {
          const code = values.text("code").replaceAll(" ", "");
          try {
            await call(signIn, {
              body: {
                email: values.text("email"),
                password: values.raw("password"),
                ...present({ code, verification_token: props.verificationToken }),
              },
            });
          } catch (error) {
            if (!hasCode(error, "SECOND_FACTOR_REQUIRED")) throw error;
            if (needsCode) throw error;
            setNeedsCode(true);
            return;
          }
          await props.onSignedIn();
        }}
      >
        <Field
          label={t.ui.email}
          name="email"
          type="email"
          autoComplete="username"
          {...(props.onEmail === undefined
            ? { defaultValue: props.email ?? "" }
            : { value: props.email ?? "", onChange: props.onEmail })}
        />
        <Field label={t.ui.password} name="password" type="password" autoComplete="current-password" />
        {needsCode ? <CodeField /> : null}
      </Form>
      {passkeysAreSupported() ? (
        <div className="border-t border-line pt-4">
          <ActionButton
            wide
            icon="key"
            run={async () => {
              const { data } = await call(startPasskeySignIn, {});
              const response = await getAssertion(data.options);
              await call(finishPasskeySignIn, { body: { response } });
              await props.onSignedIn();
            }}
          >
            {t.signIn.passkey}
          </ActionButton>
        </div>
      ) : null}
    </div>
  );
}

export function CodeField() {
  return (
    <>
      <Notice kind="info">{t.signIn.twoSteps}</Notice>
      <Field
        label={t.signIn.code}
        name="code"
        hint={t.signIn.codeHint}
        autoComplete="one-time-code"
        minLength={6}
        maxLength={40}
        focusOnMount
      />
    </>
  );
}
