import { type Check, type Found, ok, printFindings, problem, runChecks, warning } from "./checks.ts";
import type { Arguments, Command } from "./command.ts";
import { lookAtCertificate } from "./look-at-certificate.ts";
import { proxyFor } from "./proxy.ts";
import { readService, serviceEnvironment, serviceOptions } from "./reach-service.ts";
import { NotTheServiceError, RefusedError, ServiceClient, UnreachableError } from "./service.ts";
import { printable, type Style } from "./style.ts";

type Endpoint = {
  id: string;
  url: string;
  name: string | null;
  enabled: boolean;
  has_active_key: boolean;
  environment: string;
  disabled_reason: string | null;
};
type Delivery = {
  status: string;
  created_at: string;
  attempt_count: number;
  last_status_code: number | null;
  last_error: string | null;
};

/**
 * Every route refuses an unknown field after it has checked the key. So this probes a scope without writing.
 */
const unknownField = { asked_by_doctor: true } as const;

/** A way to ask for each scope. */
const probes = [
  { scope: "sessions:read", method: "GET", path: "/v1/sessions?limit=1" },
  { scope: "sessions:write", method: "POST", path: "/v1/sessions" },
  { scope: "webhooks:read", method: "GET", path: "/v1/webhooks/endpoints?limit=1" },
  { scope: "webhooks:write", method: "POST", path: "/v1/webhooks/endpoints" },
  { scope: "analytics:read", method: "GET", path: "/v1/analytics/webhooks/overview" },
] as const;

export const partnerDoctorOptions = {
  ...serviceOptions,
  json: { type: "boolean", about: "One JSON text with every check, for programs." },
} as const satisfies Command["options"];

export const doctorCommand: Command = {
  name: "doctor",
  about:
    "Check that this machine can work with the service: connection, TLS certificate, clock, scopes of the API key, webhook endpoints. Changes nothing.",
  environment: serviceEnvironment,
  options: partnerDoctorOptions,
  examples: ["doctor --url https://id.example.com --key kk_…", "doctor --json"],
  exitCodes: {
    0: "All is well, or there are warnings only.",
    1: "At least one check found a problem, or the command is wrong.",
  },
  run: (args, print, style) => examineForPartner(args, print, style, process.env),
};

export async function examineForPartner(
  { options }: Arguments,
  print: (line: string) => void,
  style: Style,
  env: NodeJS.ProcessEnv,
): Promise<number> {
  const { url, key } = readService(options, env, "an API key");
  const service = new ServiceClient(url, key, env);
  const proxy = proxyFor(new URL(url), env);
  const findings = await style.progress("Looking…", () => runChecks(checksFor(service, proxy)));
  return printFindings(findings, { json: options.json === true, print, style });
}

function checksFor(service: ServiceClient, proxy: URL | null): Check[] {
  const { hostname, protocol, port } = new URL(service.url);
  const isLocal = /^(localhost|127\.|\[::1\])/.test(hostname);
  const secure: Check =
    protocol === "https:"
      ? {
          name: "Certificate",
          look: () => lookAtCertificate(hostname, Number(port || 443), new Date(), proxy),
        }
      : {
          name: "Certificate",
          look: async () =>
            isLocal
              ? ok("The service is on this machine, without TLS.")
              : problem(
                  "The address begins with http: the API key is sent in the clear.",
                  "Use the https address.",
                ),
        };
  return [
    { name: "Service", look: () => lookAtService(service, proxy) },
    secure,
    { name: "Clock", look: () => lookAtClock(service) },
    { name: "API key", look: () => lookAtKey(service) },
    { name: "Endpoints", look: () => lookAtEndpoints(service) },
    { name: "Deliveries", look: () => lookAtDeliveries(service) },
  ];
}

async function lookAtService(service: ServiceClient, proxy: URL | null): Promise<Found> {
  const { url } = service;
  const way = proxy === null ? "" : ` through the proxy ${proxy.host}`;
  const todo = "Check --url, the name's DNS, and whether a proxy or firewall is in between.";
  try {
    const { status, text } = await service.health();
    return status === 200 && text.includes('"ok"')
      ? ok(`${url} answers${way}.`)
      : problem(`${url} answers ${status}${way}, and not as Assay does.`, todo);
  } catch (error) {
    return problem(`${url} cannot be reached${way}: ${(error as Error).message}.`, todo);
  }
}

/**
 * The header has whole seconds, so differences under two are ignored. Signatures are valid for five minutes.
 */
async function lookAtClock(service: ServiceClient): Promise<Found> {
  const before = Date.now();
  const health = await service.health().catch(() => null);
  const serverTime = Date.parse(health?.date ?? "");
  if (Number.isNaN(serverTime))
    return warning("The service sent no time.", "Look at the check of the service first.");
  const seconds = Math.abs(Math.round((serverTime + 500 - (before + Date.now()) / 2) / 1000));
  const found = `This clock and the service's differ by ${seconds < 2 ? "less than 2" : seconds} seconds.`;
  const todo =
    "Have the clock set by the network (NTP): signatures of webhooks are refused when they seem too old.";
  return seconds < 5 ? ok(found) : seconds < 120 ? warning(found, todo) : problem(found, todo);
}

