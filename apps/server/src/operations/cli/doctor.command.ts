import { type Finding, printFindings, runChecks } from "@assay/cli/checks";
import type { Command } from "@assay/cli/command";
import { examineForPartner, partnerDoctorOptions } from "@assay/cli/doctor.command";
import type { Config } from "../../config.ts";
import { loadConfig } from "../../load-config.ts";
import { systemClock } from "../../platform/kernel/clock.ts";
import { createLog } from "../../platform/lib/log.ts";
import { ConfigError } from "../../settings/config-error.ts";
import { checkOf, checksAround } from "../doctor/look-around.ts";
import { lookIntoDatabase } from "../doctor/look-into-database.ts";

/** The checks report everything in their results, so the log is discarded. */
const silent = createLog({ level: "error", write: () => {}, now: () => systemClock.now() });

export const doctor: Command = {
  name: "doctor",
  about:
    "Check this installation: Node, data folder, disk, open files, configuration, public address, mail server, DNS, face models, database, pooler, schema, clock, key ring, trust, jobs, webhooks, backup. Each problem comes with a fix. The command changes nothing and sends no mail. With --url it checks from outside, as a partner does.",
  options: partnerDoctorOptions,
  examples: ["doctor", "doctor --json", "doctor --url https://id.example.com --key kk_…"],
  exitCodes: {
    0: "There are no problems, or only warnings.",
    1: "At least one check found a problem, or the command is wrong.",
  },
  run: async (args, print, style) => {
    const { env } = process;
    const { url, key, json } = args.options;
    if (url !== undefined || key !== undefined) return examineForPartner(args, print, style, env);
    const findings = await style.progress("Looking…", () => examine(env));
    return printFindings(findings, { json: json === true, print, style });
  },
};

async function examine(env: NodeJS.ProcessEnv): Promise<Finding[]> {
  const checkConfiguration = (problem: string | null) =>
    checkOf("configuration", systemClock, () => ({ problem }));
  let config: Config;
  try {
    config = loadConfig(env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return runChecks([checkConfiguration(error.message.replaceAll(/\s*\n\s*/g, " "))]);
  }
  const around = { config, clock: systemClock, log: silent, env };
  const [outside, inside] = await Promise.all([
    runChecks([checkConfiguration(null), ...checksAround(around)]),
    lookIntoDatabase(around),
  ]);
  return [...outside, ...inside];
}
