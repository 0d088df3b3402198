import { useRef, useState } from "react";
import { useWords } from "../i18n/language.ts";
import { codeOf } from "../session/api.ts";
import type { Session } from "../session/use-session.ts";
import { Button } from "../ui/button.tsx";
import { Notice } from "../ui/notice.tsx";

/** Cancel at any time; the dialogue asks once, because there is no way back. */
export function CancelControl({ session, name }: { session: Session; name: string }) {
  const { t } = useWords();
  const dialog = useRef<HTMLDialogElement>(null);
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState(false);
  const token = session.kept.cancelToken;
  const cancel = async () => {
    if (token === null) return;
    setBusy(true);
    setFailed(false);
    try {
      await session.api.cancel(token);
      dialog.current?.close();
      await session.reload();
    } catch (error) {
      // The session was ended from elsewhere in the meantime; the page shows how.
      if (codeOf(error) !== null) {
        dialog.current?.close();
        await session.reload();
      } else setFailed(true);
    }
    setBusy(false);
  };
  return (
    <>
      <button
        type="button"
        className="min-h-6 cursor-pointer py-1 text-left underline underline-offset-4 hover:text-ink"
        onClick={() => dialog.current?.showModal()}
      >
        {t.cancelButton}
      </button>
      <dialog
        ref={dialog}
        aria-labelledby="cancel-title"
        className="m-auto w-[min(28rem,calc(100%-2rem))] rounded-2xl border border-line bg-card p-6 text-base text-ink backdrop:bg-black/50"
      >
        <div className="space-y-4">
          <h2 id="cancel-title" className="text-xl font-semibold">
            {t.cancelAskTitle}
          </h2>
          <p>{token === null ? t.cancelElsewhere : t.cancelAskText(name)}</p>
          {failed && <Notice look="warn" title={t.connectionGone} urgent />}
          <div className="flex flex-col gap-3 sm:flex-row">
            {token !== null && (
              <Button look="danger" busy={busy} onClick={() => void cancel()}>
                {busy ? t.working : t.cancelConfirm}
              </Button>
            )}
            <Button look="secondary" onClick={() => dialog.current?.close()}>
              {t.cancelBack}
            </Button>
          </div>
        </div>
      </dialog>
    </>
  );
}
