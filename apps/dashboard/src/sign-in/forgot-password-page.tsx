import { requestPasswordReset } from "@assay/contract/accounts";
import { Link } from "@tanstack/react-router";
import { call } from "../api/call.ts";
import { t } from "../i18n/words.ts";
import { Field } from "../ui/field.tsx";
import { Form } from "../ui/form.tsx";
import { PublicFrame } from "../ui/public-frame.tsx";

export function ForgotPasswordPage() {
  return (
    <PublicFrame title={t.signIn.forgot}>
      <p className="mb-4 text-muted">{t.signIn.forgotHint}</p>
      <Form
        wide
        submit={t.ui.mailLink}
        done={t.signIn.forgotDone}
        onSubmit={(values) => call(requestPasswordReset, { body: { email: values.text("email") } })}
      >
        <Field label={t.ui.email} name="email" type="email" autoComplete="username" />
      </Form>
      <p className="mt-6 border-t border-line pt-4">
        <Link to="/dashboard/sign-in">{t.signIn.back}</Link>
      </p>
    </PublicFrame>
  );
}
