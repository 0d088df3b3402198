import type { HelperRole } from "../helper-process.ts";
import { openWithoutDatabase } from "../installation/open-installation.ts";
import { secondMs } from "../kernel/clock.ts";
import { describeError } from "../lib/log.ts";

export const helperRoles = ["chip", "face"] as const satisfies readonly HelperRole[];

export function isHelperRole(role: string): role is HelperRole {
  return helperRoles.some((known) => known === role);
}

/** Runs a process that works for api processes until it gets SIGINT or SIGTERM. */
export async function serveHelper(role: HelperRole): Promise<number> {
  const startedAt = performance.now();
  const { config, log, ring } = openWithoutDatabase(process.env);
  const { startHelper } = await import("../helper-process.ts");
  const helper = await startHelper({ config, log, ring, role });
  const ended = Promise.withResolvers<number>();
  const shutDown = async (signal: string) => {
    log.info("shutting down", { signal });
    setTimeout(() => {
      // Whoever called asks another process.
      log.error("calls did not finish in time; ending anyway", {
        graceSeconds: config.shutdownGraceSeconds,
      });
      process.exit(1);
    }, config.shutdownGraceSeconds * secondMs).unref();
    await helper.close();
    log.info("stopped");
    ended.resolve(0);
  };
  let stopping = false;
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      // The second signal of an impatient operator ends the process at once.
      if (stopping) process.exit(130);
      stopping = true;
      shutDown(signal).catch((error) => {
        log.error("shutting down failed", describeError(error));
        ended.resolve(1);
      });
    });
  }
  const milliseconds = Math.round(performance.now() - startedAt);
  log.info("started", { role, address: helper.url, callPort: helper.callPort, milliseconds });
  return ended.promise;
}