async function lookAtKey(service: ServiceClient): Promise<Found> {
  const asked = await readable(() =>
    Promise.all(
      probes.map(async ({ scope, method, path }) => ({
        scope,
        answer: await statusOf(service, method, path),
      })),
    ),
  );
  if ("state" in asked) return asked;
  const answers = asked.data;
  const refused = answers.find(({ answer }) => answer.status === 401 || answer.status === 410);
  if (refused !== undefined)
    return problem(
      refused.answer.message,
      refused.answer.status === 410
        ? "The organization is scheduled for deletion. An owner can cancel that in the dashboard."
        : "Take a key that is enabled, whole, and of this installation.",
    );
  const may = answers.filter(({ answer }) => answer.status !== 403).map(({ scope }) => scope);
  if (may.length === 0)
    return problem("The key has no scope.", "Give it scopes in the dashboard under API keys.");
  const lacks = answers.filter(({ answer }) => answer.status === 403).map(({ scope }) => scope);
  return ok(`It may ${may.join(", ")}${lacks.length === 0 ? "" : `; not ${lacks.join(", ")}`}.`);
}

async function statusOf(
  service: ServiceClient,
  method: string,
  path: string,
): Promise<{ status: number; message: string }> {
  try {
    await service.call({ method, path, ...(method === "POST" ? { body: unknownField } : {}) });
    return { status: 200, message: "" };
  } catch (error) {
    if (error instanceof RefusedError) return { status: error.status, message: error.message };
    throw error;
  }
}

async function lookAtEndpoints(service: ServiceClient): Promise<Found> {
  const read = await readable(() =>
    service.call<Endpoint[]>({ method: "GET", path: "/v1/webhooks/endpoints?limit=100" }),
  );
  if ("state" in read) return read;
  const environment = read.data[0]?.environment;
  const [enabled, disabled] = [
    read.data.filter((each) => each.enabled),
    read.data.filter((each) => !each.enabled),
  ];
  if (read.data.length === 0)
    return warning(
      "There is no webhook endpoint.",
      "Add one in the dashboard, or receive webhooks here with `assay listen`.",
    );
  const without = enabled
    .filter((each) => !each.has_active_key)
    .map(({ name, url }) => printable(name ?? url));
  if (without.length > 0)
    return problem(
      `No active encryption key: ${without.join(", ")}. Nothing is sent there.`,
      "Make a key pair with `assay keys new FILE`, and register it for the endpoint.",
    );
  const found = `${enabled.length} enabled with a key, in the ${environment} environment`;
  return disabled.length > 0
    ? warning(
        `${found}; disabled: ${disabled.map(({ name, url, disabled_reason: why }) => `${printable(name ?? url)}${why === null ? "" : ` (${why})`}`).join(", ")}.`,
        "Enable them again in the dashboard when they work.",
      )
    : ok(`${found}.`);
}

async function lookAtDeliveries(service: ServiceClient): Promise<Found> {
  const read = await readable(() =>
    service.call<Delivery[]>({ method: "GET", path: "/v1/webhooks/deliveries?limit=1" }),
  );
  if ("state" in read) return read;
  const [last] = read.data;
  if (last === undefined) return ok("Nothing was sent yet.");
  const cause = last.last_error === null ? "" : `: ${causeOf(last)}`;
  const attempts = `${last.attempt_count} ${last.attempt_count === 1 ? "attempt" : "attempts"}`;
  const found = `The last one, of ${last.created_at}, ${last.status === "succeeded" ? "arrived" : `is ${last.status}`} after ${attempts}${cause}.`;
  if (last.status === "failed") return problem(found, adviceFor(last.last_error));
  return last.status === "pending" && last.attempt_count > 0
    ? warning(found, adviceFor(last.last_error))
    : ok(found);
}

function causeOf({ last_error: error, last_status_code: status }: Delivery): string {
  const words = printable(error ?? "").replaceAll("_", " ");
  return error === "status_not_2xx" && status !== null ? `your receiver answered ${status}` : words;
}

/** Advice for the error that the service reports; unknown errors get general advice. */
function adviceFor(error: string | null): string {
  switch (error) {
    case "no_active_key":
      return "Make a key pair with `assay keys new FILE`, and register it for the endpoint. Events published without a key cannot be sent later.";
    case "endpoint_deleted":
    case "consent_withdrawn":
      return "Nothing: the endpoint no longer exists, or the event was retracted.";
    case "name_not_resolved":
    case "connection_failed":
    case "timeout":
      return "Make sure that your receiver runs, and that the service can reach its address within 15 seconds.";
    case "tls_failed":
      return "Make sure that your receiver's certificate is for its name, is valid today, and comes with its chain.";
    case "address_refused":
      return "Give the endpoint a public address: the service does not send to private ones.";
    case "redirect_not_followed":
      return "Give the endpoint the address that your receiver redirects to.";
    default:
      return "The dashboard shows your receiver's answer under Webhooks, Deliveries.";
  }
}

/** A missing scope of the key is no fault. */
async function readable<T>(call: () => Promise<T>): Promise<{ data: T } | Found> {
  try {
    return { data: await call() };
  } catch (error) {
    if (error instanceof RefusedError)
      return error.status === 403
        ? ok("Not looked at: the key lacks webhooks:read.")
        : problem(error.message, error.hint);
    if (error instanceof UnreachableError || error instanceof NotTheServiceError)
      return problem(`Not looked at: ${error.message}.`, "Look at the check of the service first.");
    throw error;
  }
}
