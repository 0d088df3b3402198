import { Type } from "typebox";
import { environments } from "./facts.ts";
import { Organization } from "./organizations.ts";
import { routesOf } from "./route.ts";
import { closed, Nullable, OneOf, open, Text, Timestamp } from "./schema.ts";

const route = routesOf("Organization");

export const businessTypes = ["sole", "business"] as const;

export const BusinessDetails = open("BusinessDetails", {
  businessType: OneOf(businessTypes, { description: "`sole` for a sole trader." }),
  businessName: Nullable(Type.String({ examples: ["Acme Bank AG"] })),
  businessJurisdiction: Nullable(Type.String({ examples: ["Austria"] })),
  businessRegistrationNumber: Nullable(Type.String({ examples: ["FN 123456a"] })),
});

export const readBusinessDetails = route("GET /v1/auth/orgs/business-details", {
  id: "readBusinessDetails",
  summary: "Show the business details",
  access: { role: "member" },
  reply: { status: 200, data: BusinessDetails },
});

export const updateBusinessDetails = route("POST /v1/auth/orgs/business-details", {
  id: "updateBusinessDetails",
  summary: "Change the business details",
  description: "Self-asserted. Absent fields stay unchanged; null or blank clears a field.",
  access: { role: "admin" },
  body: closed({
    business_type: Type.Optional(Nullable(OneOf(businessTypes))),
    business_name: Type.Optional(Nullable(Text({ min: 0, max: 200 }))),
    business_jurisdiction: Type.Optional(Nullable(Text({ min: 0, max: 120 }))),
    business_registration_number: Type.Optional(Nullable(Text({ min: 0, max: 100 }))),
  }),
  reply: { status: 200, data: BusinessDetails },
});

const termsFields = {
  terms_version: Type.String({ examples: ["2026-03-01"] }),
  terms_hash: Type.String({
    pattern: "^sha256:[0-9a-f]{64}$",
    description: "SHA-256 over the text in UTF-8.",
    examples: [`sha256:${"0123456789abcdef".repeat(4)}`],
  }),
};
const Jurisdiction = Type.String({ examples: ["European Union"] });

export const RpTermsStatus = open("RpTermsStatus", {
  acceptance: Nullable(
    open("RpTermsAcceptance", {
      accepted_at: Timestamp,
      accepted_by: Type.String({ description: "Identifier of the user who accepted." }),
      jurisdiction: Jurisdiction,
      ...termsFields,
    }),
  ),
  current: open("RpTerms", { jurisdiction: Jurisdiction, ...termsFields }),
  current_accepted: Type.Boolean({ description: "Whether the current terms are the accepted ones." }),
  operator_ready: Type.Boolean({
    description:
      "Whether the operator of the service trusts at least one issuing authority. Until then no organization can go live.",
  }),
});

export const readRpTerms = route("GET /v1/auth/orgs/rp-terms", {
  id: "readRpTerms",
  summary: "Show the current and the accepted relying-party terms",
  access: { role: "member" },
  reply: { status: 200, data: RpTermsStatus },
});

export const acceptRpTerms = route("POST /v1/auth/orgs/rp-terms", {
  id: "acceptRpTerms",
  summary: "Accept the relying-party terms",
  description: "Names exactly what was shown. 409 `CONFLICT` when that is no longer the current text.",
  access: { role: "owner" },
  body: closed({
    terms_version: Type.String({ minLength: 1, maxLength: 40 }),
    terms_hash: termsFields.terms_hash,
  }),
  reply: { status: 200, data: RpTermsStatus },
  errors: ["CONFLICT"],
});

export const readRpTermsText = route("GET /v1/auth/orgs/rp-terms/text", {
  id: "readRpTermsText",
  summary: "Read the relying-party terms",
  access: { public: true },
  reply: {
    status: 200,
    data: open("RpTermsText", {
      jurisdiction: Jurisdiction,
      ...termsFields,
      text: Type.String({ description: "The text, exactly as hashed." }),
    }),
  },
});

/** Conditions for opening live, and recommendations, in the order in which a person works through them. */
export const goLivePoints = [
  "terms_accepted",
  "business_details_complete",
  "domain_verified",
  "state_trusted",
  "results_received",
  "reading_app_configured",
] as const;
export type GoLivePoint = (typeof goLivePoints)[number];

/** How an organization without an endpoint gets its results. */
export const resultsWithoutEndpoint = ["poll_only"] as const;
export type ResultsWithoutEndpoint = (typeof resultsWithoutEndpoint)[number];

export const GoLiveReadiness = open("GoLiveReadiness", {
  environment: OneOf(environments, { description: "`live` once live is open." }),
  ready: Type.Boolean({ description: "Whether all required points are done." }),
  points: Type.Array(
    open("GoLiveReadinessPoint", {
      point: OneOf(goLivePoints),
      done: Type.Boolean({ description: "Whether the point is done." }),
      required: Type.Boolean({
        description: "Whether live stays closed without it. Other points are warnings.",
      }),
      instead: Nullable(
        OneOf(resultsWithoutEndpoint, {
          description: "The value of `results` in the go-live request that replaces this point.",
        }),
      ),
      explanation: Type.String({
        description: "Why it matters, and what to do, in words.",
        examples: [
          "Prove with a DNS record that a domain is yours (POST /v1/auth/orgs/domains/challenges/dns).",
        ],
      }),
      docs: Type.String({
        description: "Where it is explained.",
        examples: ["https://assay.example/docs/go-live"],
      }),
    }),
  ),
});

export const readGoLive = route("GET /v1/auth/orgs/go-live", {
  id: "readGoLive",
  summary: "Show what is needed before going live",
  description: "Every point with an explanation. Points that are not required are warnings.",
  access: { role: "member" },
  reply: { status: 200, data: GoLiveReadiness },
});

export const goLive = route("POST /v1/auth/orgs/go-live", {
  id: "goLive",
  summary: "Open live",
  description:
    'Once and for good, beside the sandbox, in which nothing changes: its keys, endpoints and sessions go on. Needs the current terms accepted, complete business details, a verified domain, an operator who trusts at least one issuing authority, and an enabled live endpoint with an active key that is subscribed to `verification.session.succeeded`; the hint of 409 `ORGANIZATION_NOT_READY` lists what is missing. With `results: "poll_only"` no endpoint is needed: you read the outcomes of sessions, and claims are not sent.',
  access: { role: "owner" },
  body: closed({
    results: Type.Optional(
      OneOf(resultsWithoutEndpoint, {
        description:
          "`poll_only`: you need no webhooks. `GET /v1/sessions/:id` has the outcome; what people share is not in it.",
      }),
    ),
  }),
  bodyOptional: true,
  reply: { status: 200, data: Organization },
  errors: ["LIVE_IS_OPEN", "ORGANIZATION_NOT_READY"],
});

export const goLiveRoutes = route.declared;
