import { Link, useRouter, useSearch } from "@tanstack/react-router";
import { queries } from "../api/queries.ts";
import { Filled } from "../i18n/filled.tsx";
import { t } from "../i18n/words.ts";
import { PublicFrame } from "../ui/public-frame.tsx";
import { nextPath } from "./next-path.ts";
import { SignUpForm } from "./sign-up-form.tsx";

export function SignUpPage() {
  const { next } = useSearch({ strict: false });
  const router = useRouter();
  return (
    <PublicFrame title={t.signIn.create}>
      <SignUpForm
        onSignedIn={async () => {
          await queries.resetQueries();
          router.history.push(nextPath(next));
        }}
      />
      <p className="mt-6 border-t border-line pt-4">
        <Filled text={t.signIn.up.have} link={<Link to="/dashboard/sign-in">{t.ui.signIn}</Link>} />
      </p>
    </PublicFrame>
  );
}
