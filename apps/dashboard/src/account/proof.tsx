import { present } from "../api/call.ts";
import { t } from "../i18n/words.ts";
import { useAccount } from "../shell/organization-context.ts";
import { Field } from "../ui/field.tsx";
import type { Values } from "../ui/form.tsx";
import { Notice } from "../ui/notice.tsx";

/** Proof that the owner is present: the password, or without one, a code of the second factor. */
export function ProofFields() {
  const account = useAccount();
  if (account.has_password)
    return (
      <Field
        label={t.account.proof.password}
        name="proof_password"
        type="password"
        autoComplete="current-password"
      />
    );
  if (account.totp_enabled)
    return (
      <Field
        label={t.account.proof.code}
        name="proof_code"
        autoComplete="one-time-code"
        minLength={6}
        maxLength={40}
      />
    );
  return <Notice kind="info">{t.account.proof.none}</Notice>;
}

export function proofOf(values: Values) {
  return present({
    password: values.raw("proof_password"),
    code: values.text("proof_code").replaceAll(" ", ""),
  });
}
