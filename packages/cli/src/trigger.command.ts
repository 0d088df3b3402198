import type { EventType } from "@assay/contract/events";
import type { SentTestEvent, WebhookEndpoint } from "@assay/contract/webhooks";
import type { Static } from "typebox";
import { type Command, CommandError, didYouMean } from "./command.ts";
import {
  exitRefused,
  exitUnreachable,
  explain,
  readService,
  serviceEnvironment,
  serviceOptions,
} from "./reach-service.ts";
import { pause, ServiceClient } from "./service.ts";
import { printable, type Style } from "./style.ts";

type Triggered = { event_id: string; session_id: string | null; deliveries: number };

/** Options for the session behind the event. */
type Wish = {
  fields: readonly string[];
  reference: string | null;
  endpoint: string | null;
  document: string | null;
};

/** The shortest life of a sandbox session. */
const shortestLifeSeconds = 60;
/** A session is found expired by a job that runs every few seconds. */
const expiryWithinMs = 60_000;
const lookEveryMs = 1_000;
const withoutEndpoint =
  "No endpoint receives it. Start `assay listen` first, or add an endpoint in the dashboard.";

/** How to trigger each event. A new type of the contract does not compile without an entry. */
const makers: Readonly<Record<EventType, (service: ServiceClient, wish: Wish) => Promise<Triggered>>> = {
  "verification.session.succeeded": (service, wish) => finished(service, wish, "succeeded", "passport-valid"),
  "verification.session.failed": (service, wish) => finished(service, wish, "failed", "passport-expired"),
  "verification.session.expired": expired,
  "verification.session.cancelled": async (service, wish) => {
    const { id } = await create(service, wish);
    await service.call({ method: "POST", path: `/v1/sessions/${id}/cancel` });
    return outcome(service, id, "cancelled");
  },
  "webhook.endpoint.test": tested,
};
const eventTypes = Object.keys(makers) as EventType[];

export const triggerCommand: Command = {
  name: "trigger",
  about:
    "Trigger an event in the sandbox. A real session runs to its outcome, and your endpoints receive the same events as from a person. EVENT is an event type, or its last word.",
  positionals: "EVENT",
  examples: [
    "trigger verification.session.succeeded",
    "trigger failed --passport passport-another-face",
    "trigger succeeded --fields family_name,age_over_18 --reference order-7",
  ],
  environment: serviceEnvironment,
  exitCodes: {
    3: "The service refuses, or the session ended in another way.",
    4: "The service cannot be reached.",
  },
  options: {
    ...serviceOptions,
    fields: {
      type: "string",
      about:
        "Fields that the person shares, separated by commas. Default: family_name,given_names,date_of_birth.",
      placeholder: "CLAIMS",
    },
    passport: {
      type: "string",
      about: "The test document that the person has, for an outcome of your choice.",
      placeholder: "ID",
    },
    reference: { type: "string", about: "The `client_reference_id` of the session.", placeholder: "TEXT" },
    endpoint: { type: "string", about: "Send the event to this endpoint only.", placeholder: "whe_…" },
    json: { type: "boolean", about: "Print the result as one line of JSON." },
  },
  run: async ({ options, positionals }, print, style) => {
    const type = readType(positionals);
    const { url, key } = readService(
      options,
      process.env,
      "a sandbox API key with all scopes for sessions and webhooks",
    );
    const text = (name: string) => (typeof options[name] === "string" ? options[name] : null);
    const wish: Wish = {
      fields: (text("fields") ?? "family_name,given_names,date_of_birth")
        .split(",")
        .filter((field) => field !== ""),
      reference: text("reference"),
      endpoint: text("endpoint"),
      document: text("passport"),
    };
    const service = new ServiceClient(url, key, process.env, "sandbox");
    try {
      const happened = await style.progress(waitingFor(type), () => makers[type](service, wish));
      tell({ type, ...happened }, { json: options.json === true, print, style });
      return 0;
    } catch (error) {
      throw explain(error, url);
    }
  },
};

function readType([typed, ...more]: readonly string[]): EventType {
  if (typed === undefined || more.length > 0)
    throw new CommandError(`Name one event: ${eventTypes.join(", ")}.`);
  const type = eventTypes.find((each) => each === typed || each.endsWith(`.${typed}`));
  if (type !== undefined) return type;
  const lastWords = eventTypes.map((each) => each.slice(each.lastIndexOf(".") + 1));
  const meant = didYouMean(typed, eventTypes) || didYouMean(typed, lastWords);
  throw new CommandError(
    `There is no event ${printable(typed)}.${meant} There are: ${eventTypes.join(", ")}.`,
  );
}

