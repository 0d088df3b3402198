import type { ReactNode } from "react";
import { t } from "../i18n/words.ts";
import { Icon, type IconName } from "./icon.tsx";
import { Time } from "./time.tsx";

export type EntryState = "done" | "now" | "failed" | "warn" | "open";

/** The events of an object, oldest first. */
export function Timeline({ children }: { children: ReactNode }) {
  return <ol>{children}</ol>;
}

export function Entry(props: {
  name: ReactNode;
  state: EntryState;
  at?: string | null | undefined;
  note?: ReactNode;
  /** Content below the entry, such as a request and its response. */
  children?: ReactNode;
}) {
  const { circle, icon } = looks[props.state];
  return (
    <li className="group relative flex gap-3 pb-5 last:pb-0">
      <span
        aria-hidden="true"
        className="absolute start-3 top-7 bottom-0 -ms-px w-0.5 bg-line group-last:hidden forced-colors:bg-[CanvasText]"
      />
      <span
        className={`mt-0.5 inline-flex size-6 flex-none items-center justify-center rounded-full border ${circle}`}
      >
        {icon === null ? null : <Icon name={icon} className="size-3.5" />}
        <span className="sr-only">{t.ui.entry[props.state]}</span>
      </span>
      <div className="min-w-0 flex-1">
        <span className={props.state === "open" ? "text-muted" : "font-medium"}>{props.name}</span>
        <span className="block text-small text-muted">
          {props.at ? <Time exact at={props.at} /> : null}
          {props.at && props.note ? " · " : null}
          {props.note}
        </span>
        {props.children}
      </div>
    </li>
  );
}

const looks: Record<EntryState, { circle: string; icon: IconName | null }> = {
  done: { circle: "border-good bg-good-soft text-good", icon: "check" },
  now: { circle: "border-field bg-soft text-ink", icon: "clock" },
  warn: { circle: "border-warn bg-warn-soft text-warn", icon: "clock" },
  failed: { circle: "border-bad bg-bad-soft text-bad", icon: "x" },
  open: { circle: "border-field", icon: null },
};
