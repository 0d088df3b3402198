import { writeSync } from "node:fs";

const flushAfterMs = 20;
const flushAtLength = 16 * 1024;

/**
 * Writes log lines to standard output in batches: a write for each line would cost more than many of the requests it tells
 * of. What is still waiting when the process ends is written then. A reader that went away or a disk that is full costs
 * lines, never the process; when it takes lines again, it gets them.
 */
export function createLogWriter(): (line: string) => void {
  let waiting = "";
  let timer: NodeJS.Timeout | undefined;
  let failed = false;
  // A stream that failed once takes nothing any more, so from then on lines go to the file descriptor.
  process.stdout.on("error", () => {
    failed = true;
  });
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    const text = waiting;
    waiting = "";
    if (text === "") return;
    if (failed) writeWhatFits(text);
    else process.stdout.write(text);
  };
  process.once("exit", () => {
    // At this point streams are no longer flushed.
    if (waiting !== "") writeWhatFits(waiting);
  });
  return (line) => {
    waiting += line;
    if (waiting.length >= flushAtLength) flush();
    else timer ??= setTimeout(flush, flushAfterMs).unref();
  };
}

function writeWhatFits(text: string): void {
  try {
    for (let rest = Buffer.from(text); rest.length > 0; ) rest = rest.subarray(writeSync(1, rest));
  } catch {
    // There is nowhere left to tell it.
  }
}