function waitingFor(type: EventType): string {
  return type === "verification.session.expired"
    ? `The session lives for ${shortestLifeSeconds} seconds…`
    : "The session is on its way…";
}

function tell(
  { type, ...happened }: Triggered & { type: EventType },
  { json, print, style }: { json: boolean; print: (line: string) => void; style: Style },
): void {
  if (json) {
    print(JSON.stringify({ event_type: type, ...happened }));
    return;
  }
  const { event_id: event, session_id: session, deliveries } = happened;
  print(
    `${style.mark("ok")} ${style.paint("cyan", type)}  ${event}${session === null ? "" : `  ${session}`}`,
  );
  print(
    deliveries === 0
      ? style.paint("yellow", withoutEndpoint)
      : `Sent to ${deliveries} ${deliveries === 1 ? "endpoint" : "endpoints"}.`,
  );
}

function create(service: ServiceClient, wish: Wish, more: object = {}): Promise<{ id: string }> {
  const fields = wish.fields.map((field) => [field, { required: true, reason: "A test of this event" }]);
  return service.call<{ id: string }>({
    method: "POST",
    path: "/v1/sessions",
    body: {
      share_fields: Object.fromEntries(fields),
      ...(wish.reference === null ? {} : { client_reference_id: wish.reference }),
      ...(wish.endpoint === null ? {} : { webhook_endpoint_id: wish.endpoint }),
      ...more,
    },
  });
}

/** The service itself holds a test document to its reader, as it does for agents. */
async function finished(
  service: ServiceClient,
  wish: Wish,
  wanted: "succeeded" | "failed",
  usual: string,
): Promise<Triggered> {
  const document = wish.document ?? usual;
  const { id } = await create(service, wish);
  const { status } = await service.callTool<{ status: string }>("finishSandboxSession", {
    session_id: id,
    document,
  });
  if (status === wanted) return outcome(service, id, wanted);
  throw new CommandError(
    `With ${printable(document)} the session ${id} ended as ${status}, not as ${wanted}. Name another document with --passport.`,
    exitRefused,
  );
}

async function expired(service: ServiceClient, wish: Wish): Promise<Triggered> {
  const { id } = await create(service, wish, { expires_in_seconds: shortestLifeSeconds });
  const giveUpAt = performance.now() + shortestLifeSeconds * 1000 + expiryWithinMs;
  while (performance.now() < giveUpAt) {
    if ((await eventsOf(service, id, "expired")).length > 0) return outcome(service, id, "expired");
    await pause(lookEveryMs, new AbortController().signal);
  }
  throw new CommandError(
    `The session ${id} did not expire in time. Does a worker of the service run?`,
    exitUnreachable,
  );
}

/** To the endpoint that was named, or to the only one. */
async function tested(service: ServiceClient, { endpoint }: Wish): Promise<Triggered> {
  const id = endpoint ?? (await onlyEndpoint(service));
  const path = `/v1/webhooks/endpoints/${encodeURIComponent(id)}/test`;
  const { event, deliveries } = await service.call<Static<typeof SentTestEvent>>({ method: "POST", path });
  return { event_id: event.id, session_id: null, deliveries: deliveries.length };
}

async function onlyEndpoint(service: ServiceClient): Promise<string> {
  const path = "/v1/webhooks/endpoints?limit=100";
  const endpoints = await service.call<Static<typeof WebhookEndpoint>[]>({ method: "GET", path });
  const [first, ...more] = endpoints.filter(({ enabled }) => enabled);
  if (first === undefined) throw new CommandError(withoutEndpoint, exitRefused);
  if (more.length === 0) return first.id;
  const ids = [first, ...more].map(({ id }) => id);
  throw new CommandError(`A test event goes to one endpoint. Name it with --endpoint: ${ids.join(", ")}.`);
}

function eventsOf(service: ServiceClient, sessionId: string, status: string): Promise<{ id: string }[]> {
  const query = new URLSearchParams({ session_id: sessionId, type: `verification.session.${status}` });
  return service.call({ method: "GET", path: `/v1/webhooks/events?${query}` });
}

/** The event that the end of the session has published, and how many endpoints get it. */
async function outcome(service: ServiceClient, sessionId: string, status: string): Promise<Triggered> {
  const [event] = await eventsOf(service, sessionId, status);
  if (event === undefined)
    throw new CommandError(`The session ${sessionId} has published no event.`, exitRefused);
  const path = `/v1/webhooks/deliveries?event_id=${event.id}&limit=100`;
  const deliveries = await service.call<unknown[]>({ method: "GET", path });
  return { event_id: event.id, session_id: sessionId, deliveries: deliveries.length };
}
