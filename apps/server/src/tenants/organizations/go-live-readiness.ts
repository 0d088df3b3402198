import { type GoLivePoint, goLivePoints, type ResultsWithoutEndpoint } from "@assay/contract/go-live";

/** What is known of an organization and of whoever runs the service. */
export type GoLiveFacts = Readonly<Record<GoLivePoint, boolean>>;

type Point = {
  /** Without it live stays closed. What is not required is worth a warning. */
  required: boolean;
  /** What the request may say in place of it. */
  instead: ResultsWithoutEndpoint | null;
  /** For the hint of a refusal. */
  missing: string;
  explanation: string;
  /** Page and section of the docs. */
  docs: string;
};

const points: Readonly<Record<GoLivePoint, Point>> = {
  terms_accepted: {
    required: true,
    instead: null,
    missing: "accept the current relying-party terms (POST /v1/auth/orgs/rp-terms)",
    explanation:
      "The terms say what you may do with what people share. An owner accepts the current version (POST /v1/auth/orgs/rp-terms).",
    docs: "go-live#what-it-needs",
  },
  business_details_complete: {
    required: true,
    instead: null,
    missing: "complete the business details (POST /v1/auth/orgs/business-details)",
    explanation:
      "Who is responsible for the data: name and jurisdiction, and for a business its registration number (POST /v1/auth/orgs/business-details).",
    docs: "go-live#what-it-needs",
  },
  domain_verified: {
    required: true,
    instead: null,
    missing: "verify a domain (POST /v1/auth/orgs/domains/challenges/dns)",
    explanation:
      "Live sessions lead people back to domains that you have proven to control, and to no other. Prove one with a DNS record (POST /v1/auth/orgs/domains/challenges/dns).",
    docs: "domains#1-start-a-challenge",
  },
  state_trusted: {
    required: true,
    instead: null,
    missing: "the operator trusts no issuing authority yet",
    explanation:
      "A real document is accepted when a state that is trusted here has signed it. Only the operator of this service says who is trusted (`assay trust import`).",
    docs: "trust#import-lists",
  },
  results_received: {
    required: true,
    instead: "poll_only",
    missing:
      'add a live webhook endpoint with an encryption key (POST /v1/webhooks/endpoints with X-Service-Environment: live), or send results: "poll_only"',
    explanation:
      'What people share is sent, encrypted, to a webhook endpoint, and is kept nowhere. An owner or admin prepares one in live: enabled, with an active key, and subscribed to verification.session.succeeded (POST /v1/webhooks/endpoints with X-Service-Environment: live). If you only read outcomes, send results: "poll_only" when you go live.',
    docs: "go-live#what-it-needs",
  },
  reading_app_configured: {
    required: false,
    instead: null,
    missing: "the operator has configured nothing that reads documents",
    explanation:
      "An app on the person's phone reads the chip of a real document, or staff read it at a desk. The operator configures apps with READER_APP_ANDROID and READER_APP_IOS, desks with DESK_READERS. Until one of them is set, live sessions are refused with NO_READER_AVAILABLE.",
    docs: "reading-devices#your-app-on-the-page",
  },
};

export function readinessOf(facts: GoLiveFacts) {
  return goLivePoints.map((point) => ({ point, done: facts[point], ...points[point] }));
}

/** What keeps live closed, in words for a hint; empty where nothing does. `chosen` stands in for the point that it is an alternative to. */
export function whatIsMissing(facts: GoLiveFacts, chosen: ResultsWithoutEndpoint | null = null): string[] {
  return readinessOf(facts)
    .filter(({ done, required, instead }) => required && !done && (instead === null || instead !== chosen))
    .map(({ missing }) => missing);
}
