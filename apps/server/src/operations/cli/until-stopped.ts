import { onStopSignal } from "@assay/cli/stop-signals";
import { describeError, type Log } from "../../platform/lib/log.ts";

/** Stops at the first SIGINT or SIGTERM, and resolves with the exit code of the process. */
export function untilStopped(
  log: Log,
  stop: (signal: "SIGINT" | "SIGTERM") => Promise<void>,
): Promise<number> {
  const ended = Promise.withResolvers<number>();
  onStopSignal(["SIGINT", "SIGTERM"], (signal) => {
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
  return ended.promise;
}
