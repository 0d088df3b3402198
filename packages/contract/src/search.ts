import { Type } from "typebox";
import { routesOf } from "./route.ts";
import { closed, Nullable, named, OneOf, open, Timestamp } from "./schema.ts";

const route = routesOf("Organization");

export const searchLimits = { textLength: 200, ofEachKind: 5, ofOneKind: 25 } as const;

const foundKinds = ["session", "event", "delivery", "webhook_endpoint", "member", "api_request"] as const;
export type FoundKind = (typeof foundKinds)[number];

const FoundKindName = named("FoundKind", OneOf(foundKinds, { description: "What was found." }));

export const FoundThing = open("FoundThing", {
  kind: FoundKindName,
  id: Type.String({
    description:
      "Identifier of the session, event, delivery, endpoint or membership; of a request the `X-Request-Id` of its answer.",
    examples: ["vs_EXAMPLEexampleEXAMPLEexample1"],
  }),
  title: Nullable(
    Type.String({
      description: "The partner's reference of a session, the name of an endpoint or of a member.",
      examples: ["order-7391"],
    }),
  ),
  detail: Nullable(
    Type.String({
      description:
        "Status of a session, type of an event or delivery, e-mail of a member, method, path and status of a request.",
      examples: ["succeeded"],
    }),
  ),
  created_at: Timestamp,
});

export const search = route("GET /v1/auth/orgs/search", {
  id: "search",
  summary: "Find something by an identifier, a reference or an e-mail",
  description: `Finds sessions by identifier or reference, or the beginning of either; case matters. Finds events, deliveries, endpoints and requests of the API log by identifier, and members by part of their e-mail or name. Returns at most ${searchLimits.ofEachKind} of each kind, or ${searchLimits.ofOneKind} of the requested kind, latest first. A session with exactly this reference comes before those whose reference begins with it. Only the environment of the request is searched.`,
  access: { role: "member", inEnvironment: true },
  query: closed({
    text: Type.String({
      minLength: 1,
      maxLength: searchLimits.textLength,
      description: "What to look for.",
      examples: ["order-7391"],
    }),
    kind: Type.Optional(OneOf(foundKinds, { description: "Search for this kind only." })),
  }),
  reply: {
    status: 200,
    data: open("SearchResult", { found: Type.Array(FoundThing) }),
  },
});

export const searchRoutes = route.declared;
