import { Actions, Button } from "@assay/ui/button";
import { Fold, Folds } from "@assay/ui/fold";
import { HoldPhone } from "@assay/ui/hold-phone";
import { Icon } from "@assay/ui/icon";
import { ScanCode } from "@assay/ui/illustrations";
import { type ReactNode, useCallback, useEffect, useState } from "react";
import { shellTransport } from "../device/chip-transport.ts";
import type { DeviceKind } from "../device/device-kind.ts";
import type { Way } from "../device/ways.ts";
import { TabButton } from "../embed/frame-parts.tsx";
import { useWords } from "../i18n/language.ts";
import type { Messages } from "../i18n/messages.ts";
import { codeOf, type Details, type Handoff } from "../session/api.ts";
import { clockOf, msUntil, type ServiceClock } from "../session/clock.ts";
import type { Session } from "../session/use-session.ts";
import { LostConnection, useOnline } from "../ui/connection.tsx";
import { QrCode } from "../ui/qr-code.tsx";
import { Card, Points, Screen, useAnnounce } from "../ui/screen.tsx";
import { OpenApp } from "./begin.tsx";
import { WhoHelps } from "./who-helps.tsx";

/** A fresh code is shown this long before the old one expires, so that a scan in progress still works. */
const renewBeforeMs = 60_000;
const tryAgainMs = 4_000;

/**
 * How this device continues comes first. A code for another device comes first only if this one is no phone.
 */
export function HandoffScreen({
  session,
  details,
  way,
  mark,
  appMissing,
  onReadHere,
  onDevice,
}: {
  session: Session;
  details: Details;
  way: Way;
  /** Added to the fragment of the address that another device opens. */
  mark: string;
  appMissing: boolean;
  onReadHere: () => void;
  /** Which device reads. */
  onDevice: (device: "this" | "other") => void;
}) {
  const { t } = useWords();
  const { handoff, failing } = useHandoff(session);
  const other = session.kept.otherDevice;
  const isBound = details.requirements.binding === "required";
  const showsCode = !isBound && (way.by === "code" || way.by === "elsewhere" || other);
  const hasOwnWay = !other || way.by === "code";
  const onPhone = way.by !== "code";
  const codeTitle = onPhone ? t.handoffOtherTitle : t.handoffTitle;
  if (way.by === "counter") return <AtCounter session={session} handoff={handoff} failing={failing} />;
  const title = showsCode ? codeTitle : way.by === "app" ? t.appTitle : t.readHereTitle;
  return (
    <Screen
      key={title}
      title={title}
      {...(showsCode ? { lead: t.handoffKeepOpen } : { picture: <HoldPhone /> })}
    >
      {hasOwnWay && shellTransport() !== null && (
        <Card>
          <p>{t.readHereShell}</p>
          <Actions>
            <Button onClick={onReadHere}>{t.readHereButton}</Button>
          </Actions>
        </Card>
      )}
      {hasOwnWay && details.sandbox && (
        <Card title={t.virtualTitle}>
          <p>{t.virtualLead}</p>
          <Actions>
            <Button onClick={onReadHere}>{t.virtualButton}</Button>
          </Actions>
        </Card>
      )}
      {hasOwnWay && way.by === "app" && (
        <OpenApp
          session={session}
          way={way}
          missing={appMissing}
          handoffToken={handoff?.handoff_token ?? null}
        />
      )}
      {showsCode ? (
        <CodeForDevice
          address={handoff && `${handoff.handoff_url}${mark}`}
          failing={failing}
          lead={`${onPhone ? t.handoffOtherLead : t.handoffLead} ${phonesFor(t, details.reader_apps)}`}
          help={<DevicesHelp details={details} />}
        />
      ) : isBound ? null : (
        <Actions>
          <Button look="secondary" onClick={() => onDevice("other")}>
            {t.otherNewCode}
          </Button>
        </Actions>
      )}
      {other && onPhone && (
        <Actions>
          <Button look="secondary" onClick={() => onDevice("this")}>
            {t.otherBack}
          </Button>
        </Actions>
      )}
      <LostConnection connected={session.connected} />
      {showsCode && <p className="text-muted">{t.handoffWaiting}</p>}
    </Screen>
  );
}

