import { t } from "../i18n/words.ts";
import { Code } from "../ui/code.tsx";
import { Card } from "../ui/page.tsx";
import { keyVariable } from "../ui/request-code.ts";

/** For developers without a public address, which is the usual case at first. */
export function OnYourMachine() {
  return (
    <Card title={t.webhooks.local}>
      <p className="mb-3">{t.webhooks.localText}</p>
      <Code
        label={t.ui.command}
        text={`npx ${window.location.origin}/cli.tgz listen --url ${window.location.origin} --key "$${keyVariable}"`}
      />
    </Card>
  );
}
