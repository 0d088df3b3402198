import { Actions, Button, QuietButton } from "@assay/ui/button";
import { Notice } from "@assay/ui/notice";
import { type ReactNode, useState } from "react";
import { displayContext, tabMark } from "../device/display-context.ts";
import { useWords } from "../i18n/language.ts";
import type { Details } from "../session/api.ts";
import { mayConsentNow } from "../session/consent-sight.ts";
import type { Session } from "../session/use-session.ts";
import { Card, Screen, useAnnounce } from "../ui/screen.tsx";
import { WhoAsks } from "../ui/who-asks.tsx";
import { useHasForgotten } from "./use-partner-page.ts";

/** Opens the same verification in a tab, which this frame then follows. */
function openTab(address: string): void {
  window.open(`${address}${address.includes("#") ? "&" : "#"}${tabMark}=1`, "_blank", "noopener");
}

/** Opens this session in a tab. Before consent its plain address suffices; afterwards it needs a handoff. */
export function TabButton({
  address = `${location.origin}${location.pathname}`,
  look = "primary",
  onOpened,
}: {
  address?: string;
  /** `quiet`: at the end of the page, for people who want to see the address before they agree. */
  look?: "primary" | "secondary" | "quiet";
  onOpened?: () => void;
}) {
  const { t } = useWords();
  if (displayContext() !== "frame") return null;
  const open = () => {
    openTab(address);
    onOpened?.();
  };
  if (look === "quiet") return <QuietButton onClick={open}>{t.frame.openTab}</QuietButton>;
  return (
    <Button look={look} onClick={open}>
      {t.frame.openTab}
    </Button>
  );
}

/** Replaces the consent screen if the browser cannot report whether a frame is visible. */
export function ConsentInTabScreen({ details, onOpened }: { details: Details; onOpened: () => void }) {
  const { t } = useWords();
  return (
    <Screen title={t.consentTitle(details.organization.name)} lead={t.frame.tabLead}>
      <WhoAsks details={details} />
      <Actions>
        <TabButton onOpened={onOpened} />
      </Actions>
    </Screen>
  );
}

/** The person continues in the tab; this page follows and shows the outcome. */
export function MovedScreen({ hasBegun, onStay }: { hasBegun: boolean; onStay: () => void }) {
  const { t } = useWords();
  return (
    <Screen title={t.frame.movedTitle} lead={t.frame.movedText}>
      <Actions>
        {!hasBegun && <TabButton look="secondary" />}
        <Button look="secondary" onClick={onStay}>
          {t.frame.movedStay}
        </Button>
      </Actions>
    </Screen>
  );
}

/**
 * Wraps the consent screen: stops a press on an invisible button and gives the reason. The call checks again.
 */
export function ConsentGate({ children, onOpened }: { children: ReactNode; onOpened: () => void }) {
  const { t } = useWords();
  const announce = useAnnounce();
  const [stopped, setStopped] = useState(false);
  if (displayContext() !== "frame") return children;
  return (
    <div
      className="space-y-6"
      onSubmitCapture={(event) => {
        const allowed = mayConsentNow();
        setStopped(!allowed);
        if (allowed) return;
        event.preventDefault();
        event.stopPropagation();
        announce(t.frame.unseenTitle);
      }}
    >
      {children}
      {stopped && (
        <Notice look="warn" title={t.frame.unseenTitle} urgent>
          <p>{t.frame.unseenText}</p>
          <TabButton look="secondary" onOpened={onOpened} />
        </Notice>
      )}
    </div>
  );
}

export function ForgottenNotice({ session, name }: { session: Session; name: string }) {
  const { t } = useWords();
  if (!useHasForgotten(session)) return null;
  return (
    <div className="mb-6">
      <Notice look="warn" title={t.frame.forgottenTitle}>
        <p>{t.frame.forgottenText(name)}</p>
      </Notice>
    </div>
  );
}

/** The end in a tab that a frame opened: the person continues where they began. */
export function CloseTab() {
  const { t } = useWords();
  return (
    <Card title={t.frame.tabDoneTitle}>
      <p>{t.deviceDoneText}</p>
      <Actions>
        <Button onClick={() => window.close()}>{t.frame.tabClose}</Button>
      </Actions>
    </Card>
  );
}
