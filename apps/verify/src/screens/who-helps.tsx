import { useWords } from "../i18n/language.ts";
import type { Details } from "../session/api.ts";
import { Card } from "../ui/screen.tsx";
import { OutsideLink, SupportLink } from "../ui/who-asks.tsx";

/** Whom to ask when something did not work: the partner, who sent the person here and can send them again. */
export function WhoHelps({ organization }: { organization: Details["organization"] }) {
  const { t } = useWords();
  const { name, support_email: email, website_url: website } = organization;
  return (
    <Card title={t.helpTitle}>
      <p>{t.helpText(name)}</p>
      {(email !== null || website !== null) && (
        <ul className="space-y-1">
          {email !== null && (
            <li>
              <SupportLink email={email} />
            </li>
          )}
          {website !== null && (
            <li>
              <OutsideLink href={website} />
            </li>
          )}
        </ul>
      )}
    </Card>
  );
}
