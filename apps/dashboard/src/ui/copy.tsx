import { type ReactNode, type RefObject, useRef, useState } from "react";
import { Button, type Look } from "./button.tsx";
import { Icon } from "./icon.tsx";
import { shortId } from "./short-id.ts";
import { toast } from "./toasts.tsx";

/** Copies a text, and what to say about it. Where copying is not allowed, the text gets selected. */
export function useCopy(value: string, text: RefObject<HTMLElement | null>) {
  const [said, setSaid] = useState("");
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(value);
      setSaid("Copied.");
    } catch {
      if (text.current !== null) window.getSelection()?.selectAllChildren(text.current);
      setSaid("Selected. Copy it with the keyboard.");
    }
  };
  return { said, copy };
}

/** A value to take elsewhere, with a button that copies it. */
export function Copy(props: { label: string; value: string }) {
  const text = useRef<HTMLElement>(null);
  const { said, copy } = useCopy(props.value, text);
  return (
    <div className="space-y-1">
      <p className="text-small font-medium">{props.label}</p>
      <div className="flex flex-wrap items-center gap-2">
        <code
          ref={text}
          className="min-w-0 flex-1 basis-48 rounded-control bg-code px-3 py-2.5 font-mono text-small break-all"
        >
          {props.value}
        </code>
        <Button small icon="copy" onClick={() => void copy()} label={`Copy ${props.label.toLowerCase()}`}>
          Copy
        </Button>
      </div>
      <output className="block min-h-5 text-small text-muted">{said}</output>
    </div>
  );
}

/** An identifier, short enough for a row and complete on demand. */
export function Id({ value }: { value: string }) {
  return (
    <code className="font-mono text-small whitespace-nowrap" title={value}>
      {shortId(value)}
    </code>
  );
}

async function copyAndSay(value: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(value);
    toast("Copied.");
  } catch {
    toast(`This browser does not allow copying. It is: ${value}`, "warn");
  }
}

/** A button that copies something that stands elsewhere on the page, or nowhere. */
export function CopyValue(props: { value: string; look?: Look; children: ReactNode }) {
  return (
    <Button icon="copy" look={props.look} onClick={() => void copyAndSay(props.value)}>
      {props.children}
    </Button>
  );
}

/** Copies an identifier, beside its short form. */
export function CopyButton({ value, what }: { value: string; what: string }) {
  return (
    <button
      type="button"
      title={`Copy ${what}`}
      className="inline-flex size-8 items-center justify-center rounded-control text-muted hover:bg-soft hover:text-ink"
      onClick={() => void copyAndSay(value)}
    >
      <Icon name="copy" className="size-4" />
      <span className="sr-only">Copy {what}</span>
    </button>
  );
}

/** An identifier in full, for logs and questions. */
export function CopyId({ value }: { value: string }) {
  return (
    <span className="flex flex-wrap items-center gap-x-1">
      <code className="min-w-0 font-mono text-small break-all">{value}</code>
      <CopyButton value={value} what="the identifier" />
    </span>
  );
}
