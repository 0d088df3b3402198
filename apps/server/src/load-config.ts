import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { type Config, fileSettings, fixedLimits, settings } from "./config.ts";
import { exemptHostSet } from "./platform/lib/public-address.ts";
import { ConfigError } from "./settings/config-error.ts";
import { Problem, type Setting } from "./settings/kinds.ts";
import { sourceProblem, walletSourceProblem } from "./settings/trust-sources.ts";

type Environment = Readonly<Record<string, string | undefined>>;

const fromFile = new Set<string>(fileSettings.map((name) => settings[name].env));

/** Whether the environment names a value or a file for it, valid or not. */
function isSet(env: Environment, name: string): boolean {
  return [name, `${name}_FILE`].some((variable) => (env[variable]?.trim() ?? "") !== "");
}

/** The text of a setting, from the environment or the file that NAME_FILE names. Empty if neither is set. */
export function readSetting(env: Environment, name: string): string {
  const given = env[name]?.trim() ?? "";
  const file = fromFile.has(name) ? (env[`${name}_FILE`]?.trim() ?? "") : "";
  if (file === "") return given;
  if (given !== "") throw new Problem(`and ${name}_FILE must not both be set`);
  let text: string;
  try {
    text = readFileSync(file, "utf8").trim();
  } catch (error) {
    throw new Problem(`cannot be read from the file that ${name}_FILE names: ${(error as Error).message}`);
  }
  if (text === "") throw new Problem(`is missing: the file that ${name}_FILE names is empty`);
  return text;
}

/**
 * Reads the settings that may come from files again, into `config`. Returns the names of those that changed.
 * If there is a problem, nothing changes.
 */
export function rereadSecrets(config: Config, env: Environment): string[] {
  const fresh = loadConfig(env);
  const changed = fileSettings.filter((name) => config[name] !== fresh[name]);
  for (const name of changed) config[name] = fresh[name];
  return changed.map((name) => settings[name].env);
}

/** The only reader of the environment. Reports every problem at once. */
export function loadConfig(env: Environment): Config {
  const problems: string[] = [];
  const values: Record<string, unknown> = { ...fixedLimits };
  for (const [name, setting] of Object.entries(settings) as [string, Setting<unknown>][]) {
    values[name] = setting.fallback;
    try {
      const given = readSetting(env, setting.env);
      if (given !== "") values[name] = setting.read(given);
    } catch (error) {
      problems.push(`${setting.env} ${(error as Error).message}.`);
    }
  }
  const {
    walletMethods,
    walletTrustSources,
    walletStatusMaxAge,
    walletListGraceDays,
    walletSchemes,
    ...rest
  } = values;
  const config = {
    ...rest,
    wallet: {
      methods: walletMethods,
      trustSources: walletTrustSources,
      statusMaxAgeSeconds: walletStatusMaxAge,
      listGraceDays: walletListGraceDays,
      schemes: walletSchemes,
    },
  } as Config;
  config.dataDir = resolve(config.dataDir);
  config.publicUrl = config.publicUrl.replace(/\/+$/, "");
  if (config.publicUrl !== "" && !/^https?:\/\/[^/?#]+$/.test(config.publicUrl)) {
    problems.push("PUBLIC_URL must be an origin: no path, query or fragment.");
  }
  if (config.databaseUrl !== "" && !isSet(env, "SECRET_KEYS")) {
    problems.push(
      'SECRET_KEYS must be set together with DATABASE_URL. Make a ring with: echo "1:$(openssl rand -base64 32)"',
    );
  }
  if (config.databaseDirectUrl !== "" && config.databaseUrl === "")
    problems.push("DATABASE_DIRECT_URL must not be set without DATABASE_URL.");
  const exemptHosts = exemptHostSet(config.webhookAllowedPrivateHosts);
  for (const [index, entry] of config.trustSources.entries()) {
    const problem = sourceProblem(entry, exemptHosts);
    if (problem !== null) problems.push(`TRUST_SOURCES entry ${index + 1} ${problem}.`);
  }
  for (const [index, entry] of config.wallet.trustSources.entries()) {
    const problem = walletSourceProblem(entry, exemptHosts);
    if (problem !== null) problems.push(`WALLET_TRUST_SOURCES entry ${index + 1} ${problem}.`);
  }
  if (config.readerAppAndroid?.installUrl === null && config.readerAppAndroidFile === "") {
    problems.push("READER_APP_ANDROID lacks install=. Add it, or set READER_APP_ANDROID_FILE.");
  }
  if (config.rpTermsFile !== "" && (env.RP_TERMS_VERSION ?? "").trim() === "") {
    problems.push("RP_TERMS_VERSION must be set together with RP_TERMS_FILE.");
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return config;
}
