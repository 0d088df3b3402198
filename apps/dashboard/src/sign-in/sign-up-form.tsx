import { signUp } from "@assay/contract/accounts";
import { call } from "../api/call.ts";
import { Field } from "../ui/field.tsx";
import { Form } from "../ui/form.tsx";

export function NewPasswordField({ label, name }: { label: string; name: string }) {
  return (
    <Field
      label={label}
      name={name}
      type="password"
      autoComplete="new-password"
      minLength={10}
      maxLength={200}
      hint="At least 10 characters. A few words are easier to remember than signs."
    />
  );
}

export function SignUpForm(props: { onSignedIn: () => unknown; email?: string }) {
  return (
    <Form
      submit="Create account"
      onSubmit={async (values) => {
        await call(signUp, {
          body: { name: values.text("name"), email: values.text("email"), password: values.raw("password") },
        });
        await props.onSignedIn();
      }}
    >
      <Field label="Your name" name="name" autoComplete="name" maxLength={120} />
      <Field
        label="E-mail"
        name="email"
        type="email"
        autoComplete="username"
        defaultValue={props.email ?? ""}
        {...(props.email === undefined ? {} : { readOnly: true })}
      />
      <NewPasswordField label="Password" name="password" />
    </Form>
  );
}
