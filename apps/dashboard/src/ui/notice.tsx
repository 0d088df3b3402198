import type { ReactNode } from "react";
import type { Problem } from "../api/call.ts";
import { Icon, type IconName } from "./icon.tsx";
import { plainWords } from "./plain-words.ts";

const looks = {
  bad: { box: "border-bad/30 bg-bad-soft", mark: "text-bad", icon: "alert" },
  warn: { box: "border-warn/30 bg-warn-soft", mark: "text-warn", icon: "alert" },
  good: { box: "border-good/30 bg-good-soft", mark: "text-good", icon: "check" },
  info: { box: "border-line bg-soft", mark: "text-muted", icon: "info" },
} as const satisfies Record<string, { box: string; mark: string; icon: IconName }>;

/** Reports what happened. A problem interrupts a screen reader; other notices wait for its turn. */
export function Notice(props: {
  kind: keyof typeof looks;
  problem?: Problem;
  children?: ReactNode;
  id?: string;
}) {
  const { box, mark, icon } = looks[props.kind];
  const loud = props.kind === "bad" ? ({ role: "alert" } as const) : ({ "aria-live": "polite" } as const);
  return (
    <div
      {...loud}
      id={props.id}
      className={`my-3 flex w-full gap-3 rounded-control border px-4 py-3 text-ink ${box}`}
    >
      <Icon name={icon} className={`mt-0.5 size-5 ${mark}`} />
      <div className="min-w-0 flex-1 space-y-1">
        {props.problem ? (
          <>
            <p className="font-semibold" lang={props.problem.lang}>
              {plainWords(props.problem.message)}
            </p>
            {plainWords(props.problem.hint) === "" ? null : (
              <p className="text-small" lang={props.problem.lang}>
                {plainWords(props.problem.hint)}
              </p>
            )}
          </>
        ) : null}
        {props.children}
      </div>
    </div>
  );
}
