import { type RefObject, useRef, useState } from "react";
import { Button } from "./button.tsx";

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
      <p className="text-sm font-medium">{props.label}</p>
      <div className="flex flex-wrap items-center gap-2">
        <code
          ref={text}
          className="min-w-0 flex-1 basis-48 rounded-lg bg-code px-3 py-2 font-mono text-sm break-all"
        >
          {props.value}
        </code>
        <Button onClick={() => void copy()} label={`Copy ${props.label.toLowerCase()}`}>
          Copy
        </Button>
      </div>
      <output className="block min-h-5 text-sm text-muted">{said}</output>
    </div>
  );
}

/** An identifier, short enough for a row and complete on demand. */
export function Id({ value }: { value: string }) {
  const short = value.length > 20 ? `${value.slice(0, 12)}…${value.slice(-4)}` : value;
  return (
    <code className="font-mono text-sm whitespace-nowrap" title={value}>
      {short}
    </code>
  );
}

/** An identifier in full, for logs and questions. */
export function CopyId({ value }: { value: string }) {
  const text = useRef<HTMLElement>(null);
  const { said, copy } = useCopy(value, text);
  return (
    <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
      <code ref={text} className="min-w-0 font-mono text-sm break-all">
        {value}
      </code>
      <Button small onClick={() => void copy()} label="Copy the identifier">
        Copy
      </Button>
      <output className="text-sm text-muted">{said}</output>
    </span>
  );
}
