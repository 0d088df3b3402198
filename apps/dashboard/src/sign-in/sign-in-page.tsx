import { requestMagicLink } from "@assay/contract/accounts";
import { Link, useRouter, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { call } from "../api/call.ts";
import { queries } from "../api/queries.ts";
import { t } from "../i18n/words.ts";
import { Button } from "../ui/button.tsx";
import { Field } from "../ui/field.tsx";
import { Form } from "../ui/form.tsx";
import { PublicFrame } from "../ui/public-frame.tsx";
import { nextPath } from "./next-path.ts";
import { SignInForm } from "./sign-in-form.tsx";

export function SignInPage() {
  const { next } = useSearch({ strict: false });
  const router = useRouter();
  const [byMail, setByMail] = useState(false);
  // Kept when the sign-in method changes, so that users type the address once.
  const [email, setEmail] = useState("");
  return (
    <PublicFrame title={t.ui.signIn}>
      {byMail ? (
        <div className="space-y-4">
          <Form
            wide
            submit={t.ui.mailLink}
            done={t.signIn.mailDone}
            onSubmit={(values) => call(requestMagicLink, { body: { email: values.text("email") } })}
          >
            <Field
              label={t.ui.email}
              name="email"
              type="email"
              autoComplete="username"
              value={email}
              onChange={setEmail}
              focusOnMount
            />
          </Form>
          <Button wide icon="key" onClick={() => setByMail(false)}>
            {t.signIn.byPassword}
          </Button>
        </div>
      ) : (
        <div className="space-y-3">
          <SignInForm
            email={email}
            onEmail={setEmail}
            onSignedIn={async () => {
              await queries.resetQueries();
              router.history.push(nextPath(next));
            }}
          />
          <Button wide icon="mail" onClick={() => setByMail(true)}>
            {t.signIn.byMail}
          </Button>
        </div>
      )}
      <ul className="mt-6 flex flex-wrap justify-between gap-x-6 gap-y-2 border-t border-line pt-4 text-small">
        <li>
          <Link to="/dashboard/forgot-password">{t.signIn.forgot}</Link>
        </li>
        <li>
          <Link to="/dashboard/sign-up" search={{ next }}>
            {t.signIn.create}
          </Link>
        </li>
      </ul>
    </PublicFrame>
  );
}
