import { requestPasswordReset } from "@assay/contract/accounts";
import { Link } from "@tanstack/react-router";
import { call } from "../api/call.ts";
import { Field } from "../ui/field.tsx";
import { Form } from "../ui/form.tsx";
import { PublicFrame } from "../ui/public-frame.tsx";

export function ForgotPasswordPage() {
  return (
    <PublicFrame title="Forgot your password?">
      <p className="mb-4 text-muted">We'll email you a reset link.</p>
      <Form
        wide
        submit="Email me a link"
        done="If there is an account with this address, we sent it a link. It works once and expires in an hour."
        onSubmit={(values) => call(requestPasswordReset, { body: { email: values.text("email") } })}
      >
        <Field label="Email" name="email" type="email" autoComplete="username" />
      </Form>
      <p className="mt-6 border-t border-line pt-4">
        <Link to="/dashboard/sign-in">Back to sign-in</Link>
      </p>
    </PublicFrame>
  );
}
