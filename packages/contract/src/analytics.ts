import { Type } from "typebox";
import { route } from "./route.ts";
import { closed, Nullable, named, open } from "./schema.ts";
import { failureCodes } from "./sessions.ts";

export const analyticsLimits = { days: 366, defaultDays: 30 } as const;

const Day = Type.String({
  format: "date",
  pattern: "^\\d{4}-\\d{2}-\\d{2}$",
  description: "A day in UTC.",
  examples: ["2026-03-01"],
});

const Count = Type.Integer({ minimum: 0 });

const counts = {
  total: Count,
  created: Count,
  in_progress: Count,
  succeeded: Count,
  failed: Count,
  expired: Count,
  cancelled: Count,
};

export const SessionsOverview = named(
  "SessionsOverview",
  open({
    from: Day,
    to: Day,
    sandbox: Type.Boolean({ description: "Whether the figures are of test sessions or of live ones." }),
    totals: named("SessionCounts", open(counts)),
    days: Type.Array(named("SessionDay", open({ date: Day, ...counts })), {
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
    failure_codes: Type.Unsafe<Partial<Record<string, number>>>({
      type: "object",
      additionalProperties: { type: "integer", minimum: 0 },
      description: `How many sessions failed with each code. Codes: ${failureCodes.join(", ")}.`,
      examples: [{ document_expired: 2, liveness_failed: 1 }],
    }),
  }),
);

const Bound = (which: string) =>
  Type.String({
    maxLength: 40,
    description: `${which}. A day (2026-03-01) or a time with a zone, which stands for the day in UTC that it falls on.`,
    examples: ["2026-03-01"],
  });

export const sessionsOverview = route({
  id: "sessionsOverview",
  method: "GET",
  path: "/v1/analytics/sessions/overview",
  tag: "Analytics",
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
        description:
          "Says what the environment of the request says already; the other value is refused with 400 `INVALID_REQUEST`.",
      }),
    ),
  }),
  reply: { status: 200, data: SessionsOverview },
  errors: ["INVALID_REQUEST"],
});

export const analyticsRoutes = [sessionsOverview];
