import { Actions, Button } from "@assay/ui/button";
import { HoldPhone } from "@assay/ui/hold-phone";
import { Notice } from "@assay/ui/notice";
import { useEffect } from "react";
import { failureWords, triesWords, useWords } from "../i18n/language.ts";
import type { Status } from "../session/api.ts";
import { planned, stepOfPhase } from "../session/steps.ts";
import type { Session } from "../session/use-session.ts";
import { LostConnection } from "../ui/connection.tsx";
import { Card, Screen, useAnnounce } from "../ui/screen.tsx";
import { StepMark } from "../ui/step-mark.tsx";

type Words = ReturnType<typeof useWords>["t"];

/** What the other device is doing, as far as the service reports it. */
function doing(t: Words, status: Status): string {
  switch (status.attempt?.step) {
    case "chip":
      return t.otherChip;
    case "chip_check":
    case "chip_proof":
      return t.otherChipCheck;
    case "face":
    case "face_capture":
    case "face_check":
      return t.otherFace;
    default:
      return t.otherWaiting;
  }
}

export function FollowScreen({
  session,
  status,
  onNewCode,
  onResume,
}: {
  session: Session;
  status: Status;
  /** Null on a device that came by a code: a new one comes from the page where the person began. */
  onNewCode: (() => void) | null;
  /** Goes on here, where this device has begun and was interrupted, or has the session open twice. */
  onResume: (() => void) | null;
}) {
  const { t } = useWords();
  const announce = useAnnounce();
  const now = doing(t, status);
  const steps: readonly { doing: string; done: string | null }[] = [
    { doing: t.otherWaiting, done: t.otherDone.waiting },
    { doing: t.otherChip, done: t.otherDone.chip },
    { doing: t.otherChipCheck, done: t.otherDone.chipCheck },
    // After the face the session has ended, and this page shows how.
    { doing: t.otherFace, done: null },
  ];
  const at = steps.findIndex(({ doing }) => doing === now);
  const step = stepOfPhase(status, status.attempt?.step ?? null);
  const tried = planned(status).some(({ tries_used: used }) => used > 0);
  const left = step && triesWords(t, step.tries_left);
  useEffect(() => announce(now), [announce, now]);
  const waitsFor = status.attempt?.step;
  const refused = waitsFor === "chip" || waitsFor === "face" ? status.attempt?.refused : null;
  const why = refused && failureWords(t, refused.failure_code, refused.unmet_requirement);
  const gone = status.attempt !== null && !status.attempt.heard_recently;
  if (onResume !== null)
    return (
      <Screen key="resume" title={t.resumeTitle} lead={t.resumeText}>
        <Actions>
          <Button onClick={onResume}>{t.resumeButton}</Button>
          {onNewCode !== null && (
            <Button look="secondary" onClick={onNewCode}>
              {t.otherNewCode}
            </Button>
          )}
        </Actions>
        {tried && <p className="text-muted">{left}</p>}
        <LostConnection connected={session.connected} />
      </Screen>
    );
  return (
    <Screen title={t.otherTitle} lead={t.otherLead} picture={<HoldPhone />}>
      <Card>
        <ol className="space-y-3">
          {steps.map(({ doing, done }, index) => (
            <li
              key={doing}
              aria-current={index === at ? "step" : undefined}
              className={`flex items-center gap-3 ${index === at ? "font-semibold" : "text-muted"}`}
            >
              <StepMark state={index < at ? "done" : index === at ? "now" : "next"} />
              {index < at ? done : doing}
              {index < at && <span className="sr-only"> ({t.stepDoneState})</span>}
            </li>
          ))}
        </ol>
        {tried && <p className="text-muted">{left}</p>}
      </Card>
      {gone && <Notice look="warn" title={t.otherGone} />}
      {why && (
        <Notice look="warn" title={t.otherRefused} urgent>
          <p className="font-semibold">{why.title}</p>
          <p>
            {why.text} {why.next}
          </p>
        </Notice>
      )}
      {waitsFor === "face" && !why && (
        <Notice look="info" title={t.otherFaceNext} urgent>
          <p>{t.otherFaceNextText}</p>
        </Notice>
      )}
      <LostConnection connected={session.connected} />
      {onNewCode !== null && (
        <Actions>
          <Button look="secondary" onClick={onNewCode}>
            {t.otherNewCode}
          </Button>
        </Actions>
      )}
    </Screen>
  );
}
