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
      // Nothing ticks while no time is shown, so the first one after a while would be told from then.
      const present = Date.now();
      if (Math.abs(present - now) >= tickMs) now = present;
      return now;
    },
  );
  return new Date(at);
}

/**
 * A moment. In a list it is told from now, and in full with the zone to who points at it or tabs to it. `full` is for a
 * page about one thing: both at once. `exact` is with seconds, for what follows closely upon something else. `ahead` is
 * for what is still to come.
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
  const told = relativeTime(at, present, props.ahead);
  if (props.exact || props.full)
    return (
      <time dateTime={props.at} title={props.at}>
        {whole}
        {props.full && told !== null ? <span className="text-muted"> ({told})</span> : null}
      </time>
    );
  return (
    <time
      dateTime={props.at}
      title={whole}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: who has no pointer gets at the exact time by tabbing to it.
      tabIndex={0}
      className="group md:whitespace-nowrap"
    >
      <span className="group-focus-visible:hidden">{told ?? dayText(at)}</span>
      <span className="hidden group-focus-visible:inline">{whole}</span>
    </time>
  );
}
