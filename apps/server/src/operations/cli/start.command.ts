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
  "Processes with the role api examine chips and faces: run more of `assay start --role api`.";

async function serve(role: ProcessRole, print: (line: string) => void, style: Style): Promise<number> {
  const startedAt = Date.now();
  // First of all: a port in use is the most common reason why a start fails.
  await checkAddress(loadConfig(process.env));
  const installation = await openInstallation(process.env);
  const { config, log } = installation;
  for (const notice of removedSettingNotices(process.env)) log.warn(notice);
  let service: Service;
  try {
    // Imports the whole service here, so that the other commands start faster.
    const { startService } = await import("../../app.ts");
    service = await startService({ ...installation, role });
  } catch (error) {
    await installation.close();
    throw explainListenError(error, config);
  }

  const ended = untilStopped(log, async (signal) => {
    // After Ctrl-C there is no load balancer to wait for.
    const drains = signal === "SIGTERM";
    const drainSeconds = drains ? config.drainSeconds + config.drainAttemptSeconds : 0;
    const deadline = setTimeout(
      () => {
        log.error("requests did not finish in time; shutting down anyway", {
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

  // On a terminal SIGHUP means that the terminal was closed, and ends the service.
  if (process.stdout.isTTY !== true) process.on("SIGHUP", () => reread(service));
  const address = service.core.publicUrl();
  // Without this line users would look for the mail in a mailbox.
  if (config.smtpUrl === "")
    log.info("mails are written as files, because SMTP_URL is not set", { folder: mailFolder({ config }) });
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
        print(`  Mails           are written to ${mailFolder({ config })}, because SMTP_URL is not set`);
      print("");
      print("Stop it with Ctrl-C.");
    }
  }
  return ended;
}

/** Reloads secrets that an operator or a secret manager has replaced. Open connections stay open. */
function reread({ core: { config, log }, runJob }: Service): void {
  try {
    log.info("secrets were reloaded", { settings: rereadSecrets(config, process.env).join(", ") });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    log.error("secrets could not be reloaded; the current ones stay in use", {
      problem: error.problems.join(" "),
    });
  }
  // Reloads the key ring and reports its problems. A failed run is repeated at its next interval.
  runJob(reportProcessJob).catch((error: unknown) => {
    log.warn("the key ring could not be reported; the process will retry", describeError(error));
  });
}

export const start: Command = {
  name: "start",
  about: "Start the service. It applies missing migrations first, and runs until SIGINT or SIGTERM.",
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
    "Run only the background work: webhook deliveries, mails, expiry, retention. Same as start --role worker.",
  run: (_args, print, style) => serve("worker", print, style),
};
