import type { EmbeddedPostgresOptions } from "./place.ts";

const againAfterMs = 60_000;
/** More than the different lines of one failure. Beyond it the oldest is forgotten, and is logged when it comes again. */
const maxRemembered = 50;

/** What a server writes before it knows its settings: the time and its process id, which differ in lines that say the same. */
const timeAndProcess = /\d{4}-\d\d-\d\d [\d:.]+ \w+ \[\d+\] /g;

/** Logs a line that repeats itself once a minute, with how often it came: a server that cannot start says the same each time. */
export function onceAMinute(
  log: EmbeddedPostgresOptions["log"],
  now: () => number = () => performance.now(),
): EmbeddedPostgresOptions["log"] {
  const seen = new Map<string, { loggedAt: number; since: number }>();
  return (line, level) => {
    const said = line.replace(timeAndProcess, "");
    const before = seen.get(said);
    if (before !== undefined && now() - before.loggedAt < againAfterMs) {
      before.since++;
      return;
    }
    const times = before === undefined ? 0 : before.since + 1;
    log(times > 1 ? `${line} (${times} times since it was last logged)` : line, level);
    seen.delete(said);
    seen.set(said, { loggedAt: now(), since: 0 });
    const [oldest] = seen.keys();
    if (seen.size > maxRemembered && oldest !== undefined) seen.delete(oldest);
  };
}
