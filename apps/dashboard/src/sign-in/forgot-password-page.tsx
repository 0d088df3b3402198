import { requestPasswordReset } from "@assay/contract/accounts";
import { Link } from "@tanstack/react-router";
import { call } from "../api/call.ts";
import { Field } from "../ui/field.tsx";
import { Form } from "../ui/form.tsx";
import { PublicFrame } from "../ui/public-frame.tsx";

export function ForgotPasswordPage() {
  return (
    <PublicFrame title="Forgot your password?">
      <p className="mb-4 text-muted">We mail you a link with which you set a new one.</p>
      <Form
        wide
        submit="Mail me a link"
        done="If there is an account with this address, a link is on its way. It works once, for an hour."
        onSubmit={(values) => call(requestPasswordReset, { body: { email: values.text("email") } })}
      >
        <Field label="E-mail" name="email" type="email" autoComplete="username" />
      </Form>
      <p className="mt-6 border-t border-line pt-4">
        <Link to="/dashboard/sign-in">Back to sign-in</Link>
      </p>
    </PublicFrame>
  );
}
