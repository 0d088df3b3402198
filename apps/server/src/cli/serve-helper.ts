import type { HelperRole } from "../helper-process.ts";
import { openWithoutDatabase } from "../installation/open-installation.ts";
import { secondMs } from "../kernel/clock.ts";
import { untilStopped } from "./until-stopped.ts";

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
  const ended = untilStopped(log, async () => {
    setTimeout(() => {
      // Whoever called asks another process.
      log.error("calls did not finish in time; ending anyway", {
        graceSeconds: config.shutdownGraceSeconds,
      });
      process.exit(1);
    }, config.shutdownGraceSeconds * secondMs).unref();
    await helper.close();
  });
  const milliseconds = Math.round(performance.now() - startedAt);
  log.info("started", { role, address: helper.url, callPort: helper.callPort, milliseconds });
  return ended;
}
