import { type ReactNode, type RefObject, useRef } from "react";
import { t } from "../i18n/words.ts";
import { Button, type Look } from "./button.tsx";
import { Icon } from "./icon.tsx";
import { inSentence } from "./in-sentence.ts";
import { shortId } from "./short-id.ts";
import { toast } from "./toasts.tsx";

/** If the browser forbids copying, the text is selected, or shown if the page does not show it. */
export async function copyText(value: string, shown: HTMLElement | null = null): Promise<void> {
  try {
    await navigator.clipboard.writeText(value);
    toast(t.ui.copied);
  } catch {
    if (shown !== null) window.getSelection()?.selectAllChildren(shown);
    toast(shown === null ? t.ui.copyRefused(value) : t.ui.copySelected, "warn");
  }
}

/** The copy button: an icon beside a value, or a labelled action of the page. */
export function CopyButton(props: {
  value: string;
  /** What it copies, for screen readers. */
  what: string;
  text?: RefObject<HTMLElement | null>;
  look?: Look;
  children?: ReactNode;
}) {
  const copy = () => void copyText(props.value, props.text?.current ?? null);
  if (props.children !== undefined)
    return (
      <Button icon="copy" look={props.look} onClick={copy}>
        {props.children}
      </Button>
    );
  return (
    <button
      type="button"
      title={t.ui.copy(props.what)}
      className="inline-flex size-9 flex-none items-center justify-center rounded-control text-muted hover:bg-soft hover:text-ink"
      onClick={copy}
    >
      <Icon name="copy" className="size-4" />
      <span className="sr-only">{t.ui.copy(props.what)}</span>
    </button>
  );
}

/** A value with a copy button. */
export function Copy(props: { label: string; value: string }) {
  const text = useRef<HTMLElement>(null);
  return (
    <div className="mb-3 space-y-1">
      <p className="text-small font-medium">{props.label}</p>
      <div className="flex items-start gap-1 rounded-control bg-code ps-3">
        <code ref={text} className="min-w-0 flex-1 py-2 font-mono text-small break-all">
          {props.value}
        </code>
        <CopyButton value={props.value} what={inSentence(props.label)} text={text} />
      </div>
    </div>
  );
}

/** An identifier, shortened for a row and complete on demand. */
export function Id({ value }: { value: string }) {
  return (
    <code className="font-mono text-small whitespace-nowrap" title={value}>
      {shortId(value)}
    </code>
  );
}

/** An identifier in full, for logs and questions. */
export function CopyId({ value }: { value: string }) {
  return (
    <span className="flex items-start gap-x-1">
      <code className="min-w-0 py-1.5 font-mono text-small break-all">{value}</code>
      <CopyButton value={value} what="ID" />
    </span>
  );
}
