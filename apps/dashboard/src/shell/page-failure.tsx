import { t } from "../i18n/words.ts";
import { Button } from "../ui/button.tsx";
import { ProblemNotice } from "../ui/page.tsx";
import { PublicFrame } from "../ui/public-frame.tsx";

/** An error of this app: the page says so and links to the start. */
export function PageFailure({ error }: { error: unknown }) {
  return (
    <PublicFrame title={t.shell.failure.title}>
      <ProblemNotice error={error} />
      <Button look="primary" onClick={() => window.location.assign("/dashboard")}>
        {t.shell.failure.back}
      </Button>
    </PublicFrame>
  );
}
