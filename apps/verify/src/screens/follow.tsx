import { useEffect, useState } from "react";
import { useWords } from "../i18n/language.ts";
import type { Status } from "../session/api.ts";
import type { Session } from "../session/use-session.ts";
import { Actions, Button } from "../ui/button.tsx";
import { Notice } from "../ui/notice.tsx";
import { Card, Screen, useAnnounce } from "../ui/screen.tsx";

type Words = ReturnType<typeof useWords>["t"];

/** What the other device is doing, as far as this page is told. */
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
  const { tries } = status;
  const tried = tries.nfc_tries_used > 0 || tries.liveness_tries_used > 0;
  const inFace = status.attempt?.step?.startsWith("face") ?? false;
  const left = t.triesLeft(inFace ? tries.liveness_tries_left : tries.nfc_tries_left);
  useEffect(() => announce(now), [announce, now]);
  // A chip that has passed may have to be read again, after an interruption: then its try was not refused.
  const [chipPassed, setChipPassed] = useState(false);
  useEffect(() => {
    if (inFace) setChipPassed(true);
  }, [inFace]);
  const waitsFor = status.attempt?.step;
  const refused =
    (waitsFor === "chip" && tries.nfc_tries_used > 0 && !chipPassed) ||
    (waitsFor === "face" && tries.liveness_tries_used > 0);
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
        {!session.connected && <Notice look="warn" title={t.connectionLost} />}
      </Screen>
    );
  return (
    <Screen title={t.otherTitle} lead={t.otherLead}>
      <Card>
        <p className="flex items-center gap-3 text-lg font-medium">
          <span aria-hidden="true" className="size-3 flex-none animate-pulse rounded-full bg-accent" />
          {now}
        </p>
        {tried && <p className="text-muted">{left}</p>}
      </Card>
      {gone && <Notice look="warn" title={t.otherGone} />}
      {refused && (
        <Notice look="warn" title={t.otherRefused} urgent>
          <p>{t.otherRefusedText}</p>
        </Notice>
      )}
      {waitsFor === "face" && !refused && (
        <Notice look="info" title={t.otherFaceNext} urgent>
          <p>{t.otherFaceNextText}</p>
        </Notice>
      )}
      {!session.connected && <Notice look="warn" title={t.connectionLost} />}
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
