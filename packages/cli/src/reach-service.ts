import { readBase } from "./base-url.ts";
import { type Arguments, CommandError } from "./command.ts";
import { NotTheServiceError, RefusedError, UnreachableError } from "./service.ts";

export const exitRefused = 3;
export const exitUnreachable = 4;
export const addressHint = "--url is the address of the service, without /v1 and /dashboard.";

/** Options that name the service and the credentials. */
export const serviceOptions = {
  url: {
    type: "string",
    about: "Address of the service, for example https://id.example.com.",
    placeholder: "BASE",
  },
  key: { type: "string", about: "API key of your organization.", placeholder: "kk_…" },
} as const;

export const serviceEnvironment =
  "ASSAY_URL and ASSAY_API_KEY replace --url and --key, which keeps the key out of the process list. HTTPS_PROXY, HTTP_PROXY and NO_PROXY set a proxy.";

/** The service that the options or the environment name. `needs` says what the key must be. */
export function readService(
  options: Arguments["options"],
  env: NodeJS.ProcessEnv,
  needs: string,
): { url: string; key: string } {
  const url = readBase(options.url ?? env.ASSAY_URL);
  const key = options.key ?? env.ASSAY_API_KEY;
  if (typeof key !== "string" || key === "")
    throw new CommandError(`--key is missing: ${needs}. Make one in the dashboard under API keys.`);
  return { url, key };
}

/** A failure of the service as a sentence that says what to do, and the exit code that goes with it. */
export function explain(error: unknown, url: string): unknown {
  if (error instanceof UnreachableError)
    return new CommandError(
      `${url} cannot be reached (${error.message}). Is --url right, and is the service running?`,
      exitUnreachable,
    );
  if (error instanceof NotTheServiceError)
    return new CommandError(`${url} ${error.message}. ${addressHint}`, exitUnreachable);
  if (!(error instanceof RefusedError)) return error;
  return error.status === 401
    ? new CommandError(
        `The service does not know this API key: it was mistyped, disabled or deleted, or belongs to another installation than ${url}.`,
        exitRefused,
      )
    : new CommandError(`${error.message} ${error.hint}`, exitRefused);
}
