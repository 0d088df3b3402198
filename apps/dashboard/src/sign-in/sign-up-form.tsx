import { readSignUp, signUp } from "@assay/contract/accounts";
import { useState } from "react";
import { call } from "../api/call.ts";
import { useData } from "../api/queries.ts";
import { t } from "../i18n/words.ts";
import { Field } from "../ui/field.tsx";
import { Form } from "../ui/form.tsx";
import { Notice } from "../ui/notice.tsx";
import { Loaded } from "../ui/page.tsx";

export function NewPasswordField({ label, name }: { label: string; name: string }) {
  return (
    <Field
      label={label}
      name={name}
      type="password"
      autoComplete="new-password"
      minLength={10}
      maxLength={200}
      hint={t.signIn.passwordHint}
    />
  );
}

/**
 * The operator decides who may sign up, so the page asks first. If the service sends mail, it answers there,
 * whether or not the address has an account.
 */
export function SignUpForm(props: { onSignedIn: () => unknown; email?: string; afterMail?: string }) {
  const rules = useData(readSignUp, {});
  const [mailedTo, setMailedTo] = useState<string | null>(null);
  if (mailedTo !== null)
    return (
      <Notice kind="good">
        <p className="font-semibold">{t.signIn.up.mailed(mailedTo)}</p>
        <p>
          {t.signIn.up.next} {props.afterMail}
        </p>
      </Notice>
    );
  return (
    <Loaded query={rules}>
      {({ data }) =>
        data.mode === "closed" ? (
          <Notice kind="info">
            <p className="font-semibold">{t.signIn.up.closed}</p>
            <p>{t.signIn.up.closedHint}</p>
          </Notice>
        ) : (
          <>
            {data.mode === "invited" && props.email === undefined ? (
              <Notice kind="info">{t.signIn.up.invited}</Notice>
            ) : null}
            <Form
              wide
              submit={t.signIn.up.submit}
              onSubmit={async (values) => {
                const email = values.text("email");
                const { data: signedUp } = await call(signUp, {
                  body: { name: values.text("name"), email, password: values.raw("password") },
                });
                if (signedUp.token === null) setMailedTo(email);
                else await props.onSignedIn();
              }}
            >
              <Field label={t.ui.yourName} name="name" autoComplete="name" maxLength={120} />
              <Field
                label={t.ui.email}
                name="email"
                type="email"
                autoComplete="username"
                defaultValue={props.email ?? ""}
                {...(props.email === undefined ? {} : { readOnly: true })}
              />
              <NewPasswordField label={t.ui.password} name="password" />
            </Form>
          </>
        )
      }
    </Loaded>
  );
}
