import type { EmbeddedPostgresOptions } from "./cluster.ts";

const againAfterMs = 60_000;
/**
 * More than the number of different lines of one failure. Beyond it the oldest is forgotten, and logged again
 * when it recurs.
 */
const maxRemembered = 50;

/**
 * The prefix before the server has read its settings: time and process id, which differ between repeated
 * lines.
 */
const timeAndProcess = /\d{4}-\d\d-\d\d [\d:.]+ \w+ \[\d+\] /g;

/**
 * Logs a repeated line once a minute, with its count: a server that cannot start repeats its message each
 * time.
 */
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
