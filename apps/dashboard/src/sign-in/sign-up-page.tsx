import { Link, useRouter, useSearch } from "@tanstack/react-router";
import { queries } from "../api/queries.ts";
import { PublicFrame } from "../ui/public-frame.tsx";
import { nextPath } from "./next-path.ts";
import { SignUpForm } from "./sign-up-form.tsx";

export function SignUpPage() {
  const { next } = useSearch({ from: "/dashboard/sign-up" });
  const router = useRouter();
  return (
    <PublicFrame title="Create an account">
      <SignUpForm
        onSignedIn={async () => {
          await queries.resetQueries();
          router.history.push(nextPath(next));
        }}
      />
      <p className="mt-6 border-t border-line pt-4">
        Already have an account? <Link to="/dashboard/sign-in">Sign in</Link>
      </p>
    </PublicFrame>
  );
}