/** Staff read the document. No code is shown: a phone that scans it could do nothing with it. */
function AtCounter({
  session,
  handoff,
  failing,
}: {
  session: Session;
  handoff: Handoff | null;
  failing: boolean;
}) {
  const { t } = useWords();
  return (
    <Screen key="counter" title={t.counter.showTitle} lead={t.counter.showText} icon="document">
      <Card>
        {handoff === null ? (
          <p>{failing ? t.connectionLost : t.loading}</p>
        ) : (
          <LinkField label={t.counter.link} link={handoff.handoff_url} warns={false} />
        )}
      </Card>
      <LostConnection connected={session.connected} />
    </Screen>
  );
}

/** `warns`: not to give it away. Staff are given it. */
function LinkField({ label, link, warns = true }: { label: string; link: string; warns?: boolean }) {
  const { t } = useWords();
  const announce = useAnnounce();
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(link);
      announce(t.linkCopied);
      setCopied(true);
    } catch {
      // The field with the link stays, to be copied by hand.
    }
  };
  return (
    <>
      <label className="block space-y-1">
        <span className="font-medium">{label}</span>
        <input
          readOnly
          value={link}
          onFocus={(event) => event.target.select()}
          className="min-h-12 w-full rounded-control border border-field bg-paper px-3 text-small"
        />
      </label>
      {warns && <p className="text-small text-muted">{t.linkIsSecret}</p>}
      <Button look="secondary" className="w-full sm:w-auto" onClick={() => void copy()}>
        <Icon name={copied ? "check" : "copy"} />
        {copied ? t.linkCopied : t.copyLink}
      </Button>
    </>
  );
}

/** A code for a device that does not read a chip. `mark` is added to the fragment of its address. */
export function HandoffCode({ session, lead, mark }: { session: Session; lead: string; mark: string }) {
  const { handoff, failing } = useHandoff(session);
  return <CodeForDevice address={handoff && `${handoff.handoff_url}${mark}`} failing={failing} lead={lead} />;
}

function CodeForDevice({
  address,
  failing,
  lead,
  help,
}: {
  address: string | null;
  failing: boolean;
  lead: string;
  help?: ReactNode;
}) {
  const { t } = useWords();
  return (
    <>
      <section className="grid items-center gap-5 rounded-card border border-line bg-card p-4 sm:grid-cols-[14rem_1fr] sm:p-5">
        {address === null ? (
          <p className="mx-auto grid aspect-square w-full max-w-64 place-items-center rounded-control bg-soft p-6 text-center">
            {failing ? t.connectionLost : t.handoffPreparing}
          </p>
        ) : (
          <QrCode text={address} label={t.handoffAlt} />
        )}
        <div className="space-y-3">
          <ScanCode className="max-w-40 max-sm:hidden" />
          <p>{lead}</p>
          <p className="text-small text-muted">{t.handoffRenewed}</p>
        </div>
      </section>
      {address !== null && <TabButton address={address} look="secondary" />}
      <Folds>
        {address !== null && (
          <Fold title={t.linkInstead} icon="outside">
            <LinkField label={t.linkToCopy} link={address} />
          </Fold>
        )}
        {help}
      </Folds>
    </>
  );
}

/** Which phones have an app. There is none only in the sandbox, where any phone does. */
function phonesFor(t: Messages, { android, ios }: Details["reader_apps"]): string {
  if (android !== null) return ios !== null ? t.phonesBoth : t.phonesAndroid;
  return ios !== null ? t.phonesIphone : "";
}

/**
 * This page was opened by a code on a phone whose browser cannot read. It must not take the session from a
 * device that can, so it leads to the app, or says that it cannot read.
 */
