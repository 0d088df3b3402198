import { readSignUp, signUp } from "@assay/contract/accounts";
import { useState } from "react";
import { call } from "../api/call.ts";
import { useData } from "../api/queries.ts";
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
      hint="At least 10 characters. A few words are easier to remember than symbols."
    />
  );
}

/**
 * Who may sign up is the operator's choice, so it is asked for first: a form that cannot work is not shown. Where the
 * service sends mail, the answer is in the mailbox, whether or not the address had an account.
 */
export function SignUpForm(props: { onSignedIn: () => unknown; email?: string; afterMail?: string }) {
  const rules = useData(readSignUp, {});
  const [mailedTo, setMailedTo] = useState<string | null>(null);
  if (mailedTo !== null)
    return (
      <Notice kind="good">
        <p className="font-semibold">We sent an email to {mailedTo}.</p>
        <p>
          Open the link in it and sign in with your new password. If you already have an account, the email
          says so. {props.afterMail}
        </p>
      </Notice>
    );
  return (
    <Loaded query={rules}>
      {({ data }) =>
        data.mode === "closed" ? (
          <Notice kind="info">
            <p className="font-semibold">Sign-up is closed.</p>
            <p>Ask the operator for an account.</p>
          </Notice>
        ) : (
          <>
            {data.mode === "invited" && props.email === undefined ? (
              <Notice kind="info">Sign-up is by invitation. Use the address that was invited.</Notice>
            ) : null}
            <Form
              wide
              submit="Create account"
              onSubmit={async (values) => {
                const email = values.text("email");
                const { data: signedUp } = await call(signUp, {
                  body: { name: values.text("name"), email, password: values.raw("password") },
                });
                if (signedUp.token === null) setMailedTo(email);
                else await props.onSignedIn();
              }}
            >
              <Field label="Your name" name="name" autoComplete="name" maxLength={120} />
              <Field
                label="Email"
                name="email"
                type="email"
                autoComplete="username"
                defaultValue={props.email ?? ""}
                {...(props.email === undefined ? {} : { readOnly: true })}
              />
              <NewPasswordField label="Password" name="password" />
            </Form>
          </>
        )
      }
    </Loaded>
  );
}
