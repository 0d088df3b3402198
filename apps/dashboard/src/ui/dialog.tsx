import { type ReactNode, type RefObject, useId, useLayoutEffect, useRef, useState } from "react";
import { problemOf } from "../api/call.ts";
import { t } from "../i18n/words.ts";
import { Button, useAction } from "./button.tsx";
import { Icon } from "./icon.tsx";
import { Notice } from "./notice.tsx";
import { toast } from "./toasts.tsx";

/** A slow browser needs this long to redraw the list. Until then a key press has no focus to start from. */
const afterListMs = 200;

/**
 * Shows the element as a modal dialog. React removes it before the browser restores the focus, so this hook
 * does. `whenClosed` receives whether the opener still existed.
 */
export function useModal(
  dialog: RefObject<HTMLDialogElement | null>,
  whenClosed: (isFocusBack: boolean) => void = () => {},
): void {
  // Before the first paint: until the dialog is modal, a user could click the page behind it.
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is shown once.
  useLayoutEffect(() => {
    const element = dialog.current;
    const opener = document.activeElement;
    element?.showModal();
    return () => {
      element?.close();
      const isThere = opener instanceof HTMLElement && opener.isConnected;
      if (isThere) opener.focus();
      whenClosed(isThere);
    };
  }, []);
}

/** A modal dialog, shown while it is rendered. */
export function Dialog(props: { title: string; onClose: () => void; children: ReactNode; wide?: boolean }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useModal(dialog, (isFocusBack) => {
    // The opener may be gone, such as a deleted row.
    if (!isFocusBack) document.querySelector("h1")?.focus();
    // The list may drop the row, and with it the focus, a moment after the dialog has closed.
    setTimeout(() => {
      if (document.activeElement === document.body) document.querySelector("h1")?.focus();
    }, afterListMs);
  });
  return (
    <dialog
      ref={dialog}
      aria-labelledby={titleId}
      className={`w-[calc(100%-2rem)] ${props.wide ? "max-w-2xl" : "max-w-lg"} max-h-[calc(100dvh-2rem)] overflow-y-auto text-start text-base rounded-card border border-line bg-card text-ink p-5 shadow-raised sm:p-6`}
      onCancel={(event) => {
        event.preventDefault();
        props.onClose();
      }}
    >
      <div className="flex items-start justify-between gap-4 mb-4">
        <h2 id={titleId} className="text-part font-semibold">
          {props.title}
        </h2>
        <button
          type="button"
          aria-label={t.ui.close}
          className="-me-2 -mt-1 inline-flex size-9 flex-none items-center justify-center rounded-control text-muted hover:bg-soft hover:text-ink"
          onClick={props.onClose}
        >
          <Icon name="x" />
        </button>
      </div>
      {props.children}
    </dialog>
  );
}

type Question = {
  title: string;
  explanation: ReactNode;
  confirm: string;
  run: () => Promise<unknown>;
  look?: "plain" | "danger" | "primary";
  /** Shown on success. */
  done?: string;
};

/** Asks before an action that cannot be undone. */
export function ConfirmDialog(props: Question & { onClose: () => void }) {
  const { busy, error, run } = useAction(async () => {
    await props.run();
    props.onClose();
    if (props.done !== undefined) toast(props.done);
  });
  return (
    <Dialog title={props.title} onClose={props.onClose}>
      <div className="space-y-4">
        <div>{props.explanation}</div>
        {error === null ? null : <Notice kind="bad" problem={problemOf(error)} />}
        <div className="flex flex-wrap gap-3">
          <Button onClick={props.onClose}>{t.ui.goBack}</Button>
          <Button
            look={props.look === undefined || props.look === "danger" ? "danger" : "primary"}
            disabled={busy}
            onClick={() => void run()}
          >
            {props.confirm}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}

/** A button that asks for confirmation. */
export function ConfirmButton(
  props: Question & {
    children: ReactNode;
    small?: boolean;
    wide?: boolean;
    label?: string;
    disabled?: boolean;
  },
) {
  const [asking, setAsking] = useState(false);
  return (
    <>
      <Button
        look={props.look ?? "danger"}
        small={props.small}
        wide={props.wide}
        label={props.label}
        disabled={props.disabled}
        onClick={() => setAsking(true)}
      >
        {props.children}
      </Button>
      {asking ? <ConfirmDialog {...props} onClose={() => setAsking(false)} /> : null}
    </>
  );
}
