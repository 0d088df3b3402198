import { type ReactNode, useRef } from "react";
import { Button } from "./button.tsx";
import { useCopy } from "./copy.tsx";

/** Lines of code or a long text, with a button that copies them. It scrolls by itself, with the keyboard too. */
export function Code(props: { label: string; text: string; wrap?: boolean; actions?: ReactNode }) {
  const text = useRef<HTMLPreElement>(null);
  const { said, copy } = useCopy(props.text, text);
  return (
    <div className="min-w-0">
      <div className="mb-1 flex flex-wrap items-center justify-between gap-2">
        <p className="text-small font-medium">{props.label}</p>
        <div className="flex flex-wrap items-center gap-2">
          {props.actions}
          <Button small icon="copy" onClick={() => void copy()} label={`Copy ${props.label.toLowerCase()}`}>
            Copy
          </Button>
        </div>
      </div>
      <section
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard.
        tabIndex={0}
        aria-label={props.label}
        className="max-h-96 overflow-auto rounded-control bg-code px-3 py-2"
      >
        <pre
          ref={text}
          className={`font-mono text-small leading-relaxed ${props.wrap ? "whitespace-pre-wrap break-all" : "w-max"}`}
        >
          {props.text}
        </pre>
      </section>
      <output className="block min-h-5 text-small text-muted">{said}</output>
    </div>
  );
}
