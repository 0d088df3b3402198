import { type GoLivePoint, goLivePoints, type ResultsWithoutEndpoint } from "@assay/contract/go-live";

/** What is known about an organization and the installation. */
export type GoLiveFacts = Readonly<Record<GoLivePoint, boolean>>;

type Point = {
  /** Without it the organization cannot go live. An optional point only causes a warning. */
  required: boolean;
  /** What the request may state instead of it. */
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
      "The terms say what you may do with the data that people share. An owner accepts the current version (POST /v1/auth/orgs/rp-terms).",
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
      "Live sessions redirect people only to domains that you have verified. Verify one with a DNS record (POST /v1/auth/orgs/domains/challenges/dns).",
    docs: "domains#1-start-a-challenge",
  },
  state_trusted: {
    required: true,
    instead: null,
    missing: "the operator trusts no issuing authority yet",
    explanation:
      "A real document is accepted if a trusted state has signed it. The operator of this service decides which states are trusted (`assay trust import`).",
    docs: "trust#import-lists",
  },
  results_received: {
    required: true,
    instead: "poll_only",
    missing:
      'add a live webhook endpoint with an encryption key (POST /v1/webhooks/endpoints with X-Service-Environment: live), or send results: "poll_only"',
    explanation:
      'The service sends shared data, encrypted, to a webhook endpoint and does not keep it. An owner or admin creates one in live: enabled, with an active key, and subscribed to verification.session.succeeded (POST /v1/webhooks/endpoints with X-Service-Environment: live). If you only read outcomes, send results: "poll_only" when you go live.',
    docs: "go-live#what-it-needs",
  },
  reading_app_configured: {
    required: false,
    instead: null,
    missing: "the operator has not configured a document reader",
    explanation:
      "An app on the person's phone reads the chip of a real document, or staff read it at a desk. The operator configures apps with READER_APP_ANDROID and READER_APP_IOS, desks with DESK_READERS. Until one of them is set, live sessions are refused with NO_READER_AVAILABLE.",
    docs: "reading-devices#your-app-on-the-page",
  },
};

export function readinessOf(facts: GoLiveFacts) {
  return goLivePoints.map((point) => ({ point, done: facts[point], ...points[point] }));
}

/**
 * What prevents going live, as texts for a hint; empty if nothing does. `chosen` replaces the point that it
 * is an alternative to.
 */
export function whatIsMissing(facts: GoLiveFacts, chosen: ResultsWithoutEndpoint | null = null): string[] {
  return readinessOf(facts)
    .filter(({ done, required, instead }) => required && !done && (instead === null || instead !== chosen))
    .map(({ missing }) => missing);
}
