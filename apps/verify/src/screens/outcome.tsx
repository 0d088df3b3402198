import { sessionLifetimeMinutes } from "@assay/contract/facts";
import { type ReactNode, useEffect, useState } from "react";
import { CloseTab } from "../embed/frame-parts.tsx";
import { goBack } from "../embed/partner-page.ts";
import { placeNow } from "../embed/place.ts";
import { useHasScript } from "../embed/use-partner-page.ts";
import { claimWords, failureWords, useWords } from "../i18n/language.ts";
import { codeOf, type Details, type Status } from "../session/api.ts";
import type { Session } from "../session/use-session.ts";
import { goesBackByItself } from "../session/way-back.ts";
import { Button, LinkButton } from "../ui/button.tsx";
import { Notice } from "../ui/notice.tsx";
import { Card, Screen, useAnnounce } from "../ui/screen.tsx";
import { WhoHelps } from "./who-helps.tsx";

const returnAfterSeconds = 8;

export function OutcomeScreen({
  session,
  details,
  status,
  onDevice,
}: {
  session: Session;
  details: Details;
  status: Status;
  /** This page is only the reading device: the person goes on elsewhere. */
  onDevice: boolean;
}) {
  const { t } = useWords();
  const name = details.organization.name;
  // Cancelling marks the consent as well; only after a success was there something to take back.
  const withdrawn = status.status === "succeeded" && details.consent?.withdrawn_at != null;
  const shared = (details.consent?.selected_field_keys ?? []).map((key) => claimWords(t, key).label);
  const goOn =
    placeNow() === "tab" ? (
      <CloseTab />
    ) : onDevice ? (
      <Notice look="info" title={t.deviceDoneTitle}>
        <p>{t.deviceDoneText}</p>
      </Notice>
    ) : (
      <Return
        url={status.return_url}
        name={name}
        automatic={goesBackByItself({ status: status.status, sawItOpen: session.sawItOpen, withdrawn })}
      />
    );
  const helps = !onDevice && <WhoHelps organization={details.organization} />;
  const consent = details.consent !== null && !onDevice && (
    <AfterConsent
      session={session}
      name={name}
      givenAt={details.consent.given_at}
      canWithdraw={status.status === "succeeded" && !withdrawn}
    />
  );
  if (withdrawn)
    return (
      <Screen title={t.withdrawnTitle} lead={t.withdrawnText} look="neutral">
        {goOn}
        {consent}
      </Screen>
    );
  switch (status.status) {
    case "succeeded":
      return (
        <Screen title={t.succeededTitle} lead={t.succeededText(name)} look="good">
          {shared.length > 0 && (
            <div>
              <p className="font-semibold">{t.sharedList}</p>
              <ul className="list-disc pl-5">
                {shared.map((label) => (
                  <li key={label}>{label}</li>
                ))}
              </ul>
            </div>
          )}
          {goOn}
          {consent}
        </Screen>
      );
    case "failed": {
      const failure =
        status.failure_code === null ? null : failureWords(t, status.failure_code, status.unmet_requirement);
      return (
        <Screen title={t.failedTitle} lead={t.failedNothingShared} look="bad">
          {failure !== null && (
            <Card title={failure.title}>
              <p>{failure.text}</p>
              <h3 className="font-semibold">{t.nextTitle}</h3>
              <ul className="list-disc space-y-1 pl-5">
                <li>{failure.next}</li>
                <li>{t.failedAskAgain(name)}</li>
              </ul>
            </Card>
          )}
          {goOn}
          {helps}
          {consent}
        </Screen>
      );
    }
    case "expired":
      return (
        <Screen title={t.expiredTitle} lead={t.expiredText(sessionLifetimeMinutes)} look="neutral">
          <p>{t.failedAskAgain(name)}</p>
          {goOn}
          {helps}
          {consent}
        </Screen>
      );
    default:
      return (
        <Screen title={t.cancelledTitle} lead={t.cancelledText} look="neutral">
          <p>{t.failedAskAgain(name)}</p>
          {goOn}
          {helps}
          {consent}
        </Screen>
      );
  }
}

/** Back to the partner: by itself after some seconds, unless the person wants to stay. */
function Return({ url, name, automatic }: { url: string | null; name: string; automatic: boolean }) {
  const { t } = useWords();
  const announce = useAnnounce();
  const isFramed = placeNow() === "frame";
  // The page around a frame takes it away, whether or not there is an address; without our script there is nobody to do so.
  const byScript = useHasScript();
  const canGo = isFramed ? byScript : url !== null;
  const [left, setLeft] = useState<number | null>(automatic ? returnAfterSeconds : null);
  const counting = canGo && left !== null;
  useEffect(() => {
    // Said once; a countdown read aloud would drown everything else.
    if (counting) announce(t.returnSoon(returnAfterSeconds));
  }, [announce, counting, t]);
  // Whoever comes back here wants to be here.
  useEffect(() => {
    const onShow = (event: PageTransitionEvent) => {
      if (event.persisted) setLeft(null);
    };
    window.addEventListener("pageshow", onShow);
    return () => window.removeEventListener("pageshow", onShow);
  }, []);
  useEffect(() => {
    if (!canGo || left === null) return;
    if (left <= 0) {
      goBack(url);
      return;
    }
    const timer = setTimeout(() => setLeft(left - 1), 1_000);
    return () => clearTimeout(timer);
  }, [canGo, url, left]);
  if (!canGo && url === null) return <p className="text-muted">{t.closePage}</p>;
  return (
    <div className="space-y-2">
      <div className="flex flex-col gap-3 sm:flex-row">
        {isFramed && canGo ? (
          <Button onClick={() => goBack(url)}>{t.returnTo(name)}</Button>
        ) : (
          url !== null && (
            <LinkButton href={url} target={isFramed ? "_top" : undefined}>
              {t.returnTo(name)}
            </LinkButton>
          )
        )}
        {counting && left > 0 && (
          <Button look="secondary" onClick={() => setLeft(null)}>
            {t.returnStay}
          </Button>
        )}
      </div>
      {counting && left > 0 && <p className="text-sm text-muted">{t.returnSoon(left)}</p>}
    </div>
  );
}

