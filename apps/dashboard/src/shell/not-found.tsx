import { t } from "../i18n/words.ts";
import { LinkButton } from "../ui/button.tsx";
import { Heading } from "../ui/page.tsx";
import { PublicFrame } from "../ui/public-frame.tsx";

function WayOut() {
  return (
    <>
      <p className="mb-4">{t.shell.notFound.hint}</p>
      <LinkButton look="primary" icon="overview" to="/dashboard">
        {t.shell.notFound.go}
      </LinkButton>
    </>
  );
}

export function NotFound() {
  return (
    <PublicFrame title={t.shell.notFound.title}>
      <WayOut />
    </PublicFrame>
  );
}

/** The same for a signed-in user, inside the frame of every page. */
export function StrayPage() {
  return (
    <>
      <Heading title={t.shell.notFound.title} />
      <WayOut />
    </>
  );
}
