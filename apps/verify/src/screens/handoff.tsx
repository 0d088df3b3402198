import { useCallback, useEffect, useState } from "react";
import { useWords } from "../i18n/language.ts";
import { shellTransport } from "../reading/chip-transport.ts";
import { codeOf, type Handoff } from "../session/api.ts";
import { clockOf, msUntil, type ServiceClock } from "../session/clock.ts";
import type { Session } from "../session/use-session.ts";
import { Button } from "../ui/button.tsx";
import { Notice } from "../ui/notice.tsx";
import { QrCode } from "../ui/qr-code.tsx";
import { Card, Screen, useAnnounce } from "../ui/screen.tsx";

/** A fresh code is shown this long before the old one dies, so that a scan under way still works. */
const renewBeforeMs = 60_000;
const tryAgainMs = 4_000;

export function HandoffScreen({
  session,
  sandbox,
  onReadHere,
}: {
  session: Session;
  sandbox: boolean;
  onReadHere: () => void;
}) {
  const { t } = useWords();
  const announce = useAnnounce();
  const { handoff, failing } = useHandoff(session);
  const shell = shellTransport();
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
  const [copied, setCopied] = useState(false);
  return (
    <Screen title={t.handoffTitle} lead={t.handoffKeepOpen}>
      {shell !== null && (
        <Card title={t.readHereTitle}>
          <p>{t.readHereShell}</p>
          <Button onClick={onReadHere}>{t.readHereButton}</Button>
        </Card>
      )}
      {sandbox && (
        <Card title={t.virtualTitle}>
          <p>{t.virtualLead}</p>
          <Button onClick={onReadHere}>{t.virtualButton}</Button>
        </Card>
      )}
      <section className="space-y-4 rounded-2xl border border-line bg-card p-5 sm:p-6">
        <p>{t.handoffLead}</p>
        {handoff === null ? (
          <p className="mx-auto grid aspect-square w-full max-w-72 place-items-center rounded-xl bg-soft p-6 text-center">
            {failing ? t.connectionLost : t.handoffPreparing}
          </p>
        ) : (
          <QrCode text={handoff.handoff_url} label={t.handoffAlt} />
        )}
        <p className="text-center text-sm text-muted">{t.handoffRenewed}</p>
        {handoff !== null && (
          <div className="space-y-2">
            <label className="block space-y-1">
              <span className="font-medium">{t.linkToCopy}</span>
              <input
                readOnly
                value={handoff.handoff_url}
                onFocus={(event) => event.target.select()}
                className="min-h-11 w-full rounded-lg border border-field bg-paper px-3 text-sm"
              />
            </label>
            <p className="text-sm text-muted">{t.linkIsSecret}</p>
            <Button look="secondary" onClick={() => void copy()}>
              {copied ? t.linkCopied : t.copyLink}
            </Button>
          </div>
        )}
      </section>
      <DevicesHelp />
      {!session.connected && <Notice look="warn" title={t.connectionLost} />}
      <p className="text-muted">{t.handoffWaiting}</p>
    </Screen>
  );
}

export function DevicesHelp({ open = false }: { open?: boolean }) {
  const { t } = useWords();
  return (
    <details open={open} className="rounded-2xl border border-line bg-card p-5">
      <summary className="min-h-6 cursor-pointer font-semibold">{t.whichDevices}</summary>
      <ul className="mt-3 list-disc space-y-1 pl-5">
        <li>{t.deviceShell}</li>
        <li>{t.deviceDesk}</li>
        <li>{t.deviceBrowser}</li>
      </ul>
    </details>
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
