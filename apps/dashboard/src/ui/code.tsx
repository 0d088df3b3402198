import { useRef } from "react";
import { CopyButton } from "./copy.tsx";
import { inSentence } from "./in-sentence.ts";

/** Code or a long text with a copy button. It scrolls, also by keyboard. */
export function Code(props: { label: string; text: string; wrap?: boolean }) {
  const text = useRef<HTMLPreElement>(null);
  return (
    <div className="min-w-0">
      <div className="flex items-center justify-between gap-2">
        <p className="text-small font-medium">{props.label}</p>
        <CopyButton value={props.text} what={inSentence(props.label)} text={text} />
      </div>
      <section
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard.
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
    </div>
  );
}
