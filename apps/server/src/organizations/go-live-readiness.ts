import { type GoLivePoint, goLivePoints } from "@assay/contract/go-live";

/** What is known of an organization and of whoever runs the service. */
export type GoLiveFacts = Readonly<Record<GoLivePoint, boolean>>;

type Point = {
  /** Without it live stays closed. What is not required is worth a warning. */
  required: boolean;
  /** For the hint of a refusal. */
  missing: string;
  explanation: string;
  /** Page and section of the docs. */
  docs: string;
};

const points: Readonly<Record<GoLivePoint, Point>> = {
  terms_accepted: {
    required: true,
    missing: "accept the current relying-party terms (POST /v1/auth/orgs/rp-terms)",
    explanation:
      "The terms say what you may do with what people share. An owner accepts the current version (POST /v1/auth/orgs/rp-terms).",
    docs: "organization#going-live",
  },
  business_details_complete: {
    required: true,
    missing: "complete the business details (POST /v1/auth/orgs/business-details)",
    explanation:
      "Who is responsible for the data: name and jurisdiction, and for a business its registration number (POST /v1/auth/orgs/business-details).",
    docs: "organization#going-live",
  },
  domain_verified: {
    required: true,
    missing: "verify a domain (POST /v1/auth/orgs/domains/challenges/dns)",
    explanation:
      "Live sessions lead people back to domains that you have proven to control, and to no other. Prove one with a DNS record (POST /v1/auth/orgs/domains/challenges/dns).",
    docs: "organization#domains",
  },
  state_trusted: {
    required: true,
    missing: "the operator trusts no issuing authority yet",
    explanation:
      "A real document is accepted when a state that is trusted here has signed it. Only the operator of this service says who is trusted (`assay trust import`).",
    docs: "operating#whom-the-service-trusts",
  },
  reading_app_configured: {
    required: false,
    missing: "the operator has configured no reading app",
    explanation:
      "The chip of a real document is read by an app on the person's phone, which the operator names with READER_APP_ANDROID and READER_APP_IOS, so that the person's page can lead there. Without it people need another reading device, for example at a desk.",
    docs: "reading-devices#your-app-on-the-page",
  },
};

export function readinessOf(facts: GoLiveFacts) {
  return goLivePoints.map((point) => ({ point, done: facts[point], ...points[point] }));
}

/** What keeps live closed, in words for a hint; empty where nothing does. */
export function whatIsMissing(facts: GoLiveFacts): string[] {
  return readinessOf(facts)
    .filter(({ done, required }) => required && !done)
    .map(({ missing }) => missing);
}
