import { Actions, Button, QuietButton } from "@assay/ui/button";
import { Notice } from "@assay/ui/notice";
import { type ReactNode, useId, useRef, useState } from "react";
import { report } from "../embed/partner-page.ts";
import { wayBack } from "../embed/way-back.ts";
import { useWords } from "../i18n/language.ts";
import { codeOf } from "../session/api.ts";
import { troubleOf, troubleWords } from "../session/trouble.ts";
import type { Session } from "../session/use-session.ts";

/**
 * Ends the verification and returns to the partner: before consent by declining, afterwards with the consent
 * token. The dialogue asks once, because this cannot be undone.
 */
export function LeaveControl({
  session,
  name,
  look = "quiet",
  children,
}: {
  session: Session;
  name: string;
  look?: "quiet" | "secondary" | "primary";
  children: ReactNode;
}) {
  const { t } = useWords();
  const titleId = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState<ReturnType<typeof troubleOf> | null>(null);
  const token = session.kept.cancelToken;
  const agreed = session.status?.consent_given ?? false;
  const canLeave = !agreed || token !== null;
  const leave = async () => {
    setBusy(true);
    setFailed(null);
    try {
      const back = agreed && token !== null ? await cancel(session, token) : await decline(session);
      dialog.current?.close();
      await session.reload();
      // Reported here, because the status follower may be too late: the frame may be gone by then.
      report({ type: "state", status: "cancelled", step: null });
      wayBack(back, session.kept).go();
    } catch (error) {
      // The session was ended or agreed to elsewhere in the meantime; the page shows which.
      const answered = codeOf(error);
      if (answered !== null && answered !== "INTERNAL_SERVER_ERROR") {
        dialog.current?.close();
        await session.reload();
      } else setFailed(troubleOf(error));
    }
    setBusy(false);
  };
  const open = () => {
    setFailed(null);
    dialog.current?.showModal();
  };
  return (
    <>
      {look === "quiet" ? (
        <QuietButton onClick={open}>{children}</QuietButton>
      ) : (
        <Button look={look} className="max-sm:px-3" onClick={open}>
          {children}
        </Button>
      )}
      <dialog
        ref={dialog}
        aria-labelledby={titleId}
        className="arrives m-auto w-[min(28rem,calc(100%-2rem))] rounded-card border border-line bg-card p-6 text-base shadow-raised text-ink backdrop:bg-black/50"
      >
        <div className="space-y-4">
          <h2 id={titleId} className="text-xl font-semibold">
            {canLeave ? t.cancelAskTitle : t.cancelWhere}
          </h2>
          <p>{canLeave ? t.cancelAskText(name) : t.cancelElsewhere}</p>
          {failed !== null && (
            <Notice look="warn" title={troubleWords(t, failed).title} urgent>
              <p>{troubleWords(t, failed).text}</p>
            </Notice>
          )}
          <Actions>
            <Button look="secondary" onClick={() => dialog.current?.close()}>
              {canLeave ? t.cancelBack : t.receiptBack}
            </Button>
            {canLeave && (
              <Button look="danger" busy={busy} onClick={() => void leave()}>
                {busy ? t.working : t.cancelConfirm}
              </Button>
            )}
          </Actions>
        </div>
      </dialog>
    </>
  );
}

/** Where to go; null if the person stays on this page. */
async function decline({ api }: Session): Promise<string | null> {
  const address = await api.decline();
  return new URL(address).origin === location.origin ? null : address;
}

async function cancel({ api }: Session, token: string): Promise<string | null> {
  await api.cancel(token);
  // It is cancelled, even if its address cannot be read now.
  return await api.status().then(
    (status) => status.return_url,
    () => null,
  );
}
