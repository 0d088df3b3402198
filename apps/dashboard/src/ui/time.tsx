import { useSyncExternalStore } from "react";
import { dayText, relativeTime, zonedTime } from "./times.ts";

// How often the times on a page are refreshed.
const tickMs = 30_000;
let now = Date.now();

function useNow(): Date {
  const at = useSyncExternalStore(
    (listener) => {
      const timer = setInterval(() => {
        now = Date.now();
        listener();
      }, tickMs);
      return () => clearInterval(timer);
    },
    () => {
      // While no time is shown, nothing updates `now`: after a pause it would be old.
      const present = Date.now();
      if (Math.abs(present - now) >= tickMs) now = present;
      return now;
    },
  );
  return new Date(at);
}

/**
 * A moment, relative to now; hover or focus shows it in full. `full` shows both. `exact` shows seconds.
 * `ahead` is for a moment in the future.
 */
export function Time(props: {
  at: string | null;
  never?: string;
  exact?: boolean;
  full?: boolean;
  ahead?: boolean;
}) {
  const present = useNow();
  if (props.at === null) return <span className="text-muted">{props.never ?? "–"}</span>;
  const at = new Date(props.at);
  const whole = zonedTime(at, props.exact);
  const relative = relativeTime(at, present, props.ahead);
  if (props.exact || props.full)
    return (
      <time dateTime={props.at} title={props.at}>
        {whole}
        {props.full && relative !== null ? <span className="text-muted"> ({relative})</span> : null}
      </time>
    );
  return (
    <time
      dateTime={props.at}
      title={whole}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users reach the exact time with Tab.
      tabIndex={0}
      className="group md:whitespace-nowrap"
    >
      <span className="group-focus-visible:hidden">{relative ?? dayText(at)}</span>
      <span className="hidden group-focus-visible:inline">{whole}</span>
    </time>
  );
}
