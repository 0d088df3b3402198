import { Actions, Button, LinkButton } from "@assay/ui/button";
import { HoldPhone } from "@assay/ui/hold-phone";
import { Notice } from "@assay/ui/notice";
import { linkTarget } from "../device/display-context.ts";
import { type AppWay, appLinkOf } from "../device/ways.ts";
import { useWords } from "../i18n/language.ts";
import type { Details } from "../session/api.ts";
import type { Session } from "../session/use-session.ts";
import { Card, Points, Screen } from "../ui/screen.tsx";
import { LeaveControl } from "./leave.tsx";
import { WhoHelps } from "./who-helps.tsx";

/**
 * On a phone with a reader app: the app takes over before consent,
 * so that the whole verification happens in one place.
 */
export function BeginInAppScreen({
  session,
  details,
  way,
  missing,
  onOtherDevice,
}: {
  session: Session;
  details: Details;
  way: AppWay;
  /** The phone came back because the app is not there. */
  missing: boolean;
  onOtherDevice: () => void;
}) {
  const { t } = useWords();
  const { name } = details.organization;
  return (
    <Screen title={t.consentTitle(name)} lead={t.appLead} picture={<HoldPhone />}>
      <OpenApp session={session} way={way} missing={missing} handoffToken={null} />
      <Actions>
        <Button look="secondary" onClick={onOtherDevice}>
          {t.otherNewCode}
        </Button>
        <LeaveControl session={session} name={name} look="secondary">
          {t.declineButton}
        </LeaveControl>
      </Actions>
    </Screen>
  );
}

/**
 * One link into the app, or to the store if it is not installed.
 * A way that just failed is not offered first again.
 */
export function OpenApp({
  session,
  way,
  missing,
  handoffToken,
}: {
  session: Session;
  way: AppWay;
  missing: boolean;
  handoffToken: string | null;
}) {
  const { t } = useWords();
  const page = { origin: location.origin, sessionId: session.api.sessionId, handoffToken };
  const open = (
    <LinkButton href={appLinkOf(way, page)} look={missing ? "secondary" : "primary"} target={linkTarget()}>
      {t.appOpen}
    </LinkButton>
  );
  const install = (
    <LinkButton href={way.installUrl} look={missing ? "primary" : "secondary"} target="_blank">
      {t.appInstall}
    </LinkButton>
  );
  const hint = way.platform === "ios" ? (way.appClip ? t.appClipHint : t.appIosHint) : null;
  return (
    <Card>
      {missing && (
        <Notice look="info" title={t.appMissingTitle} urgent>
          <p>{t.appMissingText}</p>
        </Notice>
      )}
      <div className="flex flex-col gap-3">
        {missing ? install : open}
        {hint !== null && <p className="text-small text-muted">{hint}</p>}
        {!missing && <p>{t.appNotYet}</p>}
        {missing ? open : install}
      </div>
    </Card>
  );
}

/** A phone that cannot read here. Shown before consent, with the remaining ways. */
export function ElsewhereScreen({
  session,
  details,
  phone,
  onOtherDevice,
}: {
  session: Session;
  details: Details;
  phone: "android" | "iphone";
  onOtherDevice: () => void;
}) {
  const { t } = useWords();
  const { organization, reader_apps: apps } = details;
  return (
    <Screen title={t.noWayTitle} lead={phone === "iphone" ? t.noWayIphone : t.noWayAndroid} icon="phone">
      <Card title={t.nextTitle}>
        <Points
          points={[
            ...(phone === "iphone" && apps.android !== null ? ([["phone", t.wayAndroid]] as const) : []),
            ...(phone === "android" && apps.ios !== null ? ([["phone", t.wayIphone]] as const) : []),
            ...(details.desk_readers ? ([["document", t.wayDesk(organization.name)]] as const) : []),
          ]}
        />
        <Actions>
          <Button onClick={onOtherDevice}>{t.otherNewCode}</Button>
          <LeaveControl session={session} name={organization.name} look="secondary">
            {t.returnTo(organization.name)}
          </LeaveControl>
        </Actions>
      </Card>
      <WhoHelps organization={organization} />
    </Screen>
  );
}

/** No phone can read for this installation. Shown before consent, because agreeing would lead nowhere. */
export function CounterScreen({
  session,
  details,
  onHere,
}: {
  session: Session;
  details: Details;
  /** The person is at the counter and continues. */
  onHere: () => void;
}) {
  const { t } = useWords();
  const { organization, desk_readers: desks } = details;
  const { name } = organization;
  return (
    <Screen
      title={desks ? t.counter.title(name) : t.noReaderTitle}
      lead={desks ? t.counter.text : t.deviceBrowser}
      icon="document"
    >
      <Actions>
        <LeaveControl session={session} name={name} look="primary">
          {t.returnTo(name)}
        </LeaveControl>
        {desks && (
          <Button look="secondary" onClick={onHere}>
            {t.counter.here}
          </Button>
        )}
      </Actions>
      <WhoHelps organization={organization} />
    </Screen>
  );
}
