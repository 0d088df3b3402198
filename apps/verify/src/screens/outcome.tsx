import { sessionLifetimeMinutes } from "@assay/contract/facts";
import { Actions, Button, LinkButton } from "@assay/ui/button";
import { Fold, Folds } from "@assay/ui/fold";
import { Icon } from "@assay/ui/icon";
import { AllDone } from "@assay/ui/illustrations";
import { Notice } from "@assay/ui/notice";
import { useEffect, useMemo, useState } from "react";
import { displayContext } from "../device/display-context.ts";
import { CloseTab } from "../embed/frame-parts.tsx";
import { useHasScript } from "../embed/use-partner-page.ts";
import { goesBackByItself, wayBack } from "../embed/way-back.ts";
import { claimWords, failureWords, useWords } from "../i18n/language.ts";
import { codeOf, type Details, type Status } from "../session/api.ts";
import type { Kept } from "../session/kept.ts";
import type { Session } from "../session/use-session.ts";
import { Card, Points, Screen, useAnnounce } from "../ui/screen.tsx";
import { ReceiptScreen } from "./receipt.tsx";
import { WhoHelps } from "./who-helps.tsx";

const returnAfterSeconds = 8;

export function OutcomeScreen({
  session,
  details,
  status,
  failure: given,
  onDevice,
}: {
  session: Session;
  details: Details;
  status: Status;
  /** Why it failed, where that was no document with a chip. */
  failure?: ReturnType<typeof failureWords> | null;
  /** This page is only the reading device: the person continues elsewhere. */
  onDevice: boolean;
}) {
  const { t } = useWords();
  const name = details.organization.name;
  const [receipt, setReceipt] = useState<string | null>(null);
  const [hasRead, setHasRead] = useState(false);
  // Cancelling marks the consent as well; only after a success was there something to take back.
  const withdrawn = status.status === "succeeded" && details.consent?.withdrawn_at != null;
  const shared = (details.consent?.selected_field_keys ?? []).map((key) => claimWords(t, key).label);
  const goOn =
    displayContext() === "tab" ? (
      <CloseTab />
    ) : onDevice ? (
      <Notice look="info" title={t.deviceDoneTitle}>
        <p>{t.deviceDoneText}</p>
      </Notice>
    ) : (
      <Return
        to={status.return_url}
        kept={session.kept}
        name={name}
        automatic={
          !hasRead && goesBackByItself({ status: status.status, sawItOpen: session.sawItOpen, withdrawn })
        }
      />
    );
  const helps = !onDevice && <WhoHelps organization={details.organization} />;
  const consent = details.consent !== null && !onDevice && (
    <AfterConsent
      session={session}
      name={name}
      givenAt={details.consent.given_at}
      canWithdraw={status.status === "succeeded" && !withdrawn}
      onReceipt={(shown) => {
        setHasRead(true);
        setReceipt(shown);
      }}
    />
  );
  if (receipt !== null)
    return <ReceiptScreen api={session.api} receipt={receipt} onBack={() => setReceipt(null)} />;
  if (withdrawn)
    return (
      <Screen key="withdrawn" title={t.withdrawnTitle} lead={t.withdrawnText} icon="undo">
        {goOn}
        {consent}
      </Screen>
    );
  switch (status.status) {
    case "succeeded":
      return (
        <Screen
          key="succeeded"
          title={t.succeededTitle}
          lead={status.result_is_sent ? t.succeededText(name) : t.succeededSeen(name)}
          picture={<AllDone className="max-w-44" />}
        >
          {goOn}
          {status.result_is_sent && shared.length > 0 && (
            <Card title={t.sharedList}>
              <Points points={shared.map((label) => ["check", label] as const)} />
            </Card>
          )}
          {consent}
        </Screen>
      );
    case "failed": {
      const code = status.failure_code;
      const failure = given ?? (code === null ? null : failureWords(t, code, status.unmet_requirement));
      const ofFace = code === "liveness_failed" || code === "selfie_face_mismatch";
      return (
        <Screen
          key="failed"
          title={t.failedTitle}
          lead={t.failedNothingShared}
          icon={ofFace ? "face" : "document"}
        >
          {failure !== null && (
            <Card title={failure.title}>
              <p>{failure.text}</p>
              <h3 className="font-semibold">{t.nextTitle}</h3>
              <Points
                points={[
                  ["check", failure.next],
                  ["mail", t.failedAskAgain(name)],
                ]}
              />
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
        <Screen
          key="expired"
          title={t.expiredTitle}
          lead={t.expiredText(sessionLifetimeMinutes)}
          icon="clock"
        >
          <p>{t.failedAskAgain(name)}</p>
          {goOn}
          {helps}
          {consent}
        </Screen>
      );
    default:
      return (
        <Screen key="cancelled" title={t.cancelledTitle} lead={t.cancelledText} icon="undo">
          <p>{t.failedAskAgain(name)}</p>
          {goOn}
          {helps}
          {consent}
        </Screen>
      );
  }
}

/** Back to the partner: automatically after some seconds, unless the person wants to stay. */
function Return({
  to,
  kept,
  name,
  automatic,
}: {
  to: string | null;
  kept: Kept;
  name: string;
  automatic: boolean;
}) {
  const back = useMemo(() => wayBack(to, kept), [to, kept]);
  const { url } = back;
  const { t } = useWords();
  const announce = useAnnounce();
  const isFramed = displayContext() === "frame";
  // The parent page removes a frame with or without an address; without our script nothing does.
  const byScript = useHasScript();
  const canGo = isFramed ? byScript : url !== null;
  const [left, setLeft] = useState<number | null>(automatic ? returnAfterSeconds : null);
  const counting = canGo && left !== null;
  useEffect(() => {
    // Said once; a countdown read aloud would drown everything else.
    if (counting) announce(t.returnSoon(returnAfterSeconds));
  }, [announce, counting, t]);
  // A person who returns here wants to stay.
  useEffect(() => {
    const onShow = (event: PageTransitionEvent) => {
      if (event.persisted) setLeft(null);
    };
    // A person who unfolds something wants to read it.
    const onUnfold = () => setLeft(null);
    window.addEventListener("pageshow", onShow);
    document.addEventListener("toggle", onUnfold, true);
    return () => {
      window.removeEventListener("pageshow", onShow);
      document.removeEventListener("toggle", onUnfold, true);
    };
  }, []);
  useEffect(() => {
    if (!canGo || left === null) return;
    if (left <= 0) {
      back.go();
      return;
    }
    const timer = setTimeout(() => setLeft(left - 1), 1_000);
    return () => clearTimeout(timer);
  }, [canGo, back, left]);
  if (!canGo && url === null) return <p className="text-muted">{t.closePage}</p>;
  return (
    <div className="space-y-2">
      <div className="flex flex-col gap-3 sm:flex-row">
        {isFramed && canGo ? (
          <Button onClick={back.go}>{t.returnTo(name)}</Button>
        ) : (
          url !== null && (
            <LinkButton href={url} target={isFramed ? "_top" : undefined} onClick={back.forget}>
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
      {counting && left > 0 && <p className="text-small text-muted">{t.returnSoon(left)}</p>}
    </div>
  );
}

/** The receipt, and the way to take the agreement back: for who looks for it. */
function AfterConsent({
  session,
  name,
  givenAt,
  canWithdraw,
  onReceipt,
}: {
  session: Session;
  name: string;
  givenAt: string;
  canWithdraw: boolean;
  onReceipt: (receipt: string) => void;
}) {
  const { t, moment } = useWords();
  const [token, setToken] = useState(session.kept.cancelToken);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  if (token === null && !canWithdraw) return null;

  const show = async () => {
    if (token === null) return;
    setBusy(true);
    setProblem(null);
    try {
      onReceipt(await session.api.receipt(token));
    } catch {
      setProblem(t.connectionGone);
      setBusy(false);
    }
  };
  return (
    <Folds>
      {token !== null && (
        <Fold title={t.receiptTitle} icon="receipt">
          <p>
            {t.receiptText} {t.receiptGiven(moment(givenAt))}
          </p>
          <Button look="secondary" busy={busy} onClick={() => void show()}>
            {busy ? t.working : t.receiptShow}
          </Button>
          {problem !== null && (
            <Notice look="warn" urgent>
              <p>{problem}</p>
            </Notice>
          )}
        </Fold>
      )}
      {canWithdraw && (
        <Fold title={t.withdrawTitle} icon="undo">
          <Withdrawal session={session} name={name} token={token} onToken={setToken} />
        </Fold>
      )}
    </Folds>
  );
}

function Withdrawal({
  session,
  name,
  token,
  onToken,
}: {
  session: Session;
  name: string;
  token: string | null;
  onToken: (token: string) => void;
}) {
  const { t } = useWords();
  const announce = useAnnounce();
  const [asking, setAsking] = useState(false);
  const [busy, setBusy] = useState(false);
  const [typed, setTyped] = useState("");
  const [problem, setProblem] = useState<string | null>(null);
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
      onToken(code);
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
      <p>{t.withdrawText(name)}</p>
      {token === null ? (
        <label className="block space-y-1">
          <span className="font-medium">{t.withdrawCodeLabel}</span>
          <span className="block text-small text-muted">{t.withdrawCodeAsk}</span>
          <input
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
            autoComplete="off"
            spellCheck={false}
            className="min-h-12 w-full rounded-control border border-field bg-card px-3"
          />
        </label>
      ) : (
        <div className="space-y-2">
          <h3 className="font-semibold">{t.withdrawCode}</h3>
          <p className="text-small text-muted">{t.withdrawCodeText}</p>
          <code className="block rounded-control bg-soft px-3 py-2 text-small break-all">{token}</code>
          <Button look="quiet" className="px-0!" onClick={() => void copy()}>
            <Icon name="copy" className="size-4" />
            {t.copyCode}
          </Button>
        </div>
      )}
      {asking ? (
        <Actions>
          <Button look="secondary" onClick={() => setAsking(false)}>
            {t.withdrawKeep}
          </Button>
          <Button look="danger" busy={busy} onClick={() => void withdraw()}>
            {busy ? t.working : t.withdrawConfirm}
          </Button>
        </Actions>
      ) : (
        <Button look="secondary" onClick={() => setAsking(true)}>
          {t.withdrawButton}
        </Button>
      )}
      {problem !== null && (
        <Notice look="warn" urgent>
          <p>{problem}</p>
        </Notice>
      )}
    </>
  );
}
