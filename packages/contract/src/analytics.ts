import { Type } from "typebox";
import { methods } from "./facts.ts";
import { routesOf } from "./route.ts";
import { closed, Nullable, open, PrefixedId } from "./schema.ts";
import { failureCodes } from "./sessions.ts";

const route = routesOf("Analytics");

export const analyticsLimits = { days: 366, defaultDays: 30, deliveries: 1000 } as const;

const Day = Type.String({
  format: "date",
  pattern: "^\\d{4}-\\d{2}-\\d{2}$",
  description: "A day in UTC.",
  examples: ["2026-03-01"],
});

const Count = Type.Integer({ minimum: 0 });

const DayMedian = Nullable(
  Type.Number({ minimum: 0, description: "Of the sessions of the day that succeeded." }),
);

const counts = {
  total: Count,
  created: Count,
  in_progress: Count,
  succeeded: Count,
  failed: Count,
  expired: Count,
  cancelled: Count,
};

export const SessionsOverview = open("SessionsOverview", {
  from: Day,
  to: Day,
  sandbox: Type.Boolean({ description: "Whether the figures are of test sessions or of live ones." }),
  totals: open("SessionCounts", counts),
  days: Type.Array(open("SessionDay", { date: Day, ...counts, median_seconds_to_complete: DayMedian }), {
    description: "One entry for every day, the oldest first. A session counts on the day it was created.",
  }),
  success_rate: Nullable(
    Type.Number({
      minimum: 0,
      maximum: 1,
      description: "Succeeded among ended sessions. Null when none has ended.",
    }),
  ),
  median_seconds_to_complete: Nullable(
    Type.Number({
      minimum: 0,
      description:
        "From creation to success, over succeeded sessions, within 2 percent. Null when there are none.",
    }),
  ),
  p90_seconds_to_complete: Nullable(
    Type.Number({
      minimum: 0,
      description: "90th percentile of the time to success, within 2 percent.",
    }),
  ),
  durations: Type.Array(
    open("DurationClass", {
      up_to_seconds: Nullable(
        Type.Integer({
          minimum: 1,
          description: "Upper bound of the class. Null in the last class, which has none.",
        }),
      ),
      count: Type.Integer({ minimum: 0, description: "Sessions in this class." }),
    }),
    { description: "Succeeded sessions by how long they took, from creation on." },
  ),
  funnel: open("SessionFunnel", {
    created: Type.Integer({
      minimum: 0,
      description: "Sessions that have ended, since stages are counted.",
    }),
    opened: Type.Integer({
      minimum: 0,
      description:
        "Those whose page was opened. Programs that open links, such as mail scanners, count as well.",
    }),
    agreed: Type.Integer({
      minimum: 0,
      description: "This and the following: how many got at least that far.",
    }),
    chip_read: Type.Integer({ minimum: 0, description: "Those whose chip was read and found genuine." }),
    face_captured: Type.Integer({ minimum: 0, description: "Those whose face was captured." }),
    wallet_presented: Type.Integer({
      minimum: 0,
      description: "Those in which a wallet presented a credential.",
    }),
    succeeded: Count,
  }),
  methods: Type.Unsafe<Partial<Record<string, number>>>({
    type: "object",
    additionalProperties: { type: "integer", minimum: 0 },
    description: `How many sessions succeeded by each method, since methods are counted. Methods: ${methods.join(", ")}.`,
    examples: [{ document_chip: 12 }],
  }),
  failure_codes: Type.Unsafe<Partial<Record<string, number>>>({
    type: "object",
    additionalProperties: { type: "integer", minimum: 0 },
    description: `How many sessions failed with each code. Codes: ${failureCodes.join(", ")}.`,
    examples: [{ document_expired: 2, liveness_failed: 1 }],
  }),
});

const Bound = (which: string) =>
  Type.String({
    maxLength: 40,
    description: `${which}. A day (2026-03-01) or a time with a zone, which stands for the day in UTC that it falls on.`,
    examples: ["2026-03-01"],
  });

export const sessionsOverview = route("GET /v1/analytics/sessions/overview", {
  id: "sessionsOverview",
  summary: "Figures about sessions",
  description: `Both days are included; at most ${analyticsLimits.days} days. Figures stay when the sessions themselves are deleted.`,
  access: { scope: "analytics:read" },
  query: closed({
    from: Type.Optional(
      Bound(`First day; ${analyticsLimits.defaultDays - 1} days before \`to\` unless given`),
    ),
    to: Type.Optional(Bound("Last day; today unless given")),
    sandbox: Type.Optional(
      Type.Boolean({
        description: "Must match the environment of the request, else 400 `OTHER_ENVIRONMENT`.",
      }),
    ),
  }),
  reply: { status: 200, data: SessionsOverview },
  errors: ["OTHER_ENVIRONMENT", "PERIOD_INVALID"],
});

const Deliveries = {
  delivered: Type.Integer({ minimum: 0, description: "Deliveries that were accepted." }),
  waiting: Type.Integer({ minimum: 0, description: "Deliveries that are tried again." }),
  failed: Type.Integer({ minimum: 0, description: "Deliveries without further tries." }),
};

export const WebhooksOverview = open("WebhooksOverview", {
  from: Day,
  to: Day,
  sandbox: Type.Boolean(),
  counted: Type.Integer({
    minimum: 0,
    maximum: analyticsLimits.deliveries,
    description: `Deliveries that the figures are about: the latest of the period, at most ${analyticsLimits.deliveries}.`,
  }),
  is_capped: Type.Boolean({ description: "Whether the period has more." }),
  since: Nullable(
    Type.String({
      format: "date-time",
      description: "When the first of those that are counted was made.",
      examples: ["2026-03-01T12:00:00.000Z"],
    }),
  ),
  ...Deliveries,
  delivered_at_first_try: Type.Integer({ minimum: 0, description: "Of those that were accepted." }),
  median_seconds_to_deliver: Nullable(
    Type.Number({
      minimum: 0,
      description: "From the event to the answer, over those that were delivered.",
    }),
  ),
  endpoints: Type.Array(
    open("EndpointHealth", { webhook_endpoint_id: PrefixedId("whe", "webhook endpoint"), ...Deliveries }),
    { description: "Those with most deliveries first." },
  ),
});

export const webhooksOverview = route("GET /v1/analytics/webhooks/overview", {
  id: "webhooksOverview",
  summary: "Figures about deliveries of webhooks",
  description: `Covers the latest ${analyticsLimits.deliveries} deliveries of the period, which bounds its cost. Both days are included; at most ${analyticsLimits.days} days.`,
  access: { scope: "analytics:read" },
  query: closed({
    from: Type.Optional(
      Bound(`First day; ${analyticsLimits.defaultDays - 1} days before \`to\` unless given`),
    ),
    to: Type.Optional(Bound("Last day; today unless given")),
  }),
  reply: { status: 200, data: WebhooksOverview },
  errors: ["PERIOD_INVALID"],
});

export const analyticsRoutes = route.declared;
