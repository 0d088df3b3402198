type Section = { title: string; names: readonly string[]; isForPartners?: true };

/** The ways into the docs, by what somebody came for. Each leads to the section of its name. */
export const doors: readonly { title: string; about: string }[] = [
  { title: "Integrate", about: "Create sessions, receive webhooks, accept wallets, test and go live." },
  { title: "Operate", about: "Install, configure, back up, upgrade, scale and monitor an installation." },
  { title: "Build a reading device", about: "Put a chip reader behind the verify page, or write your own." },
];

/** The guides in the order in which somebody needs them. A test checks that every file of `docs/` is here, once. */
export const sections: readonly Section[] = [
  {
    title: "Integrate",
    isForPartners: true,
    names: [
      "first-verification",
      "sessions",
      "outcomes",
      "return-code",
      "lists-and-figures",
      "webhooks",
      "webhook-samples",
      "webhook-deliveries",
      "listen",
      "accept-wallets",
      "embedding",
      "test-in-ci",
      "domains",
      "go-live",
      "troubleshoot",
      "versioning",
      "changelog-partners",
      "errors",
      "generated-clients",
      "agents",
    ],
  },
  {
    title: "Receive webhooks in",
    names: [
      "webhooks-express",
      "webhooks-fastify",
      "webhooks-nextjs",
      "webhooks-hono",
      "webhooks-fastapi",
      "webhooks-django",
      "webhooks-go",
      "webhooks-spring-boot",
      "webhooks-laravel",
    ],
  },
  {
    title: "Run an organization",
    isForPartners: true,
    names: ["organization", "accounts", "dashboard", "delete-organization"],
  },
  {
    title: "Operate",
    names: [
      "operating",
      "run-as-a-service",
      "kubernetes",
      "configuration",
      "database",
      "backups",
      "upgrading",
      "scale",
      "sizing",
      "bounds",
      "partitioning",
      "monitor",
      "metrics",
      "logs-and-traces",
      "keys",
      "trust",
      "trust-policy",
      "wallets-operating",
      "privacy",
      "encryption-and-regions",
    ],
  },
  {
    title: "Build a reading device",
    isForPartners: true,
    names: [
      "reading-devices",
      "android-app",
      "iphone-app",
      "shell",
      "verify-flow",
      "consent",
      "wallet-flow",
      "device-socket",
      "verify-protocol",
      "read-printed-lines",
    ],
  },
  {
    title: "Understand",
    names: [
      "evidence",
      "face",
      "face-error-rates",
      "face-models",
      "threat-model",
      "accessibility",
      "architecture",
      "glossary",
      "decisions",
      "releasing",
    ],
  },
];

/** Those that somebody needs who puts the service into a product or builds a device for it. */
export const partnerGuides: readonly string[] = sections
  .filter(({ isForPartners }) => isForPartners)
  .flatMap(({ names }) => names);

/** Where a page is now that had another address. */
export const movedPages: ReadonlyMap<string, string> = new Map([["partner-guide", "go-live"]]);
