import { describeError, type Log } from "../lib/log.ts";

/** Stops at SIGINT or SIGTERM, whichever comes first, and resolves with the exit code of the process. */
export function untilStopped(
  log: Log,
  stop: (signal: "SIGINT" | "SIGTERM") => Promise<void>,
): Promise<number> {
  const ended = Promise.withResolvers<number>();
  let stopping = false;
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      // The second signal of an impatient operator ends the process at once.
      if (stopping) process.exit(130);
      stopping = true;
      log.info("shutting down", { signal });
      stop(signal).then(
        () => {
          log.info("stopped");
          ended.resolve(0);
        },
        (error) => {
          log.error("shutting down failed", describeError(error));
          ended.resolve(1);
        },
      );
    });
  }
  return ended.promise;
}