export function ScannedScreen({
  session,
  details,
  way,
  appMissing,
  kind,
}: {
  session: Session;
  details: Details;
  way: Way;
  appMissing: boolean;
  kind: DeviceKind;
}) {
  const { t } = useWords();
  const { handoff } = useHandoff(session);
  const { organization } = details;
  if (way.by === "app")
    return (
      <Screen key="scanned-app" title={t.appTitle} lead={t.appLead} picture={<HoldPhone />}>
        <OpenApp
          session={session}
          way={way}
          missing={appMissing}
          handoffToken={handoff?.handoff_token ?? null}
        />
        <p className="text-muted">{t.scannedKeep}</p>
      </Screen>
    );
  const { title, lead } = cannotReadWords(t, way, kind, details);
  return (
    <Screen key="no-reader" title={title} lead={lead} icon="chip">
      <Folds>
        <DevicesHelp details={details} open />
      </Folds>
      <WhoHelps organization={organization} />
    </Screen>
  );
}

/** Why the device that scanned the code cannot read, as precisely as known. */
function cannotReadWords(t: Messages, way: Way, kind: DeviceKind, details: Details) {
  if (way.by === "counter" && details.desk_readers)
    return { title: t.counter.title(details.organization.name), lead: t.counter.text };
  if (way.by === "elsewhere")
    return { title: t.noWayTitle, lead: kind === "iphone" ? t.noWayIphone : t.noWayAndroid };
  return { title: t.noReaderTitle, lead: t.noReaderText };
}

/** Only what there is: a phone without an app for it is no way. */
function DevicesHelp({ details, open = false }: { details: Details; open?: boolean }) {
  const { t } = useWords();
  const { sandbox, desk_readers: desks, reader_apps: apps } = details;
  const phones = phonesFor(t, apps);
  return (
    <Fold title={t.whichDevices} icon="chip" open={open}>
      <Points
        points={[
          ...(sandbox || phones !== ""
            ? ([["phone", open ? `${t.deviceShell} ${phones}` : t.deviceShell]] as const)
            : []),
          ...(sandbox || desks ? ([["document", t.deviceDesk]] as const) : []),
          ["x", t.deviceBrowser],
        ]}
      />
    </Fold>
  );
}

/** A code that is always good: made at once, again before it dies, and after the device was asleep. */
function useHandoff(session: Session): { handoff: Handoff | null; failing: boolean } {
  const { api, kept, reload } = session;
  const [made, setMade] = useState<{ handoff: Handoff; clock: ServiceClock } | null>(null);
  const [failures, setFailures] = useState(0);
  const online = useOnline();

  const renew = useCallback(async () => {
    try {
      const handoff = await api.handoff(kept.cancelToken);
      setMade({ handoff, clock: clockOf(handoff.server_time) });
      setFailures(0);
    } catch (error) {
      const code = codeOf(error);
      if (code === "CANCEL_TOKEN_INVALID") kept.cancelToken = null;
      else if (code !== null && code !== "INTERNAL_SERVER_ERROR") await reload();
      setFailures((count) => count + 1);
    }
  }, [api, kept, reload]);

  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>;
    if (made === null && failures === 0) void renew();
    else {
      const wait =
        failures > 0 || made === null
          ? tryAgainMs
          : Math.max(1_000, msUntil(made.clock, made.handoff.expires_at) - renewBeforeMs);
      timer = setTimeout(() => void renew(), wait);
    }
    const onWake = () => {
      if (document.visibilityState !== "visible" || made === null) return;
      if (msUntil(made.clock, made.handoff.expires_at) < renewBeforeMs) void renew();
    };
    document.addEventListener("visibilitychange", onWake);
    return () => {
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", onWake);
    };
  }, [made, failures, renew]);

  const expired = made !== null && msUntil(made.clock, made.handoff.expires_at) <= 0;
  return { handoff: expired ? null : (made?.handoff ?? null), failing: failures > 0 && online };
}
