import { Actions, Button } from "@assay/ui/button";
import { useState } from "react";
import { claimWords, useWords } from "../i18n/language.ts";
import type { Details } from "../session/api.ts";
import { Card, Points, Screen } from "../ui/screen.tsx";
import { WhoAsks } from "../ui/who-asks.tsx";

/**
 * Before a device that came by a code claims the session. A person who got the code from another sees here
 * who receives what, and can stop.
 */
export function StartedScreen({ details, onStarted }: { details: Details; onStarted: () => void }) {
  const { t } = useWords();
  const [stopped, setStopped] = useState(false);
  const { name } = details.organization;
  if (stopped) return <Screen key="stopped" title={t.started.stopped} lead={t.closePage} icon="shield" />;
  const shared = (details.consent?.selected_field_keys ?? []).map((key) => claimWords(t, key).label);
  return (
    <Screen title={t.started.title} lead={t.started.text(name)}>
      <WhoAsks details={details} />
      {shared.length > 0 && (
        <Card title={t.consentTitle(name)}>
          <Points points={shared.map((label) => ["check", label] as const)} />
        </Card>
      )}
      <Actions>
        <Button look="secondary" onClick={() => setStopped(true)}>
          {t.started.no}
        </Button>
        <Button onClick={onStarted}>{t.started.yes}</Button>
      </Actions>
    </Screen>
  );
}
