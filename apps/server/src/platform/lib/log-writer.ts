import { writeSync } from "node:fs";

const flushAfterMs = 20;
const flushAtLength = 16 * 1024;
/**
 * What may wait for a reader that is stuck. Halved, a collector that restarts under load costs lines; doubled, each process may need that much more memory.
 */
const maxWaitingBytes = 8 * 1024 * 1024;

/**
 * Writes log lines to standard output in batches: a write for each line would cost more than many of the requests it tells
 * of. What is still waiting when the process ends is written then. A reader that went away or a disk that is full costs
 * lines, never the process; when it takes lines again, it gets them. So does one that is stuck: beyond some megabytes lines are dropped, and `onDropped` gets
 * their number once the reader has taken what waited.
 */
export function createLogWriter(onDropped: (lines: number) => void): (line: string) => void {
  let waiting = "";
  let dropped = 0;
  let timer: NodeJS.Timeout | undefined;
  let failed = false;
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    const text = waiting;
    waiting = "";
    if (text === "") return;
    if (failed) writeWhatFits(text);
    else process.stdout.write(text);
  };
  let isListening = false;
  /** With the first line: a command writes none, and one process may run many commands. */
  const listen = () => {
    isListening = true;
    // A stream that failed once takes nothing any more, so from then on lines go to the file descriptor.
    process.stdout.on("error", () => {
      failed = true;
    });
    process.stdout.on("drain", () => {
      if (dropped === 0) return;
      const lines = dropped;
      dropped = 0;
      onDropped(lines);
    });
    process.once("exit", () => {
      // At this point streams are no longer flushed.
      if (waiting !== "") writeWhatFits(waiting);
    });
  };
  return (line) => {
    if (!isListening) listen();
    // One gap is easier to read than many, so none is taken before the reader has caught up.
    if (dropped > 0 || process.stdout.writableLength > maxWaitingBytes) {
      dropped++;
      return;
    }
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
