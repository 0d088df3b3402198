import { Actions, Button } from "@assay/ui/button";
import { Fold, Folds } from "@assay/ui/fold";
import { HoldPhone } from "@assay/ui/hold-phone";
import { Icon } from "@assay/ui/icon";
import { ScanCode } from "@assay/ui/illustrations";
import { Notice } from "@assay/ui/notice";
import { useCallback, useEffect, useState } from "react";
import type { Way } from "../device/ways.ts";
import { TabButton } from "../embed/frame-parts.tsx";
import { useWords } from "../i18n/language.ts";
import type { Messages } from "../i18n/messages.ts";
import { shellTransport } from "../reading/chip-transport.ts";
import { codeOf, type Details, type Handoff } from "../session/api.ts";
import { clockOf, msUntil, type ServiceClock } from "../session/clock.ts";
import type { Session } from "../session/use-session.ts";
import { QrCode } from "../ui/qr-code.tsx";
import { Card, Points, Screen, useAnnounce } from "../ui/screen.tsx";
import { OpenApp } from "./begin.tsx";
import { WhoHelps } from "./who-helps.tsx";

/** A fresh code is shown this long before the old one dies, so that a scan under way still works. */
const renewBeforeMs = 60_000;
const tryAgainMs = 4_000;

/** How this device goes on is the first thing; a code for another one stands there by itself only where this one is no phone. */
export function HandoffScreen({
  session,
  details,
  way,
  appMissing,
  onReadHere,
}: {
  session: Session;
  details: Details;
  way: Way;
  appMissing: boolean;
  onReadHere: () => void;
}) {
  const { t } = useWords();
  const { handoff, failing } = useHandoff(session);
  const [other, setOther] = useState(session.kept.otherDevice);
  const choose = (otherDevice: boolean) => {
    session.kept.otherDevice = otherDevice;
    setOther(otherDevice);
  };
  const showsCode = way.by === "code" || way.by === "elsewhere" || other;
  const hasOwnWay = !other || way.by === "code";
  const onPhone = way.by !== "code";
  const codeTitle = onPhone ? t.handoffOtherTitle : t.handoffTitle;
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
          handoff={handoff}
          failing={failing}
          lead={onPhone ? t.handoffOtherLead : t.handoffLead}
          apps={details.reader_apps}
        />
      ) : (
        <Actions>
          <Button look="secondary" onClick={() => choose(true)}>
            {t.otherNewCode}
          </Button>
        </Actions>
      )}
      {other && (way.by === "app" || way.by === "here") && (
        <Actions>
          <Button look="secondary" onClick={() => choose(false)}>
            {t.otherBack}
          </Button>
        </Actions>
      )}
      {!session.connected && <Notice look="warn" title={t.connectionLost} />}
      {showsCode && <p className="text-muted">{t.handoffWaiting}</p>}
    </Screen>
  );
}

function CodeForDevice({
  handoff,
  failing,
  lead,
  apps,
}: {
  handoff: Handoff | null;
  failing: boolean;
  lead: string;
  apps: Details["reader_apps"];
}) {
  const { t } = useWords();
  const announce = useAnnounce();
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    if (handoff === null) return;
    try {
      await navigator.clipboard.writeText(handoff.handoff_url);
      announce(t.linkCopied);
      setCopied(true);
    } catch {
      // The field with the link stays, to be copied by hand.
    }
  };
  return (
    <>
      <section className="grid items-center gap-5 rounded-card border border-line bg-card p-4 sm:grid-cols-[14rem_1fr] sm:p-5">
        {handoff === null ? (
          <p className="mx-auto grid aspect-square w-full max-w-64 place-items-center rounded-control bg-soft p-6 text-center">
            {failing ? t.connectionLost : t.handoffPreparing}
          </p>
        ) : (
          <QrCode text={handoff.handoff_url} label={t.handoffAlt} />
        )}
        <div className="space-y-3">
          <ScanCode className="max-w-40 max-sm:hidden" />
          <p>
            {lead} {phonesFor(t, apps)}
          </p>
          <p className="text-small text-muted">{t.handoffRenewed}</p>
        </div>
      </section>
      {handoff !== null && <TabButton address={handoff.handoff_url} look="secondary" />}
      <Folds>
        {handoff !== null && (
          <Fold title={t.linkInstead} icon="outside">
            <label className="block space-y-1">
              <span className="font-medium">{t.linkToCopy}</span>
              <input
                readOnly
                value={handoff.handoff_url}
                onFocus={(event) => event.target.select()}
                className="min-h-12 w-full rounded-control border border-field bg-paper px-3 text-small"
              />
            </label>
            <p className="text-small text-muted">{t.linkIsSecret}</p>
            <Button look="secondary" className="w-full sm:w-auto" onClick={() => void copy()}>
              <Icon name={copied ? "check" : "copy"} />
              {copied ? t.linkCopied : t.copyLink}
            </Button>
          </Fold>
        )}
        <DevicesHelp />
      </Folds>
    </>
  );
}

/** Which phones have an app. Nothing where there is none: the operator then has devices of another kind. */
function phonesFor(t: Messages, { android, ios }: Details["reader_apps"]): string {
  if (android !== null) return ios !== null ? t.phonesBoth : t.phonesAndroid;
  return ios !== null ? t.phonesIphone : "";
}

/**
 * This page came by a code, on a phone whose browser cannot read. It must not take the session from a device that can, so it leads to the
 * app, or says that it cannot.
 */
export function ScannedScreen({
  session,
  details,
  way,
  appMissing,
}: {
  session: Session;
  details: Details;
  way: Way;
  appMissing: boolean;
}) {
  const { t } = useWords();
  const { handoff } = useHandoff(session);
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
  return (
    <Screen key="no-reader" title={t.noReaderTitle} lead={t.noReaderText} icon="chip">
      <Folds>
        <DevicesHelp open />
      </Folds>
      <WhoHelps organization={details.organization} />
    </Screen>
  );
}

export function DevicesHelp({ open = false }: { open?: boolean }) {
  const { t } = useWords();
  return (
    <Fold title={t.whichDevices} icon="chip" open={open}>
      <Points
        points={[
          ["phone", t.deviceShell],
          ["document", t.deviceDesk],
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
  return { handoff: expired ? null : (made?.handoff ?? null), failing: failures > 0 };
}