/** The receipt, and the way to take the agreement back. */
function AfterConsent({
  session,
  name,
  givenAt,
  canWithdraw,
}: {
  session: Session;
  name: string;
  givenAt: string;
  canWithdraw: boolean;
}) {
  const { t, moment } = useWords();
  const announce = useAnnounce();
  const [token, setToken] = useState(session.kept.cancelToken);
  const [asking, setAsking] = useState(false);
  const [busy, setBusy] = useState(false);
  const [typed, setTyped] = useState("");
  const [problem, setProblem] = useState<string | null>(null);

  const download = async () => {
    if (token === null) return;
    try {
      const receipt = await session.api.receipt(token);
      const url = URL.createObjectURL(new Blob([receipt], { type: "application/jose" }));
      const link = document.createElement("a");
      link.href = url;
      link.download = `consent-receipt-${session.api.sessionId.slice(0, 12)}.jws`;
      link.click();
      setTimeout(() => URL.revokeObjectURL(url), 10_000);
    } catch {
      setProblem(t.connectionGone);
    }
  };
  const withdraw = async () => {
    const code = token ?? typed.trim();
    if (code === "") {
      setProblem(t.withdrawCodeAsk);
      return;
    }
    setBusy(true);
    setProblem(null);
    try {
      await session.api.cancel(code);
      session.kept.cancelToken = code;
      setToken(code);
      await session.reload();
    } catch (error) {
      const answered = codeOf(error);
      setProblem(
        answered === "CANCEL_TOKEN_INVALID" || answered === "BAD_REQUEST"
          ? t.withdrawCodeWrong
          : answered === "CANCEL_TOKEN_USED" || answered === "SESSION_ENDED"
            ? t.withdrawUsed
            : t.connectionGone,
      );
      setBusy(false);
    }
  };
  const copy = async () => {
    if (token === null) return;
    try {
      await navigator.clipboard.writeText(token);
      announce(t.codeCopied);
    } catch {
      // Copying was refused; the text is on the page, to be copied by hand.
    }
  };
  return (
    <>
      {token !== null && (
        <Card title={t.receiptTitle}>
          <p>
            {t.receiptText} {t.receiptGiven(moment(givenAt))}
          </p>
          <Button look="secondary" onClick={() => void download()}>
            {t.receiptDownload}
          </Button>
          {canWithdraw && (
            <div className="space-y-2">
              <h3 className="font-semibold">{t.withdrawCode}</h3>
              <p className="text-sm text-muted">{t.withdrawCodeText}</p>
              <code className="block rounded-lg bg-soft px-3 py-2 text-sm break-all">{token}</code>
              <Button look="quiet" className="px-0!" onClick={() => void copy()}>
                {t.copyCode}
              </Button>
            </div>
          )}
        </Card>
      )}
      {canWithdraw && (
        <Card title={t.withdrawTitle}>
          <p>{t.withdrawText(name)}</p>
          {token === null && (
            <label className="block space-y-1">
              <span className="font-medium">{t.withdrawCodeLabel}</span>
              <span className="block text-sm text-muted">{t.withdrawCodeAsk}</span>
              <input
                value={typed}
                onChange={(event) => setTyped(event.target.value)}
                autoComplete="off"
                spellCheck={false}
                className="min-h-11 w-full rounded-lg border border-field bg-card px-3"
              />
            </label>
          )}
          {asking ? (
            <div className="flex flex-col gap-3 sm:flex-row">
              <Button look="danger" busy={busy} onClick={() => void withdraw()}>
                {busy ? t.working : t.withdrawConfirm}
              </Button>
              <Button look="secondary" onClick={() => setAsking(false)}>
                {t.cancelBack}
              </Button>
            </div>
          ) : (
            <Button look="danger" onClick={() => setAsking(true)}>
              {t.withdrawButton}
            </Button>
          )}
        </Card>
      )}
      {problem !== null && (
        <Notice look="warn" urgent>
          <p>{problem}</p>
        </Notice>
      )}
    </>
  );
}

export function MessageScreen({
  title,
  text,
  children,
}: {
  title: string;
  text: string;
  children?: ReactNode;
}) {
  return (
    <Screen title={title} lead={text} look="neutral">
      {children}
    </Screen>
  );
}
