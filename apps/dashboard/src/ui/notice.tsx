import type { ReactNode } from "react";
import type { Problem } from "../api/call.ts";
import { plainWords } from "./plain-words.ts";

const looks = {
  bad: "border-bad bg-bad-tint text-bad",
  warn: "border-warn bg-warn-tint text-warn",
  good: "border-good bg-good-tint text-good",
  info: "border-line bg-tint text-ink",
} as const;

/** Says what happened. A problem interrupts a screen reader; everything else waits for its turn. */
export function Notice(props: {
  kind: keyof typeof looks;
  problem?: Problem;
  children?: ReactNode;
  id?: string;
}) {
  const content = (
    <>
      {props.problem ? (
        <>
          <p className="font-semibold">{plainWords(props.problem.message)}</p>
          {props.problem.hint === "" ? null : <p className="text-sm">{plainWords(props.problem.hint)}</p>}
        </>
      ) : null}
      {props.children}
    </>
  );
  const className = `block w-full rounded-lg border-l-4 px-4 py-3 my-3 space-y-1 ${looks[props.kind]}`;
  return props.kind === "bad" ? (
    <div role="alert" id={props.id} className={className}>
      {content}
    </div>
  ) : (
    <div aria-live="polite" id={props.id} className={className}>
      {content}
    </div>
  );
}
