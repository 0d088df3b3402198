import type { Command } from "@assay/cli/command";
import type { Style } from "@assay/cli/style";
import type { Service } from "../../app.ts";
import { reportProcessJob } from "../../job-names.ts";
import { loadConfig, rereadSecrets } from "../../load-config.ts";
import { checkAddress, explainListenError } from "../../platform/http/listen-address.ts";
import { openInstallation } from "../../platform/installation/open-installation.ts";
import { secondMs } from "../../platform/kernel/clock.ts";
import { describeError } from "../../platform/lib/log.ts";
import { mailFolder } from "../../platform/mails/mail-files.ts";
import { removedSettingNotices } from "../../removed-settings.ts";
import { ConfigError } from "../../settings/config-error.ts";
import type { ProcessRole } from "../operator/process-report.ts";
import { untilStopped } from "./until-stopped.ts";

const processRoles = ["all", "api", "worker"] as const satisfies readonly ProcessRole[];
const insteadOfHelpers =
  "Chips and faces are examined by the processes that answer people: run more of `assay start --role api`.";

async function serve(role: ProcessRole, print: (line: string) => void, style: Style): Promise<number> {
  const startedAt = Date.now();
  // Before anything is made: a taken port is the commonest reason why a start fails.
  await checkAddress(loadConfig(process.env));
  const installation = await openInstallation(process.env);
  const { config, log } = installation;
  for (const notice of removedSettingNotices(process.env)) log.warn(notice);
  let service: Service;
  try {
    // The whole service; the other commands answer sooner without it.
    const { startService } = await import("../../app.ts");
    service = await startService({ ...installation, role });
  } catch (error) {
    await installation.close();
    throw explainListenError(error, config);
  }

  const ended = untilStopped(log, async (signal) => {
    // Whoever presses Ctrl-C has no load balancer to wait for.
    const drains = signal === "SIGTERM";
    const drainSeconds = drains ? config.drainSeconds + config.drainAttemptSeconds : 0;
    const deadline = setTimeout(
      () => {
        log.error("requests did not finish in time; ending anyway", {
          graceSeconds: config.shutdownGraceSeconds,
        });
        process.exit(1);
      },
      (drainSeconds + config.shutdownGraceSeconds) * secondMs,
    );
    deadline.unref();
    if (drains) await service.drain();
    await service.close();
    await installation.close();
  });

  // In a terminal SIGHUP says that the terminal was closed, and ends the service.
  if (process.stdout.isTTY !== true) process.on("SIGHUP", () => reread(service));
  const address = service.core.publicUrl();
  // Whoever waits for a mail would otherwise look for it in a mailbox.
  if (config.smtpUrl === "")
    log.info("mails are written as files, since SMTP_URL is not set", { folder: mailFolder({ config }) });
  log.info("started", { role, address, milliseconds: Date.now() - startedAt });
  if (process.stdout.isTTY === true || config.databaseUrl === "") {
    for (const note of installation.notes) print(note);
    if (role !== "worker") {
      print("");
      print(
        `${style.width === null ? "" : `${style.mark("ok")} `}Assay is ready on ${style.paint("bold", address)}`,
      );
      print(`  Start page      ${address}/`);
      print(`  API reference   ${address}/reference`);
      print(`  First steps     ${address}/docs/first-verification`);
      if (config.smtpUrl === "")
        print(`  Mails           are written to ${mailFolder({ config })}, since SMTP_URL is not set`);
      print("");
      print("Stop it with Ctrl-C.");
    }
  }
  return ended;
}

/** Secrets that an operator or a secret manager has replaced. Connections that are open stay open. */
function reread({ core: { config, log }, runJob }: Service): void {
  try {
    log.info("secrets were read again", { settings: rereadSecrets(config, process.env).join(", ") });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    log.error("secrets could not be read again; the ones in use stay", {
      problem: error.problems.join(" "),
    });
  }
  // Reads the key ring again, and reports what is wrong with it. A failed run is repeated at its next time.
  runJob(reportProcessJob).catch((error: unknown) => {
    log.warn("the key ring could not be reported yet, will be tried again", describeError(error));
  });
}

export const start: Command = {
  name: "start",
  about: "Start the service. Applies missing migrations first, and runs until it gets SIGINT or SIGTERM.",
  options: {
    role: {
      type: "string",
      about: `What this process does: ${processRoles.join(", ")}. Default: all.`,
      values: processRoles,
      removedValues: { chip: insteadOfHelpers, face: insteadOfHelpers },
    },
  },
  examples: ["start", "start --role api"],
  run: ({ options }, print, style) => {
    const role = processRoles.find((known) => known === options.role) ?? "all";
    return serve(role, print, style);
  },
};

export const worker: Command = {
  name: "worker",
  about:
    "Run only the background work: webhook deliveries, mails, expiry, retention. The same as start --role worker.",
  run: (_args, print, style) => serve("worker", print, style),
};
