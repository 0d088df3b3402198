import { writeSync } from "node:fs";

const flushAfterMs = 20;
const flushAtLength = 16 * 1024;

/**
 * Writes log lines to standard output in batches: a write for each line would cost more than many of the requests it tells
 * of. What is still waiting when the process ends is written then.
 */
export function createLogWriter(): (line: string) => void {
  let waiting = "";
  let timer: NodeJS.Timeout | undefined;
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    const text = waiting;
    waiting = "";
    if (text !== "") process.stdout.write(text);
  };
  process.once("exit", () => {
    // At this point streams are no longer flushed, so the rest is written to the file descriptor directly.
    if (waiting !== "") writeSync(1, waiting);
  });
  return (line) => {
    waiting += line;
    if (waiting.length >= flushAtLength) flush();
    else timer ??= setTimeout(flush, flushAfterMs).unref();
  };
}
