import { writeSync } from "node:fs";

const flushAfterMs = 20;
const flushAtLength = 16 * 1024;
/**
 * What may be buffered for a stuck reader. With half, the restart of a collector under load loses lines. With
 * twice, each process may need that much more memory.
 */
const maxWaitingBytes = 8 * 1024 * 1024;

/**
 * Writes log lines in batches, because a write for each line costs more than many requests. A closed reader
 * or a full disk loses lines, but never ends the process. If a reader is stuck, lines beyond some megabytes
 * are dropped, and `onDropped` later gets their number.
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
  /** Registered with the first line: commands write none, and one process may run many commands. */
  const listen = () => {
    isListening = true;
    // A failed stream accepts nothing more, so later lines go to the file descriptor.
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
    // One gap is easier to read than many, so lines are dropped until the reader has caught up.
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
    // There is no place left to report it.
  }
}
